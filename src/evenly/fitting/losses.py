"""Where choosing loses: each wrong choice, what it cost, and the prediction that misled, grouped by such causes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from evenly.choosing.candidates import kind_of
from evenly.choosing.cost import Cost
from evenly.choosing.model import predicted

from .cases import Case, made_of
from .vector import Numbers

# Schedules of up to so many times the chosen one's time tell how far off predictions are.
NEAR = 1.5
NO_COSTS = "the model has no costs of"
CAUSE_HEADS = "why", "wrong", "of the best", "worst", "share of the loss"
CHOICE_HEADS = (
    *("the worst choices", "nonzeros", "of the best", "rank"),
    *("chosen", "us", "predicted", "best", "us", "predicted"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen for a case. costs: predicted, of what was measured. best: the fastest that was measured."""

    case: Case
    costs: dict[str, Cost]
    chosen: str
    best: str

    @property
    def of_best(self) -> float:
        """The time of the best schedule over that of the chosen one."""
        return self.case.us[self.best] / self.case.us[self.chosen]

    @property
    def rank(self) -> int:
        """How many schedules are at most as slow as the chosen one."""
        return sum(us <= self.case.us[self.chosen] for us in self.case.us.values())

    @property
    def cause(self) -> str:
        """Say which of the two predictions is further off than those of other fast schedules, and its largest term."""
        us, costs = self.case.us, self.costs
        if self.best not in costs:
            return f"{NO_COSTS} {kind(self.best)}"
        off = {name: math.log(us[name] / cost.total) for name, cost in costs.items()}
        usual = np.median([off[name] for name in costs if us[name] <= NEAR * us[self.chosen]])
        if off[self.chosen] - usual > usual - off[self.best]:
            return f"{kind(self.chosen)} longer than predicted: {largest(costs[self.chosen])}"
        return f"{kind(self.best)} shorter than predicted: {largest(costs[self.best])}"


def choices(cases: Iterable[Case], numbers: Numbers) -> list[Choice]:
    """Return what is chosen by these numbers, among what was measured."""
    found = []
    for case in cases:
        every = {str(schedule): cost for schedule, cost in predicted(case.work, numbers).items()}
        costs = {name: cost for name, cost in every.items() if name in case.us}
        if costs:
            chosen = min(costs, key=lambda name: costs[name].total)
            found.append(Choice(case, costs, chosen, min(case.us, key=lambda name: case.us[name])))
    return found


def kind(schedule: str) -> str:
    """Return the kind of a schedule, given as text: "nonzero, runs"."""
    made = made_of(schedule)
    listed = ", by a list" if getattr(made, "hypersparse", False) else ""
    return f"{kind_of(made)}{listed}"


def largest(cost: Cost) -> str:
    """Return the name of a prediction's largest term."""
    terms = {name: us for name, us in cost._asdict().items() if name != "total"}
    return max(terms, key=lambda name: terms[name])


# ---- tables ----------------------------------------------------------------------------------------
def causes(found: list[Choice]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each cause, the one that loses most first, and of all choices."""
    by_cause: dict[str, list[Choice]] = {}
    for one in found:
        if one.of_best < 1:
            by_cause.setdefault(one.cause, []).append(one)
    every = lost(found) or 1.0
    for name in sorted(by_cause, key=lambda cause: -lost(by_cause[cause])):
        here = by_cause[name]
        yield (*_cells(name, here), f"{lost(here) / every:.0%}")
    yield (*_cells(f"all {len(found)} choices", found), "")


def _cells(name: str, here: list[Choice]) -> tuple[str, ...]:
    mean, least = math.exp(-lost(here) / len(here)), min(one.of_best for one in here)
    return name, str(sum(one.of_best < 1 for one in here)), f"{mean:.3f}", f"{least:.2f}"


def lost(found: Iterable[Choice]) -> float:
    """Return the sum of the logarithms of what choices lose."""
    return -sum(math.log(one.of_best) for one in found)


def worst(found: list[Choice], count: int) -> Iterator[tuple[str, ...]]:
    """Yield the cells of so many choices that lose most, the worst first."""
    for one in sorted(found, key=lambda one: one.of_best)[:count]:
        case = one.case
        about = f"{case.matrix} {case.task}", f"{case.size[1]:,}", f"{one.of_best:.2f}"
        yield (
            *about,
            f"{one.rank} of {len(case.us)}",
            *_shown(one, one.chosen),
            *_shown(one, one.best),
        )


def _shown(one: Choice, name: str) -> tuple[str, str, str]:
    cost = one.costs.get(name)
    return name, f"{one.case.us[name]:.2f}", "-" if cost is None else f"{cost.total:.2f}"
