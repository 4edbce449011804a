"""What a round costs on a GPU: a trivial one by the rounds of a conditional node, a level of a frontier by schedule.

    python benchmarks/rounds.py [grid] [scale]     # needs a GPU and CuPy; grid 2,048, R-MAT 18 unless told

The searches go through a grid of vertices, whose levels are many and small, and through an R-MAT graph, whose levels
are few and large. Times are those of whole calls, over the number of rounds; each is the median of three.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

import evenly as ev
from evenly.interop.generators import rmat
from evenly.targets.cuda import conditional

REPEATS, ROUNDS = 3, 2000
ON_GRID = [
    ev.MergePath(256, 1), ev.MergePath(256, 2), ev.MergePath(256, 3), ev.MergePath(128, 1), ev.NonzeroSplit(256, 1),
    ev.NonzeroSplit(), ev.ThreadMapped(), ev.GroupMapped(4), ev.GroupMapped(8), ev.GroupMapped(8, flatten=True),
    ev.WorkOriented(), ev.Lrb(), ev.DynamicChunks(),
]  # fmt: skip
ON_RMAT = [
    ev.MergePath(256, 1), ev.MergePath(256, 3), ev.NonzeroSplit(), ev.Lrb(), ev.GroupMapped(32), ev.DynamicChunks(),
]  # fmt: skip


@ev.kernel
def countdown(A, y, times):
    left = times
    while left > 0:
        left -= 1
        for row in A.tiles():
            y[row] += 1


@ev.kernel
def search(F, level, source, depths):
    level[source] = 0
    F.push(source)
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                v = F.column(e)
                if ev.atomic_cas(level, v, -1, depth) == -1:
                    F.push(v)
    depths[0] = depth


def grid(n: int) -> tuple[Any, Any]:
    """n x n vertices with edges to their neighbours, and the distance of each from the first one."""
    ids = np.arange(n * n, dtype=np.int32).reshape(n, n)
    near = np.full((n, n, 4), -1, np.int32)
    near[1:, :, 0], near[:, 1:, 1] = ids[:-1], ids[:, :-1]
    near[:, :-1, 2], near[:-1, :, 3] = ids[:, 1:], ids[1:]
    there = near >= 0
    offsets = np.concatenate([[0], np.cumsum(there.sum(2).ravel())]).astype(np.int32)
    values = np.ones(int(offsets[-1]), np.float32)
    G = ev.csr((values, near[there], offsets), shape=(n * n, n * n)).to("cuda")
    return G, cp.asarray((ids // n + ids % n).ravel())


def microseconds(call: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> float:
    found = []
    for _ in range(REPEATS):
        before()
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        found.append((time.perf_counter() - start) * 1e6)
    return statistics.median(found)


def trivial(at_once: int) -> str:
    A = ev.csr(rmat(6)).to("cuda")
    y = cp.zeros(A.num_tiles)
    conditional.AT_ONCE = at_once
    with countdown["thread_mapped"].plan(A, y, ROUNDS).bind(A, y, ROUNDS) as call:
        call()
        assert float(y[0]) == ROUNDS
        return f"{microseconds(call) / ROUNDS:8.2f} us a round"


def searched(G: Any, schedule: Any, unique: bool, source: int, wanted: Any) -> str:
    F = ev.frontier(G, unique=unique)
    level, depths = cp.full(G.num_tiles, -1, np.int32), cp.zeros(1, np.int32)
    plan = search.plan(F, level, source, depths, schedule=schedule)
    with plan.bind(F, level, source, depths) as call:
        call()
        assert wanted is None or bool((level == wanted).all()), schedule
        us = microseconds(call, lambda: level.fill(-1)) / int(depths[0])
    return f"{us:8.2f} us a level of {int(depths[0]):,}"


def main() -> None:
    size, scale = [int(a) for a in sys.argv[1:]] + [2048, 18][len(sys.argv) - 1 :]
    print(cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    usual = conditional.AT_ONCE
    for at_once in 1, 2, 4, 8, 16:
        print(f"{'a trivial round':24} {f'{at_once} a node':44} {trivial(at_once)}")
    conditional.AT_ONCE = usual
    G, wanted = grid(size)
    for unique, tried in (False, ON_GRID), (True, [ev.MergePath(256, 1), ev.ThreadMapped()]):
        for schedule in tried:
            name = f"grid of {size:,}{', unique' if unique else ''}"
            print(f"{name:24} {schedule!s:44} {searched(G, schedule, unique, 0, wanted)}")
    matrix = rmat(scale)
    start = int(np.diff(matrix.indptr).argmax())
    R = ev.csr(matrix).to("cuda")
    for schedule in ON_RMAT:
        print(f"{f'R-MAT {scale}':24} {schedule!s:44} {searched(R, schedule, False, start, None)}")


if __name__ == "__main__":
    main()
