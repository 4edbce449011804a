"""Batched CG in one launch, beside the same iterations as launches over the whole batch, on a GPU.

    python benchmarks/batched_solver.py [--count 10000] [--side 32]

`count` systems of one pattern, the five-point Laplacian of a grid of side x side, whose diagonals differ: each needs a
number of iterations of its own, up to a residual of 1e-8. The launches over the batch are three an iteration (products
and dots, update, direction), in a CUDA graph of ten iterations. Converged systems do nothing in them. The host looks
after each graph whether all have converged.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import evenly as ev

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from batched_cg import conjugate_gradients, poisson

TOLERANCE, MOST, ITERATIONS = 1e-8, 1000, 10


@ev.kernel
def start(B, b, x, r, p, squares, limit):
    for item in B.items():
        s = 0.0
        for row in B.tiles(item):
            x[row] = 0.0
            r[row] = b[row]
            p[row] = b[row]
            s += b[row] * b[row]
        squares[item] = s
        limit[item] = TOLERANCE * TOLERANCE * s


@ev.kernel
def product(B, p, q, squares, limit, curvature):
    for item in B.items():
        if squares[item] > limit[item]:
            s = 0.0
            for row in B.tiles(item):
                v = sum(B.value(k) * p[B.column(k)] for k in B.atoms(row))
                q[row] = v
                s += p[row] * v
            curvature[item] = s


@ev.kernel
def update(B, x, r, p, q, squares, limit, curvature, left):
    for item in B.items():
        if squares[item] > limit[item]:
            step = squares[item] / curvature[item]
            s = 0.0
            for row in B.tiles(item):
                v = r[row] - step * q[row]
                x[row] += step * p[row]
                r[row] = v
                s += v * v
            left[item] = s


@ev.kernel
def direction(B, r, p, squares, limit, left):
    for item in B.items():
        if squares[item] > limit[item]:
            share = left[item] / squares[item]
            for row in B.tiles(item):
                p[row] = r[row] + share * p[row]
            squares[item] = left[item]


def systems(count: int, side: int) -> tuple[Any, Any]:
    """Return the batch, and the right-hand sides."""
    import cupy as cp

    pattern = poisson(side).astype(np.float64)
    values = np.tile(pattern.data, (count, 1))
    diagonal = pattern.indices == np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    values[:, diagonal] += np.random.default_rng(0).uniform(0, 4, count)[:, None]
    here = ev.csr(pattern).to("cuda")
    return ev.batch(here, cp.asarray(values)), cp.random.default_rng(0).random(
        count * pattern.shape[0]
    )


def best(call: Any, runs: int = 5) -> float:
    import cupy as cp

    times = []
    for _ in range(runs):
        cp.cuda.get_current_stream().synchronize()
        begin = time.perf_counter()
        call()
        cp.cuda.get_current_stream().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return min(times)


def compare(count: int, side: int) -> None:
    import cupy as cp

    B, b = systems(count, side)
    rows, items = len(b), count
    x, r, p, q = (cp.zeros(rows) for _ in range(4))
    squares, limit, curvature, left = (cp.zeros(items) for _ in range(4))
    rounds = cp.zeros(items, np.int32)
    whole: dict[str, float] = {}
    nested = [ev.Nested(ev.BlockMapped(n), ev.GroupMapped(m)) for n, m in ((128, 2), (256, 2))]
    threads = [ev.Nested(ev.BlockMapped(n), ev.ThreadMapped(items=1)) for n in (128, 256, 512)]
    threads += [ev.Nested(ev.BlockMapped(n), ev.ThreadMapped()) for n in (128, 256, 384)]
    for schedule in ("auto", *nested, *threads):
        plan = conjugate_gradients.plan(
            B, b, x, r, p, q, TOLERANCE, MOST, rounds, schedule=schedule
        )
        with plan.bind(B, b, x, r, p, q, TOLERANCE, MOST, rounds) as run:
            run()
            whole[str(plan.schedule)] = best(run)
    found = rounds.get()
    residual = cp.sqrt(
        ((b - ev.spmv(B, x)) ** 2).reshape(items, -1).sum(axis=1)
        / (b**2).reshape(items, -1).sum(axis=1)
    )
    print(f"{items:,} systems of order {side * side:,}: {found.min()} to {found.max()} iterations")
    print(f"largest relative residual {float(residual.max()):.1e}")
    for name, ms in sorted(whole.items(), key=lambda item: item[1]):
        print(f"  one launch, {name:90} {ms:9.2f} ms", flush=True)
    wanted = x.copy()
    stream = cp.cuda.get_current_stream()
    begun = start.plan(B, b, x, r, p, squares, limit)
    calls = [
        (k.plan(B, *a), a)
        for k, a in (
            (product, (p, q, squares, limit, curvature)),
            (update, (x, r, p, q, squares, limit, curvature, left)),
            (direction, (r, p, squares, limit, left)),
        )
    ]
    for plan, a in calls:
        plan(B, *a)
    stream.begin_capture()
    for _ in range(ITERATIONS):
        for plan, a in calls:
            plan(B, *a)
    graph = stream.end_capture()

    def by_launches() -> None:
        begun(B, b, x, r, p, squares, limit)
        while bool((squares > limit).any()):
            graph.launch(stream)

    by_launches()
    cp.testing.assert_allclose(x, wanted, rtol=1e-6)
    ms = best(by_launches)
    print(
        f"  three launches an iteration {ms:9.2f} ms: {ms / min(whole.values()):.1f} times the best"
    )


def main() -> None:
    import cupy as cp

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--side", type=int, default=32)
    given = parser.parse_args()
    with cp.cuda.Stream(non_blocking=True):
        compare(given.count, given.side)


if __name__ == "__main__":
    main()
