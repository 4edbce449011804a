"""The litmus tests: what may be seen under the memory model of PTX, and what never is.

Each has threads, the outcome in question (what each thread reads), and whether it may happen. Names are those of Alglave,
Maranget, Tautschnig, "Herding Cats", TOPLAS 2014.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from tests.targets.simt.axioms import Instruction, Program
from tests.targets.simt.litmus import explored

import evenly as ev

pytestmark = pytest.mark.simt


def thread(text: str) -> list[Instruction]:
    """Read a thread, as "x = 1; F; y" (store, fence, load). F: of the device, f: of the block, v: volatile, p: plain."""
    return [_instruction(word.strip()) for word in text.split(";")]


def _instruction(word: str) -> Instruction:
    if word in ("F", "f"):
        return Instruction("fence" if word == "F" else "fence_block")
    how = {"v": "volatile_", "p": "plain_"}.get(word[0], "")
    place, sign, value = re.fullmatch(r"[vp]?([xyz]) ?(\+?=|<>)? ?(\d*)", word).groups()  # type: ignore[union-attr]
    kind = {None: "load", "=": "store", "+=": "add", "<>": "exchange"}[sign]
    return Instruction(how + kind, "xyz".index(place), int(value or 0))


class Litmus(NamedTuple):
    threads: str
    seen: str  # what each thread has read, and, if given, memory in the end
    allowed: bool


TESTS: dict[str, Litmus] = {
    "message passing": Litmus("x = 1; y = 1 | y; x", "| 1 0", True),
    "message passing, fence of the writer": Litmus("x = 1; F; y = 1 | y; x", "| 1 0", True),
    "message passing, fence of the reader": Litmus("x = 1; y = 1 | y; F; x", "| 1 0", True),
    "message passing, fences": Litmus("x = 1; F; y = 1 | y; F; x", "| 1 0", False),
    "message passing, volatile": Litmus("vx = 1; vy = 1 | vy; vx", "| 1 0", True),
    "message passing, volatile, fences": Litmus("vx = 1; F; vy = 1 | vy; F; vx", "| 1 0", False),
    "message passing, fences of blocks": Litmus("x = 1; f; y = 1 | y; f; x", "| 1 0", True),
    "message passing, one fence of a block": Litmus("x = 1; F; y = 1 | y; f; x", "| 1 0", True),
    "message passing, by an update": Litmus("x = 1; F; y = 1 | y += 1 | y; F; x", "| 1 | 2 0", False),
    "message passing, by a store": Litmus("x = 1; F; y = 1 | y = 2 | y; F; x", "| | 2 0", True),
    "message passing, by a second store": Litmus("x = 1; F; y = 1; y = 2 | y; F; x", "| 2 0", False),
    "store buffering": Litmus("x = 1; y | y = 1; x", "0 | 0", True),
    "store buffering, one fence": Litmus("x = 1; F; y | y = 1; x", "0 | 0", True),
    "store buffering, fences": Litmus("x = 1; F; y | y = 1; F; x", "0 | 0", False),
    "store buffering, fences of blocks": Litmus("x = 1; f; y | y = 1; f; x", "0 | 0", True),
    "store buffering, updates": Litmus("x <> 1; y | y <> 1; x", "0 0 | 0 0", True),
    "IRIW": Litmus("x = 1 | y = 1 | x; y | y; x", "| | 1 0 | 1 0", True),
    "IRIW, one fence": Litmus("x = 1 | y = 1 | x; F; y | y; x", "| | 1 0 | 1 0", True),
    "IRIW, fences": Litmus("x = 1 | y = 1 | x; F; y | y; F; x", "| | 1 0 | 1 0", False),
    "CoRR": Litmus("x = 1 | x; x", "| 1 0", False),
    "CoRR, volatile": Litmus("vx = 1 | vx; vx", "| 1 0", False),
    "CoRR of two writes": Litmus("x = 1 | x = 2 | x; x | x; x", "| | 1 2 | 2 1", False),
    "CoRR after a fence": Litmus("x = 1 | x; F; y = 1 | y; F; x", "| 1 | 1 0", False),
    "CoWR": Litmus("x = 1; x | x = 2", "0 |", False),
    "CoWW": Litmus("x = 1; x = 2", "| 1", False),
    "CoRW": Litmus("x; x = 1", "1", False),
    "read-write causality": Litmus("x = 1 | x; y = 1 | y; x", "| 1 | 1 0", True),
    "read-write causality, fences": Litmus("x = 1 | x; F; y = 1 | y; F; x", "| 1 | 1 0", False),
    "write-read causality, fences": Litmus("x = 1 | x; F; y | y = 1; F; x", "| 1 0 | 0", False),
    "write-read causality, one fence": Litmus("x = 1 | x; F; y | y = 1; x", "| 1 0 | 0", True),
    "S": Litmus("x = 2; y = 1 | y; x = 1", "| 1 | 2 1", True),
    "S, fences": Litmus("x = 2; F; y = 1 | y; F; x = 1", "| 1 | 2 1", False),
    "R": Litmus("x = 1; y = 1 | y = 2; x", "| 0 | 1 2", True),
    "R, fences": Litmus("x = 1; F; y = 1 | y = 2; F; x", "| 0 | 1 2", False),
    "2+2W": Litmus("x = 1; y = 2 | y = 1; x = 2", "| | 1 1", True),
    "2+2W, fences": Litmus("x = 1; F; y = 2 | y = 1; F; x = 2", "| | 1 1", False),
    "updates are atomic": Litmus("x += 1 | x += 1", "0 | 0", False),
    "an exchange and an update": Litmus("x <> 5 | x += 1", "0 | 0", False),
}  # fmt: skip


def program(text: str) -> Program:
    return [thread(t) for t in text.split("|")]


def fits(outcome: tuple[tuple[int, ...], ...], wanted: str) -> bool:
    rows = [tuple(int(v) for v in part.split()) for part in wanted.split("|")]
    return outcome[: len(rows)] == tuple(rows)


@pytest.mark.parametrize("name", TESTS)
def test_litmus(name: str) -> None:
    test = TESTS[name]
    found = explored(program(test.threads))
    assert any(fits(o, test.seen) for o in found) == test.allowed, found


@pytest.mark.parametrize(
    "name", [n for n in TESTS if "fences of blocks" in n or "fence of a block" in n]
)
def test_fences_of_the_block_are_enough_within_it(name: str) -> None:
    test = TESTS[name]
    found = explored(program(test.threads), blocks=False)
    assert not any(fits(o, test.seen) for o in found), found


@pytest.mark.parametrize("name", [n for n in TESTS if not TESTS[n].allowed] + ["store buffering"])
def test_sequentially_consistent_memory_forbids_all_of_them(name: str) -> None:
    test = TESTS[name]
    found = explored(program(test.threads), memory="sequential")
    assert not any(fits(o, test.seen) for o in found), found


@pytest.mark.parametrize(
    "name", ["px = 1; y = 1 | y; px", "px = 1; F; y = 1 | y; px", "px = 1 | px", "px = 1 | x"]
)
def test_plain_accesses_that_race_are_reported(name: str) -> None:
    with pytest.raises(ev.SimtError, match="data race on array memory"):
        explored(program(name))
