"""What choosing by some numbers loses: on all that was measured, and on what a fit has not seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .cases import Case
from .fit import Fit
from .vector import GIVEN, Numbers, digits, rows

Part = int | str  # of the cases: a fold, a family, or a kernel

UNSEEN_STEPS = 20  # of each fit that lacks a part of the cases
FOLDS = 4  # parts of the matrices
KINDS = "before", "fitted", "matrices", "families", "kernels"
HEADS = (
    "the best over the chosen",
    "cases",
    *("before", "worst", "fitted", "worst", "new matrices", "worst", "new family", "worst"),
    *("new kernel", "worst"),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A case, and the time of its best schedule over that of the chosen one.

    Chosen by the numbers of before, of the fit, of a fit that lacked its matrix and others, of one that lacked its
    family of lengths, and of one that lacked its kernel; nan: there is none.
    """

    case: Case
    before: float
    fitted: float
    matrices: float = math.nan
    families: float = math.nan
    kernels: float = math.nan


def unseen(
    fit: Fit, start: Numbers, cases: list[Case], part_of: Callable[[Case], Part]
) -> Iterator[tuple[Part, Numbers]]:
    """Yield each part of the cases, and the numbers of a fit without it; nothing if there is only one."""
    parts = dict.fromkeys(map(part_of, cases))
    for part in parts if len(parts) > 1 else ():
        others = [case for case in cases if part_of(case) != part]
        yield part, fit.fitted(start, others, UNSEEN_STEPS)


def fold_of(cases: Iterable[Case]) -> Callable[[Case], Part]:
    """Return a function that divides the cases into FOLDS parts by their matrices."""
    numbered = {name: n for n, name in enumerate(dict.fromkeys(case.matrix for case in cases))}
    return lambda case: numbered[case.matrix] % FOLDS


def family_of(case: Case) -> Part:
    return case.lengths


def kernel_of(case: Case) -> Part:
    return f"kernel {case.task.kernel}"


def judged(
    cases: list[Case], before: Numbers, fitted: Numbers, without: Mapping[Part, Numbers]
) -> list[Judged]:
    """Judge the cases. without: what `unseen` has found, by part."""
    fold = fold_of(cases)

    def lost(case: Case, part: Part) -> float:
        return case.lost(without[part]) if part in without else math.nan

    parts_of = fold, family_of, kernel_of
    return [
        Judged(c, c.lost(before), c.lost(fitted), *(lost(c, part_of(c)) for part_of in parts_of))
        for c in cases
    ]


def mean(found: Iterable[Judged], kind: str) -> float:
    """Return the geometric mean of those that are known; 1 if there are none."""
    values = [getattr(one, kind) for one in found]
    known = [value for value in values if not math.isnan(value)]
    return math.exp(float(np.log(known).mean())) if known else 1.0


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
        yield name, str(len(here)), *(cell for kind in KINDS for cell in _cells(here, kind))


def _cells(here: list[Judged], kind: str) -> tuple[str, str]:
    known = [value for one in here if not math.isnan(value := getattr(one, kind))]
    return (f"{mean(here, kind):.3f}", f"{min(known):.2f}") if known else ("-", "-")


def changes(before: Numbers, after: Numbers) -> Iterator[str]:
    """Yield a line for each table of numbers: what was there, and what was found."""
    there = rows(after)
    for (name, at), row in rows(before).items():
        found = there[name, at]
        said = (f"{k} {digits(v)} -> {digits(found[k])}" for k, v in row.items() if k not in GIVEN)
        label = f"{row['schedule']} {_parameters(row['with'])}" if "with" in row else name
        yield f"  {label}: {', '.join(said)}"


def _parameters(given: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in given.items())
