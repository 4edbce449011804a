"""Fit the numbers of the model of costs to measured times.

What counts is what a choice loses, which jumps where the chosen schedule changes. So the choice is made soft: each
candidate is taken with a probability that falls with its predicted time, and the loss is the expected one. Predictions
for the best schedules have to be right, too, which also gives a direction where no choice is close.

A prediction costs far more than the loss. So a step predicts once, with all derivatives, minimises the loss of the
logarithms of predictions as if they were linear, in a small box, and shrinks the box where that was not true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from scipy.optimize import minimize

from .cases import Case
from .vector import (
    HELD,
    HIGHEST,
    LOWEST,
    RATES,
    Logs,
    Numbers,
    logs,
    owner,
    owners,
    places,
    with_logs,
)
from .workers import Mapped

SOFT = (0.05, 0.03)  # of the logarithms of two times: so much counts as a close choice, in turn
ERRORS = 0.6  # weight of the squared errors of predictions beside what choices lose
NEAR = 2.5  # how fast that weight falls with the logarithm of the time beside the best
WORST = 0.5  # weight of the square of a loss: one large loss is worse than many small ones
FILES = 5.0  # weight of a matrix that was not drawn by families
PULL = 0.1  # towards the start, of the squares of logarithms: what a short measurement does not show stays
FREE = 1.5  # how far the logarithm of a number may move, unless it is the hardware's (vector.HELD)
BOX, SMALLEST = 0.4, 0.02  # that a step may move them at first, and at least
STEP = 1e-3  # of a logarithm, for derivatives
SHARES = 64  # of the cases, for processes


# ---- predictions -----------------------------------------------------------------------------------
@dataclass
class Near:
    """The logarithms of one case's predictions, near some numbers.

    at: (candidates,). slopes: (candidates, colours), each by the number `index` of the vector; an index that is the
    vector's length stands for none. right: the logarithms of what was measured, and lost: of that beside the best.
    """

    at: Logs
    slopes: Logs
    index: np.ndarray
    lost: Logs
    right: Logs


def near(cases: list[Case], numbers: Numbers) -> list[Near]:
    """Predict cases near these numbers. One prediction, with all numbers of a colour moved, gives a slope of each."""
    vector, where = logs(numbers), places(numbers)
    colours = list(dict.fromkeys(place.colour for place in where))
    moved = [
        with_logs(numbers, vector + STEP * np.array([place.colour == colour for place in where]))
        for colour in colours
    ]
    own, numbered = owners(numbers), {place: n for n, place in enumerate(where)}
    of_rates = {place.colour: n for place, n in numbered.items() if place.row == RATES}
    of_rows = {(place.row, place.colour): n for place, n in numbered.items()}

    def one(case: Case) -> Near:
        here = case.predictions(numbers)
        at = _logs(here)
        slopes = np.stack([(_logs(case.predictions(there)) - at) / STEP for there in moved], 1)
        index = [
            [of_rates.get(c, of_rows.get((owner(s, own), c), len(where))) for c in colours]
            for s in here
        ]
        us = np.log([case.us[s] for s in here])
        return Near(at, slopes, np.array(index), us - np.log(case.best), us)

    return [one(case) for case in cases]


def _logs(found: dict[str, float]) -> Logs:
    return np.log(list(found.values()))


def _near(job: tuple[list[Case], Numbers]) -> list[Near]:
    return near(*job)


# ---- the loss --------------------------------------------------------------------------------------
class Linear:
    """The loss of many cases, with linear predictions. All have as many columns; what a case lacks has no weight."""

    def __init__(self, found: list[Near], weights: Logs, size: int) -> None:
        most = max(len(one.at) for one in found)

        def padded(arrays: Iterable[Any], fill: float) -> np.ndarray:
            rest = [(a, [(0, most - len(a))] + [(0, 0)] * (a.ndim - 1)) for a in arrays]
            return np.stack([np.pad(a, pad, constant_values=fill) for a, pad in rest])

        self.there = padded((np.ones(len(one.at), bool) for one in found), False)
        self.at = padded((one.at for one in found), 0.0)
        self.slopes = padded((one.slopes for one in found), 0.0)
        self.index = padded((one.index for one in found), size)
        self.lost = padded((one.lost for one in found), 0.0)
        self.right = padded((one.right for one in found), 0.0)
        self.weights, self.size = weights / len(found), size
        counts = self.there * np.exp(-NEAR * self.lost)
        self.counts = ERRORS * counts / counts.sum()

    def loss(self, moved: Logs, soft: float) -> tuple[float, Logs]:
        """Return the loss and its gradient, if the vector moves by this."""
        logs = self.at + (self.slopes * np.append(moved, 0.0)[self.index]).sum(-1)
        scores = np.where(self.there, -logs / soft, -np.inf)
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        mean = (chances * self.lost).sum(1)
        errors = logs - self.right
        value = self.weights @ (mean + WORST * mean**2) + (self.counts * errors**2).sum()
        by_mean = self.weights * (1 + 2 * WORST * mean)
        by_log = -by_mean[:, None] * chances * (self.lost - mean[:, None]) / soft
        by_log += 2 * self.counts * errors
        terms = (by_log[..., None] * self.slopes).ravel()
        gradient = np.bincount(self.index.ravel(), terms, self.size + 1).astype(np.float64)
        return float(value), gradient[:-1]


@dataclass(frozen=True)
class Local:
    """What a step minimises: the loss with predictions that are linear near `here`, and a pull towards `first`."""

    model: Linear
    here: Logs
    first: Logs
    soft: float

    def __call__(self, x: Logs) -> tuple[float, Logs]:
        value, gradient = self.model.loss(x - self.here, self.soft)
        pull = PULL / len(x) * (x - self.first)
        return value + float(pull @ (x - self.first)), gradient + 2 * pull

    @property
    def value(self) -> float:
        return self(self.here)[0]

    def least(self, bounds: tuple[Logs, Logs]) -> Logs:
        ends = np.stack(bounds, axis=1)
        found: Logs = minimize(self, self.here, jac=True, method="L-BFGS-B", bounds=ends).x
        return found


# ---- the fit ---------------------------------------------------------------------------------------
class Fit:
    """Fits numbers to cases. mapped: predicts them, as `map`. told: is given a line a step."""

    def __init__(self, mapped: Mapped, told: Callable[[str], None]) -> None:
        self.mapped, self.told = mapped, told

    def fitted(self, start: Numbers, cases: list[Case], steps: int) -> Numbers:
        """Return the numbers after so many steps in all, from those at the start on."""
        first = logs(start)
        here = Local(self._linear(start, cases), first, first, SOFT[0])
        for at, soft in enumerate(SOFT):
            share = steps * (at + 1) // len(SOFT) - steps * at // len(SOFT)
            here = self._softly(replace(here, soft=soft), start, cases, share)
        return with_logs(start, here.here)

    def _softly(self, here: Local, start: Numbers, cases: list[Case], steps: int) -> Local:
        box, (lower, upper) = BOX, limits(start)
        for step in range(steps):
            x = here.least((np.maximum(lower, here.here - box), np.minimum(upper, here.here + box)))
            ahead = replace(here, model=self._linear(with_logs(start, x), cases), here=x)
            told = f"{here.value:.5f} -> {ahead.value:.5f} in a box of {box:.2f}"
            self.told(f"step {step + 1}, soft {here.soft}: {told}")
            if ahead.value < here.value:
                here = ahead
            else:
                box /= 2
            if box < SMALLEST:
                break
        return here

    def _linear(self, numbers: Numbers, cases: list[Case]) -> Linear:
        shares = [cases[at::SHARES] for at in range(min(SHARES, len(cases)))]
        found = self.mapped(_near, [(share, numbers) for share in shares])
        weights = np.array([1.0 if case.lengths else FILES for share in shares for case in share])
        return Linear(list(chain(*found)), weights, len(places(numbers)))


def limits(start: Numbers) -> tuple[Logs, Logs]:
    """Return the least and the greatest logarithms that a fit from there may find."""
    where, first = places(start), logs(start)
    far = np.array([HELD.get(p.key, FREE) if p.row == RATES else FREE for p in where])
    lowest = np.array([LOWEST.get(p.key, 0.0) for p in where])
    highest = np.array([HIGHEST.get(p.key, np.inf) for p in where])
    with np.errstate(divide="ignore"):
        return np.maximum(first - far, np.log(lowest)), np.minimum(first + far, np.log(highest))
