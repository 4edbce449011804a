"""Batches with one large item, or a few: one block for it, teams of blocks, all blocks; in replayed CUDA graphs.

    python benchmarks/large_items.py

SpMV by items: an item of 10 million nonzeros among 10,000 of 49, one of 100,000 among them, one or eight alone, and the
Pareto items of item_sizes.py. Beside them rows under `auto`, and cuSPARSE on the block-diagonal matrix. Contenders are
interleaved, and their results compared. Then CG on a system of 90,000 or a million unknowns among 1,000 of 49, and on
one alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from batched_solver import best
from item_sizes import compare, pareto, square

import evenly as ev

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from batched_cg import conjugate_gradients, poisson

N, BY_ITEM = ev.Nested, ev.per_item()
BEFORE = N(ev.Lrb(512, warp=4096), BY_ITEM)
AMONG = [BEFORE, *(N(ev.Lrb(512, warp=4096, grid=1 << n), BY_ITEM) for n in (14, 16, 20))]
BLOCKS = N(ev.BlockMapped(512), BY_ITEM)
ALONE = [
    BLOCKS,
    *(N(ev.TeamMapped(n), BY_ITEM) for n in (2, 8, 16, 66, 132)),
    *(N(ev.TeamMapped(264, 512), inner) for inner in (BY_ITEM, ev.GroupMapped(2))),
]


def among(largest: int) -> Any:
    sizes = np.full(10_001, 7)
    sizes[5000] = largest
    return sizes


def solve(systems: list[Any], most: int, schedules: list[Any]) -> None:
    """CG, `most` iterations of the largest system, in one launch."""
    import cupy as cp

    B = ev.batch(systems).to("cuda")
    b = cp.random.default_rng(0).random(B.num_tiles)
    x, r, p, q = (cp.zeros(B.num_tiles) for _ in range(4))
    given = B, b, x, r, p, q, 1e-10, most, cp.zeros(len(systems), np.int32)
    wanted = None
    order = max(m.shape[0] for m in systems)
    print(f"CG, {B.num_items:,} systems, the largest of order {order:,}, {most} iterations of it")
    for schedule in schedules:
        plan = conjugate_gradients.plan(*given, schedule=schedule)
        with plan.bind(*given) as run:
            run()
            ms = best(run, 3)
        if wanted is not None:
            cp.testing.assert_allclose(x, wanted, rtol=1e-6, atol=1e-9)
        wanted = x.copy()
        named = f"auto = {plan.schedule}" if schedule == "auto" else str(schedule)
        print(f"  {1000 * ms / most:9.1f} us an iteration  {named}", flush=True)


def main() -> None:
    for dtype in np.float32, np.float64:
        for title, sizes, schedules in (
            ("10 M among 10,000", among(1_250_000), AMONG),
            ("100,000 among 10,000", among(12_500), AMONG),
            ("one of 10 M", np.array([1_250_000]), ALONE),
            ("eight of 1.25 M", np.full(8, 156_250), ALONE),
            ("one of 100,000", np.array([12_500]), ALONE),
        ):
            compare(title, ev.batch(square(sizes, 8, dtype), narrow=False).to("cuda"), schedules)
        compare(
            "Pareto",
            ev.batch(square(pareto(), 8, dtype), narrow=False).to("cuda"),
            [*AMONG, BLOCKS],
        )
    small, alone = poisson(7), ev.ThreadMapped()
    for side in 300, 1000:
        systems = [*[small] * 500, poisson(side), *[small] * 500]
        solve(systems, 50, ["auto", BEFORE, BLOCKS, AMONG[2]])
    for side in 50, 100, 200:
        teams = [N(ev.TeamMapped(n), alone) for n in (2, 8, 32, 132)]
        solve([poisson(side)], 100, ["auto", N(ev.BlockMapped(1024), alone), *teams])


if __name__ == "__main__":
    import cupy as cp

    with cp.cuda.Stream(non_blocking=True):
        main()
