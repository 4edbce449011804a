"""From what length on a tile goes to a team, and to a warp: Lrb's parameters in `bins` of the data file.

    python benchmarks/bins.py [FOLDER]

The skewed matrices of carveout.py, an SpMV in float32 and float64 and the two kernels of other_kernels.py that gather
nothing, under every kind of bins: for each kernel, the kinds by how much longer they take than the best one, in the
geometric mean over the matrices. Needs a GPU and CuPy.
"""

from __future__ import annotations

import itertools
import statistics
import sys
from collections import defaultdict
from typing import Any

import cupy as cp
from carveout import matrices

import evenly as ev
from evenly.bench.matrices import in_type
from evenly.fitting.tasks import TASKS, Named, arguments
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import measure

KINDS = [ev.Lrb(512, *kind) for kind in itertools.product((2, 4, 8), (4, 8, 16), (32, 64, 128))]
ROUNDS = 5


def times(matrix: Any, task: Named) -> dict[str, float]:
    """Microseconds of a kernel by kind of bins."""
    A = ev.csr(in_type(matrix, task.dtype)).to("cuda")
    made, given = arguments(task.kernel, A, cp.asarray)
    clocks = {str(kind): GraphClock(made.plan(*given, schedule=kind).launches) for kind in KINDS}
    samples = measure(clocks, rounds=ROUNDS)
    return {kind: samples[kind, "warm"].median for kind in clocks}


def main() -> None:
    longer = defaultdict(list)
    for name, matrix in matrices(sys.argv[1] if len(sys.argv) > 1 else None):
        for task in TASKS:
            found = times(matrix, task)
            best = min(found, key=lambda kind: found[kind])
            print(f"{name:16} {task!s:18} {found[best]:8.2f} us  {best}", flush=True)
            for kind, us in found.items():
                longer[task, kind].append(us / found[best])
    means = {key: statistics.geometric_mean(ratios) for key, ratios in longer.items()}
    for task, kind in sorted(means, key=lambda key: (key[0], means[key])):
        mean, worst = means[task, kind], max(longer[task, kind])
        print(f"{task!s:18} {mean:.3f}, at worst {worst:.2f}  {kind}")


if __name__ == "__main__":
    main()
