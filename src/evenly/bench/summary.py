"""Summarise a run: geometric means of ratios of times, by class of size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evenly.timing.rounds import FLUSHED, WARM

from . import hardwired
from .contender import AUTO, COO, CSR, HAND, LIBRARY, ONE_CALL, OURS
from .record import LARGEST, SIZES, Row

ALL = "all"
CLASSES = (*(name for _, name in SIZES), LARGEST)
ORIGINS = ("synthetic", "family", "file")
Chooses = Callable[[Row], bool]


@dataclass(frozen=True, slots=True)
class Sides:
    """A comparison: how many times as fast the best row of `ours` is as the best of `theirs`, on each matrix.

    needed: rows of which a matrix has one at least; else it does not count.
    """

    name: str
    ours: Chooses
    theirs: Chooses
    needed: Chooses = lambda row: True

    @property
    def chosen(self) -> tuple[Chooses, Chooses, Chooses]:
        return self.ours, self.theirs, self.needed


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two rows of one matrix to compare."""

    ours: Row
    theirs: Row

    @property
    def value(self) -> float:
        """How many times as fast `ours` is."""
        return self.theirs.us / self.ours.us

    @property
    def spread(self) -> float:
        """The larger spread of the two rows."""
        return max(self.ours.spread, self.theirs.spread)


def family(*names: str) -> Chooses:
    return lambda row: row.family in names


def contender(name: str) -> Chooses:
    return lambda row: row.contender == name


# Where there was time for `auto` alone, it is not the best of those tried.
TRIED = Sides(
    "auto against the best schedule tried", family(AUTO), family(AUTO, OURS), needed=family(OURS)
)
COMPARISONS = (
    Sides("auto against the best of cuSPARSE's CSR", family(AUTO), family(CSR)),
    Sides("auto against the best of cuSPARSE's CSR and COO", family(AUTO), family(CSR, COO)),
    TRIED,
    Sides("auto against SciPy", family(AUTO), contender("SciPy")),
    Sides("auto against MKL", family(AUTO), contender("MKL")),
    Sides("a call of ev.spmv against CuPy's", family(ONE_CALL), contender("CuPy")),
    Sides("a call of ev.spmv against PyTorch's", family(ONE_CALL), contender("PyTorch")),
    Sides("a call of ev.spmv against SciPy's", family(ONE_CALL), contender("SciPy")),
)


def overheads(rows: Iterable[Row]) -> list[Sides]:
    """Return a comparison for each kernel by hand: generated over handwritten time, so above 1 is slower."""
    names = dict.fromkeys(row.contender for row in rows if row.family == HAND)
    made = []
    for name in names:
        generated = name.removeprefix(hardwired.PREFIX)
        title = f"time of {generated} over that of the same by hand"
        made.append(Sides(title, contender(name), contender(generated)))
    return made


def ratios(rows: Iterable[Row], comparison: Sides, cache: str = WARM) -> list[Ratio]:
    """Return theirs / ours for every matrix that has both. Rows with wrong results are left out."""
    sides: dict[str, tuple[list[Row], list[Row], list[Row]]] = {}
    for row in rows:
        if row.cache == cache and row.rounds and not row.wrong:
            each = sides.setdefault(row.matrix, ([], [], []))
            for side, chooses in zip(each, comparison.chosen, strict=True):
                if chooses(row):
                    side.append(row)
    return [
        Ratio(*(min(side, key=lambda row: row.us) for side in each[:2]))
        for each in sides.values()
        if all(each)
    ]


def rivals(rows: Iterable[Row]) -> Chooses:
    """Return the other libraries to compare with: their kernels if these were timed, else their calls."""
    kernels = any(row.family in (CSR, COO) for row in rows)
    return family(CSR, COO) if kernels else family(LIBRARY)


def losses(rows: list[Row]) -> list[Ratio]:
    """Return where `auto` is slower than the best of the others by more than the spread, the worst first."""
    found = ratios(rows, Sides("", family(AUTO), rivals(rows)))
    slower = [ratio for ratio in found if ratio.value * (1 + ratio.spread) < 1]
    return sorted(slower, key=lambda ratio: ratio.value)


def geomean(values: Iterable[float]) -> float:
    """Return the geometric mean; NaN if there are no values."""
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan


def lines(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the summary, with a table for each origin and state of the cache."""
    comparisons = [*COMPARISONS, *overheads(rows)]
    for origin in ORIGINS:
        for cache in (WARM, FLUSHED):
            here = [row for row in rows if row.origin == origin]
            found = [(c, ratios(here, c, cache)) for c in comparisons]
            found = [(c, r) for c, r in found if r]
            if found:
                yield ""
                there = f", L2 cache {cache}" if cache == FLUSHED else ""
                yield f"{TITLES[origin]}{there}: times as fast, geometric mean (of so many)"
                yield from table(found)
    yield from shares(rows)
    yield from slower(losses(rows))


def shares(rows: list[Row]) -> Iterator[str]:
    """Yield the share of the floor in the time of `auto`, for matrices too large for any cache."""
    large = [r for r in rows if r.family == AUTO and r.cache == WARM and r.size == LARGEST]
    if large:
        said = ", ".join(f"{row.matrix} {row.share:.0%}" for row in large)
        yield ""
        yield f"Share of the floor, {LARGEST}: {said}"


def slower(found: list[Ratio]) -> Iterator[str]:
    """Yield a line for each loss."""
    if found:
        yield ""
        yield f"auto is slower than the best of the others, beyond the spread, on {len(found)}:"
    for ratio in found:
        mine, best = ratio.ours, ratio.theirs
        yield (
            f"  {ratio.value:5.2f} (spread {ratio.spread:.0%})  {mine.matrix:34} {mine.nnz:>11,} "
            f"nonzeros  {mine.us:.2f} us {mine.detail}  {best.us:.2f} us {best.contender}"
        )


TITLES = {
    "synthetic": "Generated matrices",
    "family": "Matrices drawn by families",
    "file": "Matrices from files",
}


def table(found: list[tuple[Sides, list[Ratio]]]) -> Iterator[str]:
    """Yield a line for each comparison: the geometric mean of all, of each class of size, and the worst."""
    wide = max(len(comparison.name) for comparison, _ in found)
    heads = "".join(f"{name:>15}" for name in (ALL, *CLASSES))
    yield f"  {'':{wide}}{heads}   worst"
    for comparison, ratios in found:
        cells = [_cell(ratios)]
        cells += [_cell([r for r in ratios if r.ours.size == name]) for name in CLASSES]
        slower = comparison.name.startswith("time of")
        worst = (max if slower else min)(ratios, key=lambda ratio: ratio.value)
        said = f"{worst.value:.2f} {worst.ours.matrix} (spread {worst.spread:.0%})"
        yield f"  {comparison.name:{wide}}" + "".join(f"{c:>15}" for c in cells) + f"   {said}"


def _cell(ratios: list[Ratio]) -> str:
    return f"{geomean(r.value for r in ratios):.2f} ({len(ratios)})" if ratios else "-"
