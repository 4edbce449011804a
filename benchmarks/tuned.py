"""What `schedule="tuned"` takes and how long it measures, beside `tune()` over all schedules, on random matrices.

    python benchmarks/tuned.py [SEED] [LARGEST] [COUNT]

The matrices of the seed (evenly.interop.families) of more than a million nonzeros, or the first COUNT. The first
matrix is measured twice, so that its kernels are compiled; `new` counts what later ones compile. us: what
both took, measured again side by side. Needs a GPU.
"""

from __future__ import annotations

import itertools
import math
import sys
import time

import numpy as np

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.interop.families import families
from evenly.targets import compilations
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import WARM, measure

LEAST = 1_000_000  # nonzeros


def main(seed: int = 1, largest: int = 60_000_000, count: int = 60) -> None:
    ratios = []
    large = (m for m in families(seed, largest) if m.nnz > LEAST)
    for number, member in enumerate(itertools.islice(large, count)):
        matrix = member.make()
        A = ev.csr(matrix).to("cuda")
        x = ev.DeviceArray.from_numpy(np.ones(matrix.shape[1], np.float32))
        y = ev.device_empty(matrix.shape[0], np.float32)
        if number == 0:
            spmv_rows.plan(A, x, y).tune(save=False)
        auto = spmv_rows.plan(A, x, y)
        with compilations.watched() as watch:
            start = time.monotonic()
            few = auto.tune(seconds=0.05, compilations=6, save=False)
            took = time.monotonic() - start
        wide = auto.tune(save=False)
        plans = {"auto": auto, "tuned": few, "all": wide}
        clocks = {name: GraphClock(plan.launches) for name, plan in plans.items()}
        us = {name: s.median for (name, what), s in measure(clocks).items() if what == WARM}
        ratios.append(us["all"] / us["tuned"])
        told = " ".join(f"{name} {value:.2f}" for name, value in us.items())
        count = f"{len(few.tuning.times)} measured, {watch.count} kernels new"
        print(f"{member.name:36} {matrix.nnz:11,} {1e3 * took:6.1f} ms, {count}; us: {told}")
        print(f"    {ratios[-1]:.3f}  {few.schedule}  all: {wide.schedule}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"tuned reaches {mean:.3f} of the best of all, the least {min(ratios):.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
