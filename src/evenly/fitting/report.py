"""What choosing by some numbers loses: on all that was measured, and on families that a fit has not seen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .cases import Case
from .fit import Fit
from .vector import GIVEN, Numbers, digits, rows

UNSEEN_STEPS = 4  # of each fit that lacks a family
HEADS = "the best over the chosen", "cases", "before", "worst", "fitted", "worst", "unseen", "worst"


@dataclass(frozen=True, slots=True)
class Judged:
    """A case, and the time of its best schedule over that of the one chosen by the numbers of before, of the fit, and
    of a fit that lacked its family of lengths; nan: there is no such fit."""

    case: Case
    before: float
    fitted: float
    unseen: float = math.nan


def unseen(fit: Fit, start: Numbers, cases: list[Case]) -> Iterator[tuple[str, Numbers]]:
    """Yield each family of lengths, and the numbers of a fit without it."""
    for name in dict.fromkeys(case.lengths for case in cases if case.lengths):
        others = [case for case in cases if case.lengths != name]
        if others:
            yield name, fit.fitted(start, others, UNSEEN_STEPS)


def judged(
    cases: Iterable[Case], before: Numbers, fitted: Numbers, without: Mapping[str, Numbers]
) -> list[Judged]:
    def lost(case: Case) -> float:
        other = without.get(case.lengths)
        return math.nan if other is None else case.lost(other)

    return [Judged(case, case.lost(before), case.lost(fitted), lost(case)) for case in cases]


def table(found: list[Judged]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each kernel, of each family of lengths, and of all."""
    groups: dict[str, list[Judged]] = {}
    for one in found:
        kind = "families" if one.case.lengths else "files"
        for name in (f"{one.case.task}, {kind}", one.case.lengths, "all"):
            groups.setdefault(name, []).append(one)
    order = sorted(groups, key=lambda name: (name == "all", ", " not in name))
    for name in filter(None, order):
        here = groups[name]
        cells = (
            _cells([getattr(j, what) for j in here]) for what in ("before", "fitted", "unseen")
        )
        yield name, str(len(here)), *(cell for two in cells for cell in two)


def _cells(values: list[float]) -> tuple[str, str]:
    """Return the geometric mean and the least."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "-", "-"
    return f"{math.exp(float(np.log(known).mean())):.3f}", f"{min(known):.2f}"


def changes(before: Numbers, after: Numbers) -> Iterator[str]:
    """Yield a line for each table of numbers: what was there, and what was found."""
    there = rows(after)
    for (name, at), row in rows(before).items():
        found = there[name, at]
        said = (f"{k} {digits(v)} -> {digits(found[k])}" for k, v in row.items() if k not in GIVEN)
        label = f"{row['schedule']} {_parameters(row['with'])}" if "with" in row else name
        yield f"{label}: {', '.join(said)}"


def _parameters(given: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in given.items())
