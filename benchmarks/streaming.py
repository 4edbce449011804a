"""What `auto` should choose for kernels that gather nothing: the table [streaming] of the data file.

    python benchmarks/streaming.py FOLDER [out.csv]

A row argmax and a sum whose terms depend on their tile (other_kernels.py), on the matrices of the
folder, the ten of the bench and R-MAT of all sizes, under whole tiles and under MergePath with several shares.
Prints, by number of tiles and atoms, the time of each share over the best of all schedules, then what `auto` loses.
Needs a GPU and CuPy.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import cupy as cp
import numpy as np
import scipy.sparse
from other_kernels import row_argmax, weighted

import evenly as ev
from evenly.bench.matrices import sources
from evenly.interop.generators import rmat
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import measure
from evenly.tuning.statistics import Statistics, statistics

SHARES = [ev.MergePath(256, 3, 4)]
SHARES += [ev.MergePath(block, items) for block in (128, 256) for items in (3, 5, 7, 9, 11, 13)]
GROUPS = [ev.ThreadMapped(), *(ev.GroupMapped(2**i) for i in range(1, 8))]
BOUNDS = (0, 30_000, 100_000, 300_000, 800_000, 1_500_000, 5_000_000)
LONGEST = 20_000  # atoms of one lane: what takes longer is not tried
ROUNDS = 4


def matrices(folder: str) -> Iterator[tuple[str, Any]]:
    for source in sources(folder):
        yield source.name, scipy.sparse.csr_array(source.make())
    for scale in (10, 12, 14, 15, 16, 17, 19):
        yield f"rmat-{scale}", rmat(scale)


def tried(st: Statistics) -> Iterable[Any]:
    for schedule in GROUPS:
        lanes = getattr(schedule, "size", 1)
        if st.greatest / lanes < LONGEST and lanes <= 8 * max(st.mean, 4):
            yield schedule
    yield from (*SHARES, ev.Lrb(block=512))


def times(kernel: Any, arguments: tuple[Any, ...], st: Statistics) -> tuple[dict[str, float], str]:
    """Microseconds by schedule, and the one that `auto` takes."""
    auto = kernel.plan(*arguments)
    plans = {str(s): kernel[s].plan(*arguments) for s in tried(st)} | {str(auto.schedule): auto}
    samples = measure({name: GraphClock(p.launches) for name, p in plans.items()}, rounds=ROUNDS)
    return {name: samples[name, "warm"].median for name in plans}, str(auto.schedule)


def main(folder: str, out: str = "") -> None:
    rows, loss = [], defaultdict(list)
    for name, matrix in matrices(folder):
        A = ev.csr(matrix.astype(np.float32)).to("cuda")
        tiles, st = matrix.shape[0], statistics(A)
        w, y, where = cp.ones(tiles, np.float32), cp.empty(tiles, np.float32), cp.empty(tiles, int)
        for kernel, arguments in ((row_argmax, (A, where)), (weighted, (A, w, y))):
            found, auto = times(kernel, arguments, st)
            best = min(found.values())
            bound = max(b for b in BOUNDS if b <= tiles + matrix.nnz)
            for share in SHARES if auto.startswith("MergePath") else ():
                loss[kernel.name, bound, str(share)].append(found[str(share)] / best)
            loss[kernel.name, "auto", ""].append(found[auto] / best)
            rows += [(name, tiles, matrix.nnz, kernel.name, s, us, auto) for s, us in found.items()]
            print(f"{name:28} {kernel.name:10} {found[auto] / best:5.2f} {auto}", flush=True)
    for (kernel_name, bound, share), lost in sorted(loss.items(), key=str):
        mean = math.exp(sum(map(math.log, lost)) / len(lost))
        print(
            f"{kernel_name:10} {bound!s:>9} {len(lost):3} {mean:5.2f} (worst {max(lost):.2f}) {share}"
        )
    if out:
        with open(out, "w", newline="") as file:
            csv.writer(file).writerows(
                [("matrix", "rows", "nnz", "kernel", "schedule", "us", "auto"), *rows]
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
