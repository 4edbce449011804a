"""What a run costs on a GPU, in terms that explain it, all in microseconds."""

from __future__ import annotations

from typing import NamedTuple

SHARP = 6.0  # how little the limits of the hardware add up: the largest of them counts


class Cost(NamedTuple):
    """The predicted time of a schedule, and what it is made of.

    launch: of the kernels, with what each run does once. memory: the bytes from and to memory. cache: the bytes out
    of L2. lines: the lines that L1 looks up. work: the instructions and waits of the warps. tail: what the last
    multiprocessor takes longer than the mean. chain: the loads of the longest tile that wait for each other. total: the
    limits of the hardware overlap, `work` overlaps them in part, and launch, tail and chain come on top.
    """

    launch: float
    memory: float
    cache: float
    lines: float
    work: float
    tail: float
    chain: float
    total: float

    def __str__(self) -> str:
        parts = (f"{name} {us:.1f}" for name, us in self._asdict().items() if us >= 0.05)
        return ", ".join(part for part in parts if not part.startswith("total"))


def cost(
    limits: tuple[float, float, float],
    work: float,
    launch: float,
    chain: float,
    overlap: float,
    late: float = 0.0,
) -> Cost:
    """Put the terms together.

    limits: memory, cache and lines. overlap: 1: work adds to them; more: they overlap. late: how much longer than the
    mean the last multiprocessor takes for both, as a share of the mean.
    """
    hardware = sum(us**SHARP for us in limits) ** (1 / SHARP)
    busy = (hardware**overlap + work**overlap) ** (1 / overlap)
    return Cost(launch, *limits, work, busy * late, chain, launch + busy * (1 + late) + chain)
