"""SpMV by items, whose sizes differ or are tiny, under outer and inner schedules, in replayed CUDA graphs.

    python benchmarks/item_sizes.py --matrices FOLDER

FOLDER has Matrix Market files. Items of many sizes: `mix`, 4,000 of these files at random; `pareto`, a few of thousands
of rows among many of tens; `one`, an item of 100,000 nonzeros among 10,000 of 7 rows. Tiny items are equal. Beside them
rows under `auto`, and cuSPARSE on the block-diagonal matrix. Contenders are interleaved, and their results compared.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import evenly as ev
from batches import Calls, by_items, cusparse, measured, on_gpu, read, spmv

N, BY_ITEM, ALONE = ev.Nested, ev.per_item(), ev.ThreadMapped(items=1)
MANY = [
    *(N(ev.BlockMapped(n), BY_ITEM) for n in (128, 256, 512)),
    *(N(ev.Lrb(n, warp=w), BY_ITEM) for n in (128, 256, 512) for w in (1024, 4096)),
    *(N(ev.Lrb(256), ev.GroupMapped(n)) for n in (2, 4, 8)),
    *(N(ev.DynamicChunks(1, n, 256), BY_ITEM) for n in (32, 256)),
]
TINY = [
    N(ev.ThreadMapped(), ALONE),
    *(N(ev.GroupMapped(n), ALONE) for n in (2, 4, 8, 16, 32)),
    *(N(ev.GroupMapped(n), ev.GroupMapped(2)) for n in (8, 16, 32)),
    *(N(ev.BlockMapped(64), inner) for inner in (ALONE, ev.GroupMapped(2))),
    *(N(ev.Lrb(), inner) for inner in (ALONE, BY_ITEM)),
]
EQUAL = (5, 3, 200_000), (16, 4, 50_000), (3, 3, 20_000), (40, 8, 20_000)  # rows, nonzeros, items


def square(sizes: Any, length: int, dtype: Any) -> list[Any]:
    """Square matrices of these orders, with `length` nonzeros a row, or fewer, in random columns."""
    rng, made = np.random.default_rng(2), []
    for n in sizes.tolist():
        k = min(length, n)
        columns = np.sort(rng.integers(0, n, (n, k), dtype=np.int32), axis=1).reshape(-1)
        offsets = np.arange(0, n * k + 1, k, dtype=np.int32)
        made.append(sp.csr_array((np.ones(n * k, dtype), columns, offsets), shape=(n, n)))
    return made


def pareto() -> Any:
    sizes = np.clip(32 * (1 + np.random.default_rng(1).pareto(1.0, 10_000)), 1, 8000).astype(int)
    sizes[::3] //= 16  # some of a few rows
    return np.maximum(sizes, 1)


def one() -> Any:
    sizes = np.full(10_000, 7)
    sizes[5000] = 12_500
    return sizes


def mix(matrices: dict[str, Any], dtype: Any) -> Any:
    there = {name: on_gpu(matrix, dtype) for name, matrix in matrices.items()}
    chosen = np.random.default_rng(0).choice(sorted(there), 4000)
    return ev.batch([there[name] for name in chosen], narrow=False)


def compare(title: str, B: Any, schedules: list[Any]) -> None:
    import cupy as cp

    dtype = B.values.dtype
    B = B.with_values(cp.random.random(B.num_atoms).astype(dtype))
    x, y, wanted = cp.random.random(B.num_columns).astype(dtype), *cp.empty((2, B.num_tiles), dtype)
    calls: Calls = {}
    ev.spmv(B, x, wanted)
    for kernel, schedule in ((spmv, "auto"), *((by_items, s) for s in ("auto", *schedules))):
        plan = kernel.plan(B, x, y, schedule=schedule)
        y.fill(np.nan)
        plan(B, x, y)
        cp.testing.assert_allclose(y, wanted, rtol=1e-3 if dtype == np.float32 else 1e-10)
        named = f"auto = {plan.schedule}" if schedule == "auto" else str(schedule)
        calls[f"{kernel.name} {named}"] = lambda plan=plan: plan(B, x, y)
    times = measured(calls | cusparse(B, x, y))
    print(f"{title}, {B.num_items:,} items, {B.num_atoms:,} nonzeros, {dtype}")
    for name, us in sorted(times.items(), key=lambda item: item[1]):
        print(f"  {us:9.1f} us  {name}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--matrices", type=Path, required=True)
    matrices = read(parser.parse_args().matrices)
    for dtype in np.float32, np.float64:
        compare("mix", mix(matrices, dtype), MANY)
        for name, sizes in (("pareto", pareto()), ("one", one())):
            compare(name, ev.batch(square(sizes, 8, dtype), narrow=False).to("cuda"), MANY)
        for rows, length, count in EQUAL:
            few = square(np.full(64, rows), length, dtype)
            title = f"{rows} x {length}"
            compare(title, ev.batch(few * (count // 64), narrow=False).to("cuda"), TINY)


if __name__ == "__main__":
    import cupy as cp

    with cp.cuda.Stream(non_blocking=True):
        main()
