"""What a run costs on a GPU, in terms that explain it, all in microseconds: numbers, or arrays of several runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

SHARP = 6.0  # how little the limits of the hardware add up: the largest of them counts


class Cost(NamedTuple):
    """The predicted time of a schedule, and what it is made of.

    launch: of the kernels, with what each run does once. memory: the bytes from and to memory. cache: the bytes out
    of L2. lines: the lines that L1 looks up. work: the instructions and waits of the warps. tail: what the last
    multiprocessor takes longer than the mean. chain: the loads of the longest tile that wait for each other. total: the
    limits of the hardware overlap, `work` overlaps them in part, and launch, tail and chain come on top.
    """

    launch: Any
    memory: Any
    cache: Any
    lines: Any
    work: Any
    tail: Any
    chain: Any
    total: Any

    def each(self, count: int) -> Iterator[Cost]:
        """Yield the costs of so many runs, of which a term that is the same for all may be one number."""
        terms = (np.broadcast_to(term, count).tolist() for term in self)
        return map(Cost, *terms)

    def __str__(self) -> str:
        parts = (f"{name} {us:.1f}" for name, us in self._asdict().items() if us >= 0.05)
        return ", ".join(part for part in parts if not part.startswith("total"))


def cost(
    limits: tuple[Any, Any, Any],
    work: Any,
    launch: Any,
    chain: Any,
    overlap: Any,
    late: Any = 0.0,
) -> Cost:
    """Put the terms together.

    limits: memory, cache and lines. overlap: 1: work adds to them; more: they overlap. late: how much longer than the
    mean the last multiprocessor takes for both, as a share of the mean.
    """
    hardware = sum(us**SHARP for us in limits) ** (1 / SHARP)
    busy = (hardware**overlap + work**overlap) ** (1 / overlap)
    return Cost(launch, *limits, work, busy * late, chain, launch + busy * (1 + late) + chain)
