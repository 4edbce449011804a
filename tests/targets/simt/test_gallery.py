"""Lock-free code: the right twins are silent and explored completely; each planted bug is found."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import evenly as ev
from evenly.targets.simt import histories

pytestmark = pytest.mark.simt

SOURCE = (Path(__file__).parent / "fixtures" / "gallery.cu").read_text()
FIRST, *PARTS = re.split(
    r"^(?=// ---- )", SOURCE, flags=re.MULTILINE
)  # what all need; one for each structure
BUGS = sorted(set(re.findall(r"BUG\((\w+),", SOURCE)) - {"name"})


@functools.lru_cache(maxsize=4)
def program(bug: str = "") -> ev.SimtProgram:
    """The gallery; or the part of it that a bug is in, with that bug."""
    source = "".join([FIRST, *(part for part in PARTS if not bug or f"BUG({bug}," in part)])
    chosen = [f"#define BUG_{b}(right, wrong) {'wrong' if b == bug else 'right'}" for b in BUGS]
    first = ["#define BUG(name, right, wrong) BUG_##name(right, wrong)", "#define BUG_(right, wrong) right"]  # fmt: skip
    return ev.SimtProgram("\n".join([*first, *chosen, source]))


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def zeros(n: int, dtype: Any = np.int32) -> np.ndarray:
    return np.zeros(n, dtype)


def ones(n: int) -> np.ndarray:
    return np.ones(n, np.int32)


class Case(NamedTuple):
    """A kernel in its small case: the blocks, the arguments, the model of its histories, the threads of a block."""

    kernel: str
    blocks: int
    arguments: Callable[[], tuple[Any, ...]]
    model: Any = None
    threads: int = 1


DEQUE = histories.deque(may_fail=True)  # a thief that is overtaken gives up
CASES: dict[str, Case] = {
    "lock": Case("spin_lock", 2, lambda: (zeros(1), zeros(1), 2)),
    "sum": Case("block_sum", 1, lambda: (ones(8), zeros(1)), None, 8),
    "scan_block": Case("block_scan", 1, lambda: (ones(8), zeros(8)), None, 8),
    "scan_warp": Case("warp_scan", 1, lambda: (ones(8), zeros(8)), None, 8),
    "last_block": Case("last_block", 3, lambda: (zeros(3), zeros(1, np.uint32), zeros(1))),
    "barrier": Case("grid_barrier", 3, lambda: (zeros(3), zeros(1), zeros(3))),
    "look_back": Case("look_back", 3, lambda: (zeros(3), zeros(3), zeros(3))),
    "stack": Case("treiber", 2, lambda: (ints(0), ints(-1, -9), zeros(2)), histories.stack(first=(0,))),
    "stack_aba": Case("treiber_aba", 2, lambda: (ints(0), ints(1, 2, -1)), histories.stack(first=(2, 1, 0))),
    "ring": Case("ring", 2, lambda: (ints(0), ints(0), ints(0, 1), zeros(2), 2, 2), histories.queue(capacity=2, may_fail=True)),
    "ring_goes_round": Case("ring", 2, lambda: (ints(0), ints(0), ints(0, 1), zeros(2), 2, 4), histories.queue(capacity=2, may_fail=True)),
    "deque": Case("chase_lev", 2, lambda: (ints(0), ints(0), zeros(8), 2), DEQUE),
    "abp": Case("abp", 2, lambda: (zeros(1), zeros(1), zeros(8), 3, 2), DEQUE),
    "links": Case("links", 2, lambda: (zeros(1), zeros(1), np.full(3, -1, np.int32), zeros(3)), histories.queue()),
    "tasks": Case("tasks", 2, lambda: (zeros(1), ints(1), ints(3, 0, 0, 0), ints(1), ints(1, 0, 0, 0), zeros(1))),
    "sleeper": Case("sleep_and_wake", 2, lambda: (zeros(1), zeros(1))),
}  # fmt: skip
KINDS = {
    "lock_never_opened": "deadlock",
    "barrier_left_early": "race",
    "sum_begun_early": "race|uninitialised",
    "scan_from_outside": "bounds",
    "scan_of_warp_adds_itself": "assertion",
    "stack_aba": "linearisability",
    "ring_taken_twice": "race|linearisability|deadlock",
    "deque_put_unfenced": "linearisability",
    "deque_take_unfenced": "linearisability",
    "deque_steal_unfenced": "linearisability",
    "deque_last_one_taken": "linearisability",
    "abp_put_relaxed": "linearisability",
    "abp_take_unfenced": "linearisability",
    "abp_steal_unfenced": "linearisability",
    "abp_reset_relaxed": "linearisability",
    "abp_untagged": "linearisability",
    "links_taken_twice": "linearisability",
    "tasks_closed_early": "assertion",
    "tasks_never_closed": "deadlock",
    "sleeper_unfenced": "deadlock",
    "waker_unfenced": "deadlock",
}


def cases_of(bug: str) -> list[Case]:
    of = {"stack_aba": ["stack_aba"], "waker_unfenced": ["sleeper"]}
    names = of.get(bug) or [n for n in CASES if n.split("_")[0] == bug.split("_")[0] and n != "stack_aba"]  # fmt: skip
    if bug.startswith(("last_block", "look_back")):
        names = ["_".join(bug.split("_")[:2])]
    return [CASES[n] for n in names]


@pytest.mark.parametrize("name", CASES)
def test_right_code_is_explored_completely(name: str) -> None:
    case = CASES[name]
    for memory in ("relaxed", "sequential"):
        explored = program().explore(case.kernel, case.blocks, case.threads, *case.arguments(), memory=memory, model=case.model)  # fmt: skip
        assert explored.complete, explored.reason
        assert explored.interleavings > 0


@pytest.mark.parametrize("name", CASES)
def test_right_code_is_silent_under_seeds(name: str) -> None:
    case = CASES[name]
    for seed in range(100):
        program().launch(case.kernel, case.blocks, case.threads, *case.arguments(), seed=seed, model=case.model)  # fmt: skip


def found_in(bug: str, case: Case) -> str:
    """The kind of mistake that is found in a case; empty if there is none."""
    try:
        program(bug).explore(
            case.kernel, case.blocks, case.threads, *case.arguments(), model=case.model
        )
    except ev.SimtError as error:
        return error.kind
    return ""


@pytest.mark.parametrize("bug", BUGS)
def test_each_bug_is_found(bug: str) -> None:
    found = [kind for case in cases_of(bug) if (kind := found_in(bug, case))]
    assert found
    assert all(re.fullmatch(KINDS.get(bug, "race"), kind) for kind in found), found


@pytest.mark.parametrize("bug", ["stack_aba", "ring_taken_twice", "lock_never_opened"])
def test_priorities_find_what_needs_an_order(bug: str) -> None:
    (case, *_) = cases_of(bug)

    def finds(seed: int) -> bool:
        try:
            program(bug).launch(case.kernel, case.blocks, case.threads, *case.arguments(), seed=seed, order="pct", model=case.model)  # fmt: skip
        except ev.SimtError:
            return True
        return False

    assert any(map(finds, range(300)))
    for seed in range(100):
        program().launch(case.kernel, case.blocks, case.threads, *case.arguments(), seed=seed, order="pct", model=case.model)  # fmt: skip


def test_the_fence_of_a_thief_is_for_weak_memory() -> None:
    case = CASES["deque"]
    for bug in ("deque_put_unfenced", "deque_take_unfenced", "deque_steal_unfenced"):
        explored = program(bug).explore(case.kernel, case.blocks, case.threads, *case.arguments(), memory="sequential", model=case.model)  # fmt: skip
        assert explored.complete


def test_two_threads_of_four_operations() -> None:
    queue = histories.queue(capacity=2, may_fail=True)
    arguments = ints(0), ints(0), ints(0, 1), zeros(2), 2, 4
    assert program().explore("ring", 2, 1, *arguments, model=queue).complete
    deque = ints(0), ints(0), zeros(8), 4
    assert program().explore("chase_lev", 2, 1, *deque, model=DEQUE).complete
