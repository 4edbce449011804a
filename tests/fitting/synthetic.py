"""Works and cases whose times are those that the model predicts: what a fit has to find again."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.choosing.model import Work, predicted
from evenly.choosing.reuse import Reuse
from evenly.choosing.statistics import Statistics
from evenly.choosing.task import Task
from evenly.choosing.walks import of_lengths
from evenly.fitting.cases import Case, looked_at
from evenly.fitting.tasks import SPMVS, Named
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import measured
from evenly.layouts import csr


def work(mean: float, tiles: int, spread: float, near: float) -> Work:
    """Tiles whose lengths are drawn, with columns of which this share lies far from earlier ones."""
    lengths = np.random.default_rng(tiles).gamma(1 / spread, mean * spread, tiles).astype(np.int64)
    shape = float(lengths.std()), float((lengths == 0).mean())
    found = tiles, int(lengths.sum()), float(lengths.mean()), int(lengths.max()), *shape, 0.0
    return Work(Statistics(*found, of_lengths(lengths)), Task(), Reuse(near, near), tiles)


WORKS = [
    work(mean, tiles, spread, near)
    for mean, tiles in ((3, 200_000), (12, 30_000), (300, 20_000))
    for spread, near in ((0.05, 0.9), (2.0, 0.3))
]


def times(numbers: Any) -> list[Case]:
    """Cases whose times are those that the model predicts by these numbers."""
    found = []
    for at, one in enumerate(WORKS):
        us = {str(s): cost.total for s, cost in predicted(one, numbers).items()}
        found.append(Case(measured(), 1000, str(at), "drawn", "any", (0, 0), SPMVS[0], us, one))
    return found


class Clockwork:
    """A place without a GPU, whose clock shows the times that the model predicts by `truth`."""

    architecture = "sm_90"

    def __init__(self, gpu: Gpu, truth: Any, memory: int = 1 << 36) -> None:
        self.gpu, self.truth, self.memory = gpu, truth, memory

    def layout(self, matrix: Any) -> Any:
        return csr(matrix)

    def times(self, A: Any, task: Named) -> dict[str, float]:
        found = predicted(looked_at(A, task), self.truth)
        return {str(s): cost.total for s, cost in found.items()}
