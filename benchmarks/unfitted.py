"""How well `auto` chooses for kernels that its model was not fitted to, beside the best of 15 schedules.

    python benchmarks/unfitted.py [SEED] [COUNT] [LARGEST]

An argmax of rows, a softmax, a sum that depends on its tile, a scan, and the relaxation of a frontier of half of all
vertices, on the first COUNT matrices of a seed (evenly.interop.families), in replayed graphs, interleaved: the time of
the best schedule over that of the chosen one. Distances are 1 and weights positive, so a relaxation stores nothing. (A
fit measures the argmax and the sum on its first twelve matrices, so the other three are new to it.) Needs a GPU.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import evenly as ev
from evenly.algorithms.ragged.segment_scan import inclusive
from evenly.algorithms.ragged.segment_softmax import softmax
from evenly.choosing.candidates import promising
from evenly.choosing.statistics import statistics
from evenly.errors import EvenlyError
from evenly.fitting.tasks import row_argmax, weighted
from evenly.interop.families import families
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import measure

ROUNDS = 5
SCHEDULES = (
    ev.ThreadMapped(128),
    *(ev.GroupMapped(lanes, items=6) for lanes in (2, 4, 8, 16, 32)),
    ev.GroupMapped(8, items=4, run=4),
    *(ev.GroupMapped(lanes, 512) for lanes in (128, 256)),
    ev.MergePath(),
    ev.MergePath(256, 4, carveout=7),
    ev.NonzeroSplit(128, 8),
    ev.NonzeroSplit(128, 11),
    ev.Lrb(),
    ev.Lrb(512, thread=16, group=128),
)


@ev.kernel
def relaxation(F, distance):
    for u in F.tiles():
        for e in F.atoms(u):
            v = F.column(e)
            candidate = distance[u] + F.value(e)
            if candidate < distance[v]:
                ev.atomic_min(distance, v, candidate)


def kernels(A: Any) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield the name of each kernel, the kernel, and its arguments for a matrix on the GPU."""
    put, (rows, columns), one = ev.DeviceArray.from_numpy, A.shape, np.float32(1)
    made = ev.device_empty(A.num_atoms, np.float32)
    yield "argmax", row_argmax, (A, ev.device_empty(rows, np.int32))
    yield "softmax", softmax, (A, A.values, one, made)
    yield (
        "weighted",
        weighted,
        (A, put(np.ones(rows, np.float32)), ev.device_empty(rows, np.float32)),
    )
    yield "scan", inclusive, (A, A.values, one - one, made)
    half = put(np.arange(0, rows, 2, dtype=np.int32))
    yield (
        "relaxation",
        relaxation,
        (ev.subset(A, half), put(np.ones(max(rows, columns), np.float32))),
    )


def times(kernel: Any, arguments: tuple[Any, ...], A: Any) -> dict[str, float]:
    """Return the least microseconds under `auto` and each schedule that may be the fastest."""
    auto = kernel.plan(*arguments)
    plans = {"auto": auto}
    for schedule in SCHEDULES:
        if promising(schedule, statistics(A)) and schedule != auto.schedule:
            try:
                plans[str(schedule)] = kernel[schedule].plan_as_auto(*arguments)
            except EvenlyError:  # this kernel needs schedules of another kind
                continue
    clocks = {name: GraphClock(plan.launches) for name, plan in plans.items()}
    return {
        name: min(s.times) for (name, _), s in measure(clocks, rounds=ROUNDS, flushed=False).items()
    }


def mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def main(seed: int = 53, count: int = 20, largest: int = 5_000_000) -> None:
    shares: dict[str, list[float]] = {}
    for member in itertools.islice(families(seed, largest), count):
        A = ev.csr(member.make()).to("cuda")
        for name, kernel, arguments in kernels(A):
            found = times(kernel, arguments, A)
            best = min(found, key=lambda schedule: found[schedule])
            share = found[best] / found["auto"]
            shares.setdefault(name, []).append(share)
            told = f"auto {found['auto']:8.2f} us, {share:.2f} of {best}"
            print(f"{member.name:36} {member.nnz:10,} {name:10} {told}", flush=True)
    shares["all"] = [share for every in shares.values() for share in every]
    for name, every in shares.items():
        print(
            f"{name:10} {len(every):3} cases: {mean(every):.3f} of the best, at worst {min(every):.2f}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
