"""The octree of the example: the tasks alone, and the whole program with the sort before them.

    python benchmarks/octree.py
    python benchmarks/octree.py --particles 10000000 --levels 3 4 5

Whole calls on a GPU, each of which waits until the device is done: the median of several, and the least.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cupy
import numpy as np

import evenly as ev

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import octree

from evenly import kit

SIZES = ((32, 128), (64, 64), (128, 128), (256, 256), (512, 512))
ROUNDS = 7


def schedules() -> Iterator[Any]:
    for size, block in SIZES:
        for make in (ev.StaticList, ev.TaskPool):
            yield make(size, block)


def milliseconds(call: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> str:
    taken = []
    for number in range(ROUNDS + 1):
        before()
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cupy.cuda.Device().synchronize()
        if number:  # the first one prepares
            taken.append(1e3 * (time.perf_counter() - start))
    return f"{statistics.median(taken):.3f} ({min(taken):.3f})"


def tasks_alone(points: list[Any], levels: int, schedule: Any) -> str:
    """Time the tasks that begin with the octants that are `levels` deep."""
    n = len(points[0])
    *columns, _, begins = octree.sorted_by_cell(*points, levels)
    octants, are_tasks = octree.octants_above(begins, levels)
    T = octree.tasks_of(octants[are_tasks], n // (octree.LEAF + 1) + 1, columns[0])
    first = kit.positions(columns[0], n)
    order, moved = first.copy(), first.copy()
    found = ev.output(tuple(octree.FIELDS.values()), capacity=n + 1000, like=first)
    arguments = T, *columns, order, moved, found
    plan = octree.octree.plan(*arguments, schedule=schedule)

    def again() -> None:
        order[:] = first
        found.clear()

    taken = milliseconds(lambda: plan(*arguments), again)
    return f"{taken} ms, {T.tasks_run:,} tasks of {are_tasks.sum():,} at first"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=500_000)
    parser.add_argument("--levels", type=int, nargs="*", default=[0, 3])
    asked = parser.parse_args()
    points = [cupy.asarray(np.ascontiguousarray(c)) for c in octree.tube(asked.particles).T]
    for levels in asked.levels:
        for schedule in schedules():
            where = f"{asked.particles:,} particles, {levels} levels by a sort, {schedule}"
            print(f"{where}: tasks {tasks_alone(points, levels, schedule)}", flush=True)
            whole = milliseconds(lambda s=schedule, n=levels: octree.build(*points, n, s))
            print(f"{where}: whole program {whole} ms", flush=True)


if __name__ == "__main__":
    main()
