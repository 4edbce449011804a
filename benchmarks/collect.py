"""What `collect` costs on a GPU: its runs by schedule, whole calls beside CuPy's boolean indexing, and appends.

    python benchmarks/collect.py [atoms]        # needs a GPU and CuPy; 100 million atoms unless told

Half of the atoms are kept, each an int32 and a float32. benchmarks/notes/collect.md has the figures.
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np
from scans import lengths, microseconds

import evenly as ev
from evenly.arguments import Binding
from evenly.layouts.emitted import counting, filling

TYPES = (np.int32, np.float32)
SCHEDULES = [
    ev.NonzeroSplit(block=256, items=16),
    ev.NonzeroSplit(block=128, items=16),
    ev.NonzeroSplit(block=256, items=8),
    ev.MergePath(block=256, items=7),
    ev.GroupMapped(4),
    ev.GroupMapped(8),
    ev.DynamicChunks(),
    ev.ThreadMapped(),
]
WHOLE = (ev.GroupMapped, ev.ThreadMapped, ev.DynamicChunks)


@ev.kernel
def one_pass(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * np.float32(A.column(k)) for k in A.atoms(row))


@ev.kernel
def positive(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            if A.value(k) > 0:
                out.emit(A.column(k), A.value(k))


@ev.kernel
def appended(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            if A.value(k) > 0:
                out.append(A.column(k), A.value(k))


def run(A: Any, out: Any, schedule: Any = "auto") -> tuple[Any, Callable[[], None]]:
    """Return the schedule of one run of a collect, and the run. It keeps the arrays, which launches do not."""
    binding = Binding({"A": A, "out": out})
    plan = positive[schedule].made(binding)
    return plan.schedule, functools.partial(launch, plan.prepared(), binding)


def launch(prepared: Callable[[], None], kept: Binding) -> None:
    prepared()


def runs(A: Any, shape: str) -> dict[str, Callable[[], Any]]:
    sums, counts = cp.empty(A.num_tiles, cp.float32), cp.zeros(A.num_tiles + 1, cp.int64)
    lists, *columns = positive.collect(A, out=TYPES)
    out = filling(lists.offsets, lists.num_atoms, tuple(columns))
    schedule, count = run(A, counting(counts))
    calls: dict[str, Callable[[], Any]] = {
        "one pass": lambda: one_pass(A, sums),
        f"count, auto: {schedule}": count,
    }
    for schedule in SCHEDULES:
        if isinstance(schedule, WHOLE) and shape in ("one tile", "tiles of 1,000", "power law"):
            continue
        calls[f"fill, {schedule}"] = run(A, out, schedule)[1]
    return calls


def wall(call: Callable[[], Any]) -> float:
    """The median wall time of a call with the allocation of its results, in microseconds."""
    times = []
    for _ in range(12):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        kept = call()
        cp.cuda.Device().synchronize()
        times.append((time.perf_counter() - start) * 1e6)
        del kept
    return statistics.median(times[2:])


def calls(A: Any) -> dict[str, Callable[[], Any]]:
    kept = ev.output(TYPES, capacity=A.num_atoms, like=A)
    chunks = 8 * A.num_tiles // 3

    def append() -> None:
        kept.clear()
        appended(A, kept)

    def boolean() -> Any:
        mask = A.values > 0
        return A.indices[mask], A.values[mask]

    return {
        "collect": lambda: positive.collect(A, out=TYPES),
        "collect in 4 chunks": lambda: positive.collect(A, out=TYPES, max_workspace=chunks),
        "append": append,
        "CuPy's boolean indexing": boolean,
    }


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    print(cp.cuda.runtime.getDeviceProperties(0)["name"].decode(), f"{n:,} atoms")
    values = cp.random.default_rng(0).standard_normal(n, dtype=cp.float32)
    columns = cp.arange(n, dtype=cp.int32) % 1000
    shapes = lengths(n) | {"tiles of 4": np.arange(0, n + 1, 4)}
    for shape, offsets in shapes.items():
        tiles = cp.asarray(offsets.astype(np.int32))
        A = ev.csr((values, columns, tiles), shape=(len(offsets) - 1, 1000))
        for what, us in microseconds(runs(A, shape)).items():
            print(f"{shape:15} {what:75} {us:9.1f} us")
        if shape == "tiles of 16":
            for what, call in calls(A).items():
                print(f"{shape:15} {'whole calls: ' + what:75} {wall(call):9.1f} us")
    few = A.slice(range(200))
    print(f"{'200 tiles':15} {'whole calls: collect':75} {wall(calls(few)['collect']):9.1f} us")


if __name__ == "__main__":
    main()
