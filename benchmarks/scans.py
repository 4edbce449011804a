"""What a scan costs on a GPU, beside a copy of the same bytes and CuPy's cumsum (CUB's DeviceScan).

    python benchmarks/scans.py [atoms]          # needs a GPU and CuPy; 100 million atoms unless told

Shares are of the copy rate that the same run measures: each element is read once and written once.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

import evenly as ev

ROUNDS, REPEATS = 7, 5
SCHEDULES = [
    ev.NonzeroSplit(),
    ev.NonzeroSplit(block=128, items=8),
    ev.NonzeroSplit(block=256, items=8),
    ev.NonzeroSplit(block=256, items=16),
    ev.NonzeroSplit(block=256, items=16, min_blocks=5),
    ev.NonzeroSplit(block=128, items=16),
    ev.MergePath(),
    ev.MergePath(block=256, items=7),
    ev.GroupMapped(8),
    ev.WarpMapped(),
]


@ev.kernel
def running_sums(A, x, y):
    for tile in A.tiles():
        for k in A.atoms(tile):
            y[k] = ev.scan(x[k])


def lengths(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    power = np.minimum(rng.pareto(1.0, n // 8) * 4 + 1, n // 10).astype(np.int64)
    power = np.cumsum(power)
    return {
        "one tile": np.array([0, n]),
        "tiles of 16": np.arange(0, n + 1, 16),
        "tiles of 1,000": np.arange(0, n + 1, 1000),
        "power law": np.concatenate([[0], power[power < n], [n]]),
    }


def microseconds(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The median of rounds, the calls interleaved; each is repeated between two events."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            call()
            start, stop = cp.cuda.Event(), cp.cuda.Event()
            start.record()
            for _ in range(REPEATS):
                call()
            stop.record()
            stop.synchronize()
            found[name].append(cp.cuda.get_elapsed_time(start, stop) * 1e3 / REPEATS)
    return {name: statistics.median(times) for name, times in found.items()}


def calls_of(A: Any, x: Any, y: Any, one: bool) -> dict[str, Callable[[], Any]]:
    calls: dict[str, Callable[[], Any]] = {"copy": lambda: cp.copyto(y, x)}
    if one:
        calls["cupy cumsum"] = lambda: cp.cumsum(x, out=y)
    for schedule in SCHEDULES:
        if one and not isinstance(schedule, ev.NonzeroSplit | ev.MergePath):
            continue
        bound = running_sums[schedule].plan(A, x, y).bind(A, x, y)
        calls[str(schedule)] = bound
    return calls


def check(A: Any, offsets: np.ndarray, x: Any, y: Any) -> None:
    """The values are small integers, so that sums are exact as long as they stay small."""
    tiles = cp.asarray(offsets)
    sums = cp.concatenate([cp.zeros(1), cp.cumsum(x, dtype=np.float64)])
    tile = cp.searchsorted(tiles, cp.arange(len(x)), side="right") - 1
    wanted = sums[1:] - sums[tiles[tile]]
    for schedule in SCHEDULES:
        y.fill(-1)
        running_sums[schedule](A, x, y)
        assert bool((y == wanted).all()), schedule


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    print(cp.cuda.runtime.getDeviceProperties(0)["name"].decode(), f"{n:,} atoms")
    for dtype in (np.float32, np.int32, np.float64):
        x = cp.asarray(np.random.default_rng(1).integers(-4, 5, n).astype(dtype))
        y = cp.empty_like(x)
        for name, offsets in lengths(n).items():
            A = ev.ragged(cp.asarray(offsets.astype(np.int32)))
            taken = microseconds(calls_of(A, x, y, len(offsets) == 2))
            check(A, offsets, x, y)
            for what, us in taken.items():
                share = taken["copy"] / us
                print(f"{np.dtype(dtype).name:8} {name:15} {what:60} {us:9.1f} us {share:6.0%}")


if __name__ == "__main__":
    main()
