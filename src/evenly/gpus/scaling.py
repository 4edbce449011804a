"""What work costs on a GPU that was never measured: the costs of another one, by the properties of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .gpu import Gpu

LISTS = ("shares", "bins")  # tables of which there are several
# Which property a rate or a size is proportional to, and which one divides a time. SAME everywhere are the launch of a
# kernel and what goes with it, and shares and exponents, which have no unit.
GROWS = {
    "memory": "bandwidth",
    "l2": "l2",
    "cache": "speed",
    "lines": "speed",
    "l1": "shared_memory",
}
OF_ALL = (
    "meet",
    "warp",
    "item",
    "wide",
    "gathers",
    "far",
    "few",
    "tile",
    "bare",
    "atom",
    "by_tile",
    "scan",
    "operation",
    "running",
)
OF_ONE = ("round", "each", "chain", "turn", "wait", "alone")  # loads that wait for each other
SAME = (
    "launch",
    "kernel",
    "plain",
    "partition",
    "hidden",
    "gather",
    "overlap",
    "slower",
    "last",
    "heavy",
)
SHRINKS = dict.fromkeys(OF_ALL, "speed") | dict.fromkeys(OF_ONE, "clock")


def scaled(costs: Mapping[str, Any], known: Gpu, gpu: Gpu) -> dict[str, Any]:
    """Return the costs of a GPU, from those of one that is known."""

    def of_row(row: Mapping[str, Any]) -> dict[str, Any]:
        return {key: _scaled(key, value, known, gpu) for key, value in row.items()}

    return {
        table: [of_row(row) for row in held] if table in LISTS else of_row(held)
        for table, held in costs.items()
    }


def _scaled(key: str, value: Any, known: Gpu, gpu: Gpu) -> Any:
    if key in GROWS:
        return value * gpu.times(known, GROWS[key])
    return value / gpu.times(known, SHRINKS[key]) if key in SHRINKS else value


def said(known: Gpu, gpu: Gpu) -> str:
    """Say by what the costs of a GPU were scaled."""
    names = {"bandwidth": "memory", "l2": "L2", "speed": "multiprocessors"}
    ratios = (f"{what} x {gpu.times(known, name):.2f}" for name, what in names.items())
    return f"scaled from {known.name} ({', '.join(ratios)}); `evenly fit` measures this GPU"
