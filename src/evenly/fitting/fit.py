"""Fit the numbers of the model of costs to measured times.

What counts is what a choice loses, which jumps where the chosen schedule changes. So the choice is made soft: each
candidate is taken with a probability that falls with its predicted time, and the loss is the expected one. Predictions
for the best schedules have to be right, too, which also gives a direction where no choice is close.

A step predicts once, with all derivatives, minimises the loss of the logarithms of predictions as if they were linear,
in a small box, and shrinks the box where that was not true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from .batch import Batch, Near, near
from .cases import Case
from .tasks import SPMVS
from .vector import HELD, LOWEST, RATES, Logs, Numbers, logs, places, with_logs

SOFT = (0.05, 0.03)  # of the logarithms of two times: so much counts as a close choice, in turn
ERRORS = 0.6  # weight of the squared errors of predictions beside what choices lose
NEAR = 2.5  # how fast that weight falls with the logarithm of the time beside the best
WORST = 0.5  # weight of the square of a loss: one large loss is worse than many small ones
FILES = 5.0  # weight of a matrix that was not drawn by families
OTHERS = 3.0  # weight of a kernel other than an SpMV, of which there are fewer cases
PULL = 0.1  # towards the start, of the squares of logarithms: what a short measurement does not show stays
FREE = 1.5  # how far the logarithm of a number may move, unless it is the hardware's (vector.HELD)
BOX, SMALLEST = 0.4, 0.02  # that a step may move them at first, and at least


# ---- the loss --------------------------------------------------------------------------------------
class Linear:
    """The loss of all cases, with linear predictions. weights: (cases,), of what each loses."""

    def __init__(self, batch: Batch, found: Near, weights: Logs, size: int) -> None:
        self.found, self.there, self.size = found, batch.there, size
        self.right = np.where(batch.there, np.log(np.where(batch.there, batch.us, 1.0)), 0.0)
        self.lost = np.where(batch.there, self.right - np.log(batch.best)[:, None], 0.0)
        self.weights = weights / len(weights)
        counts = self.there * np.exp(-NEAR * self.lost)
        self.counts = ERRORS * counts / counts.sum()

    def loss(self, moved: Logs, soft: float) -> tuple[float, Logs]:
        """Return the loss and its gradient, if the vector moves by this."""
        at, slopes, index = self.found.at, self.found.slopes, self.found.index
        logs = at + np.einsum("nsc,sc->ns", slopes, np.append(moved, 0.0)[index])
        scores = np.where(self.there, -logs / soft, -np.inf)
        chances = np.exp(scores - scores.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        mean = (chances * self.lost).sum(1)
        errors = np.where(self.there, logs - self.right, 0.0)
        value = self.weights @ (mean + WORST * mean**2) + (self.counts * errors**2).sum()
        by_mean = self.weights * (1 + 2 * WORST * mean)
        by_log = -by_mean[:, None] * chances * (self.lost - mean[:, None]) / soft
        by_log += 2 * self.counts * errors
        terms = np.einsum("ns,nsc->sc", by_log, slopes)
        gradient = np.bincount(index.ravel(), terms.ravel(), self.size + 1).astype(np.float64)
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
    """Fits numbers to cases. told: is given a line a step."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self.told = told

    def fitted(self, start: Numbers, cases: list[Case], steps: int) -> Numbers:
        """Return the numbers after so many steps in all, from those at the start on."""
        batch, first = Batch(cases, start), logs(start)
        weights = np.array([weight(case) for case in cases])

        def linear(x: Logs) -> Linear:
            return Linear(batch, near(batch, with_logs(start, x)), weights, len(first))

        here = Local(linear(first), first, first, SOFT[0])
        for at, soft in enumerate(SOFT):
            share = steps * (at + 1) // len(SOFT) - steps * at // len(SOFT)
            here = self._softly(replace(here, soft=soft), linear, limits(start), share)
        return with_logs(start, here.here)

    def _softly(
        self,
        here: Local,
        linear: Callable[[Logs], Linear],
        ends: tuple[Logs, Logs],
        steps: int,
    ) -> Local:
        box, (lower, upper) = BOX, ends
        for step in range(steps):
            x = here.least((np.maximum(lower, here.here - box), np.minimum(upper, here.here + box)))
            ahead = replace(here, model=linear(x), here=x)
            told = f"{here.value:.5f} -> {ahead.value:.5f} in a box of {box:.2f}"
            self.told(f"step {step + 1}, soft {here.soft}: {told}")
            if ahead.value < here.value:
                here = ahead
            else:
                box /= 2
            if box < SMALLEST:
                break
        return here


def weight(case: Case) -> float:
    """Return how much a case counts."""
    other = case.task.kernel != SPMVS[0].kernel
    return (1.0 if case.lengths else FILES) * (OTHERS if other else 1.0)


def limits(start: Numbers) -> tuple[Logs, Logs]:
    """Return the least and the greatest logarithms that a fit from there may find."""
    where, first = places(start), logs(start)
    far = np.array([HELD.get(p.key, FREE) if p.row == RATES else FREE for p in where])
    lowest = np.array([LOWEST.get(p.key, 0.0) for p in where])
    with np.errstate(divide="ignore"):
        return np.maximum(first - far, np.log(lowest)), first + far
