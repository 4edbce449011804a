"""What the host knows of a kernel's arguments: kernels with a dense axis are compiled for words alone where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.batteries import equal_rows
from tests.dense import CASES, unaligned
from tests.emitting import emitted

import evenly as ev
from evenly.arguments import Binding
from evenly.targets.gpu.emit.code import KernelCode

GROUP = ev.GroupMapped(8, items=4, lanes=8, vector=4)
WORDS, ONE_ROUND, FILLED = 1, 2, 4


def made(
    case: str, width: int, schedule: Any = GROUP, change: Any = None
) -> tuple[KernelCode, KernelCode]:
    """The main kernel of a case, and what it is for arguments of this width. change: of a dense array."""
    matrix = equal_rows(5, 7, 20)
    args = [*CASES[case].arguments(ev.csr(matrix), matrix, width, np.float32)]
    args[1] = args[1] if change is None else change(args[1])
    (code, *_), named = (
        emitted(CASES[case].kernel, tuple(args), schedule),
        CASES[case].kernel.named(args),
    )
    return code, code.for_arguments(Binding(named))


@pytest.mark.parametrize(
    ("case", "width", "known"),
    [
        ("spmm", 32, WORDS | FILLED), ("spmm", 4, WORDS | FILLED), ("spmm", 33, FILLED), ("spmm", 34, FILLED),
        ("spmm", 256, WORDS | FILLED),
        ("spmm", 31, FILLED), ("spmm", 7, FILLED), ("spmm", 63, FILLED), ("spmm", 3, 0),
        ("sddmm", 32, WORDS | ONE_ROUND | FILLED), ("sddmm", 36, WORDS), ("sddmm", 30, FILLED), ("sddmm", 33, 0),
        ("keyed", 8, WORDS | ONE_ROUND), ("keyed", 9, 0), ("keyed", 33, 0),
    ],
)  # fmt: skip
def test_rows_and_axes_of_whole_words(case: str, width: int, known: int) -> None:
    code, found = made(case, width)
    at = {(fact.width > 1, fact.most > 0): i for i, fact in enumerate(code.facts)}
    filled = at.get((False, False), at.get((False, True), 0))
    bits = {WORDS: at[True, False], ONE_ROUND: at.get((True, True), 0), FILLED: filled}
    assert found.known == sum(1 << place for bit, place in bits.items() if known & bit)


@pytest.mark.parametrize(("width", "known"), [(33, 1), (40, 1), (41, 0)])
def test_axes_of_single_columns_in_one_round(width: int, known: int) -> None:
    assert made("sddmm", width, ev.GroupMapped(8, items=4, lanes=8, vector=5))[1].known == known


@pytest.mark.parametrize("case", ["spmm", "sddmm", "keyed"])
def test_rows_that_are_not_aligned_are_none(case: str) -> None:
    assert made(case, 8)[1].known
    code, found = made(case, 8, change=unaligned)
    assert not any(found.known >> i & 1 for i, fact in enumerate(code.facts) if fact.width > 1)


def test_rows_whose_bytes_take_64_bits_are_none() -> None:
    fact, *_ = made("spmm", 32)[0].facts
    assert not fact.holds(Long(1 << 29)) and fact.holds(Long((1 << 29) - 4))


class Long(Binding):
    """Aligned arrays with rows of so many columns, of which there are none."""

    def __init__(self, columns: int) -> None:
        super().__init__({"X": np.empty((0, columns), np.float32)})

    def view(self, path: Any) -> Any:
        return super().view(("X",))


def test_the_text_is_the_same_but_for_a_line_before_it() -> None:
    code, found = made("spmm", 32)
    assert found.source == f"#define EV_KNOWN {WORDS | 2}\n{code.source}"
    assert len(found.origins) == len(found.source.splitlines())
    assert found.known == WORDS | 2 and made("spmm", 33)[1] is not found
    plain, same = made("spmm", 32, ev.ThreadMapped(vector=1, items=3))
    assert same is plain and "EV_KNOWN" not in plain.source


@pytest.mark.parametrize("name", ["attention", "gradients"])
def test_teams_of_several_sizes_have_registers_for_more_threads(name: str) -> None:
    """Under Lrb, code for words alone is bound."""
    compiling = pytest.importorskip("evenly.targets.cuda.compile")
    pytest.importorskip("cuda.core")
    case = {"attention": "keyed", "gradients": "stored_inside"}[name]
    code, found = made(case, 8, ev.Lrb(lanes=8, thread=1, vector=4))
    before, after = (compiling.resources(c.source, c.name, "sm_90") for c in (code, found))
    assert after["registers"] <= 80 < before["registers"]
    assert 2 * after["code"] < before["code"]
