"""Tasks per second, N-Queens and Unbalanced Tree Search, under each schedule of tasks.

    python benchmarks/tasks.py

A call is timed as a whole: it waits until the device is done. Each figure is the median of several calls, with their
least and greatest.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import cupy
import numpy as np

import evenly as ev

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import queens
import tree_search

SLOW = 2.0  # seconds of a first call, after which there is one more
QUEUES = ev.BlockingQueue, ev.LockFreeQueue, ev.WorkStealing


@ev.kernel
def binary(T, count):
    n = 0
    for t in T.tiles():
        n += 1
        if T.depth(t) > 0:
            T.push(T.depth(t) - 1)
            T.push(T.depth(t) - 1)
    count[0] = n


def timed(name: str, call: Any, work: int, times: int = 5) -> None:
    start = time.perf_counter()
    call()
    cupy.cuda.Device().synchronize()
    slow = time.perf_counter() - start > SLOW
    taken = []
    for _ in range(1 if slow else times):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cupy.cuda.Device().synchronize()
        taken.append(time.perf_counter() - start)
    middle, least, most = sorted(taken)[len(taken) // 2], min(taken), max(taken)
    spread = f"{1e3 * middle:9.3f} ms ({1e3 * least:.3f} to {1e3 * most:.3f})"
    print(f"{name:70} {spread} {work / middle / 1e6:10.1f} M/s", flush=True)


def tree(schedule: Any, depth: int, capacity: int) -> None:
    T = ev.tasks(depth=np.int32, first=[depth], capacity=capacity, like=cupy.zeros(1))
    count = cupy.zeros(1, np.int64)
    plan = binary.plan(T, count, schedule=schedule)

    def call() -> None:
        plan(T, count)

    timed(f"a tree of 2**{depth + 1} tasks, {schedule}", call, 2 ** (depth + 1) - 1)
    assert int(count[0]) == T.tasks_run == 2 ** (depth + 1) - 1


def boards(schedule: Any, n: int, split: int) -> None:
    T, found = queens.boards(4_000_000).to("cuda"), cupy.zeros(1, np.int64)
    plan = queens.queens.plan(T, n, split, found, schedule=schedule)
    timed(f"{n} queens from row {split}, {schedule}", lambda: plan(T, n, split, found), 1)
    assert int(found[0]) == queens.SOLUTIONS[n]


def nodes(schedule: Any, name: str, capacity: int) -> None:
    tree = tree_search.TREES[name]
    T, totals = tree_search.root(tree.seed, capacity, cupy.zeros(1)), cupy.zeros(3, np.int64)
    plan = tree_search.search.plan(T, *tree.shape, totals, schedule=schedule)
    timed(f"{name}, {schedule}", lambda: plan(T, *tree.shape, totals), tree.nodes, 3)
    assert totals.get().tolist() == [tree.nodes, tree.leaves, tree.depth]


def queues() -> None:
    """The paper's methods beside the others, on trees that suit the slowest."""
    for size, depth in ((1, 19), (32, 17), (128, 17)):
        for make in (ev.StaticList, ev.TaskPool, *reversed(QUEUES)):
            tree(make(size, max(size, 128)), depth, 1 << 20)
    for make in reversed(QUEUES):
        boards(make(block=64), 12, 5)
        nodes(make(), "T1", 4_000_000)


def main() -> None:
    for schedule in (ev.StaticList(), ev.TaskPool(), ev.TaskPool(block=64), ev.TaskPool(block=512)):
        tree(schedule, 25, 1 << 25)
    for size in (32, 64, 128):
        for schedule in (ev.StaticList(size, max(size, 128)), ev.TaskPool(size, max(size, 128))):
            tree(schedule, 19, 1 << 20)
    for block in (64, 128):
        for split in (5, 6, 7):
            for schedule in (ev.StaticList(block=block), ev.TaskPool(block=block)):
                boards(schedule, 16, split)
    for schedule in (ev.StaticList(), ev.TaskPool()):
        nodes(schedule, "T1", 4_000_000)
        nodes(schedule, "T1L", 90_000_000 if schedule.engine == "owned" else 16_000_000)
        nodes(schedule, "T3L", 8_000_000)


if __name__ == "__main__":
    main()
    queues()
