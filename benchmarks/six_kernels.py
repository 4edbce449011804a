"""The six kernels of Anzt et al. (ScalA 2017) beside each by hand, in double precision, in replayed CUDA graphs.

    python benchmarks/six_kernels.py --matrices FOLDER [--count 10000] [--mix 4000]

FOLDER has Matrix Market files. Batches are those of benchmarks/batches.py, with 32-bit columns. By hand, four are in
six_kernels.cu, in blocks of 128 and of 256 threads; COO and CSR-I, in blocks of 256, are those of
`evenly reproduce flexible-batched`, which add by float atomics, and are timed with the clearing of y. All are
interleaved, and every result is checked. Memory that is allocated anew can change a time by some percent: --runs N
makes the arrays of a batch N times, and prints each run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

import evenly as ev
from batches import PATTERNS, Calls, measured, on_gpu, read
from evenly.bench import batched_atomics
from evenly.reproduce.flexible_batched.ell_batch import EllBatch, ell_batch
from evenly.reproduce.flexible_batched.kernels import ELL, KERNELS, product

SOURCE = Path(__file__).with_name("six_kernels.cu")
ATOMIC = {"COO": batched_atomics.coo, "CSR-I": batched_atomics.csr_i}
BY_HAND = {
    "CSR-scalar": "csr_scalar",
    "CSR-vector": "csr_vector",
    "CSR-smart": "csr_smart",
    "ELL": "ell",
}
THREADS = 128, 256


def ours(B: Any, E: EllBatch, x: Any, y: Any) -> Calls:
    calls: Calls = {}
    for kernel in KERNELS:
        layout = E if kernel.layout == ELL else B
        plan = product[kernel.schedule()].plan(layout, x, y)
        calls[kernel.name] = lambda plan=plan, layout=layout: plan(layout, x, y)
    return calls


def by_hand(B: Any, E: EllBatch, x: Any, y: Any) -> Calls:
    csr = B.item_tiles, B.item_columns, B.offsets, B.indices, B.values, x, y
    ell = E.item_tiles, E.item_columns, E.item_slots, E.item_widths, E.indices, E.values, x, y
    calls: Calls = {f"{name} 256": make(B, x, y).launch for name, make in ATOMIC.items()}
    for threads in THREADS:
        code = f"#define THREADS {threads}\n{SOURCE.read_text()}"
        module = cp.RawModule(code=code, options=("-std=c++17",))
        for name, function in BY_HAND.items():
            kernel, given = module.get_function(function), ell if name == "ELL" else csr
            calls[f"{name} {threads}"] = lambda kernel=kernel, given=given, threads=threads: kernel(
                (int(B.num_items),), (threads,), given
            )
    return calls


def compare(title: str, items: list[Any], longest: Any) -> None:
    B = ev.batch(items, narrow=False)
    x, y = cp.random.random(B.num_columns), cp.empty(B.num_tiles)
    E, wanted = ell_batch(B, longest, cp), ev.spmv(B, x)
    own, hand = ours(B, E, x, y), by_hand(B, E, x, y)
    for call in (*own.values(), *hand.values()):
        y.fill(np.nan)
        call()
        cp.testing.assert_allclose(y, wanted, rtol=1e-10)
    times = measured({**own, **{f"by hand, {name}": call for name, call in hand.items()}})
    print(f"{title}, {B.num_items:,} items, {B.num_atoms:,} nonzeros; us")
    for name in own:
        others = {k: us for k, us in times.items() if k.startswith(f"by hand, {name} ")}
        said = ", ".join(f"{k.rpartition(' ')[2]} threads {us:.0f}" for k, us in others.items())
        ratio = times[name] / min(others.values())
        print(f"  {name:10} {times[name]:8.1f}, by hand {said}: {ratio:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--matrices", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--mix", type=int, default=4_000)
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    matrices = read(given.matrices)
    there = {name: on_gpu(matrix, np.float64) for name, matrix in matrices.items()}
    rows = {name: int(np.diff(matrix.indptr).max()) for name, matrix in matrices.items()}
    batches = {name: [name] * given.count for name in PATTERNS if name in there}
    chosen = np.random.default_rng(0).choice(sorted(there), given.mix)
    batches[f"{given.mix:,} of {len(there)} at random"] = chosen.tolist()
    with cp.cuda.Stream(non_blocking=True):
        for title, names in batches.items():
            for _ in range(given.runs):
                compare(title, [there[n] for n in names], np.array([rows[n] for n in names]))


if __name__ == "__main__":
    main()
