"""Summarise a run over families: `auto` against the best of the others and the best schedule, family by family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from .contender import AUTO, CSR
from .record import FamilyRow, Row
from .summary import TRIED, Ratio, Sides, family, geomean, ratios, rivals

OVER = 100_000  # nonzeros: what is smaller is all launch


class Both(NamedTuple):
    """What is said of some matrices. others: against the best of the other libraries; schedules: against our best."""

    name: str
    others: list[Ratio]
    schedules: list[Ratio]

    def of(self, name: str, chooses: Callable[[FamilyRow], bool]) -> Both:
        """Return what is said of those of them whose row of `auto` is chosen."""
        parts = ([r for r in side if chooses(drawn(r))] for side in self[1:])
        return Both(name, *parts)


def drawn(ratio: Ratio) -> FamilyRow:
    """Return the row of `auto`, which tells the families."""
    assert isinstance(ratio.ours, FamilyRow)
    return ratio.ours


def lines(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the summary by families; none if nothing was drawn by families."""
    rows = [row for row in rows if isinstance(row, FamilyRow)]
    others = Sides("", family(AUTO), rivals(rows))
    found = Both("all", ratios(rows, others), ratios(rows, TRIED))
    every = [*found.others, *found.schedules]
    if not every:
        return
    kernels = any(row.family == CSR for row in rows)
    yield ""
    whose = "cuSPARSE's CSR and COO" if kernels else "the libraries"
    against = f"the best of {whose} (others), and of all schedules tried"
    yield f"auto against {against}: times as fast, geometric mean (of so many)"
    yield from table([found, *parts(found)])
    for title, of in (("row lengths", by_lengths), ("columns", by_columns)):
        names = dict.fromkeys(of(drawn(ratio)) for ratio in every)
        yield ""
        yield f"By {title}, the worst case first"
        yield from table(sorted((found.of(name, is_of(of, name)) for name in names), key=least))


def by_lengths(row: FamilyRow) -> str:
    return row.lengths


def by_columns(row: FamilyRow) -> str:
    return row.columns


def is_of(of: Callable[[FamilyRow], str], name: str) -> Callable[[FamilyRow], bool]:
    return lambda row: of(row) == name


def parts(found: Both) -> Iterator[Both]:
    """Yield what is said of large matrices, which are bound by memory: streams and others apart."""
    yield found.of("over 100 k nonzeros", lambda row: row.nnz > OVER)
    yield found.of("over 100 k, streams", lambda row: row.nnz > OVER and bool(row.stream))
    yield found.of("over 100 k, others", lambda row: row.nnz > OVER and not row.stream)


def least(both: Both) -> float:
    """Return the least ratio against the others; if there are none, against the best schedule."""
    return min(r.value for r in both.others or both.schedules)


def table(found: list[Both]) -> Iterator[str]:
    """Yield a line for each: mean, number and least of both comparisons, and the worst case of the first."""
    yield f"  {'':20}{'others':>12}{'least':>7}{'schedules':>14}{'least':>7}   worst"
    for both in found:
        yield f"  {both.name:20}{cell(both.others, 12)}{cell(both.schedules, 14)}   {worst(both)}"


def cell(side: list[Ratio], wide: int) -> str:
    if not side:
        return f"{'-':>{wide}}{'':7}"
    mean = f"{geomean(r.value for r in side):.2f} ({len(side)})"
    return f"{mean:>{wide}}{min(r.value for r in side):7.2f}"


def worst(both: Both) -> str:
    """Describe the worst case: the matrix, what `auto` took, and what was faster, if anything was."""
    if not both.others and not both.schedules:
        return ""
    bad = min(both.others or both.schedules, key=lambda ratio: ratio.value)
    return f"{bad.ours.matrix}: {bad.ours.detail} {bad.ours.us:.1f} us, {bad.theirs.contender} {bad.theirs.us:.1f} us"
