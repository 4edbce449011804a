"""Shares of the copy rate that functions of `ev.ragged` reach on a GPU, and whole calls beside deterministic PyTorch.

    python benchmarks/ragged.py [shares|calls|sorts]      # needs a GPU, CuPy and PyTorch; the first two unless told

shares: replayed graphs of three launches, 50 million elements; the share is that of the time in which a copy moves each
byte once. calls: sorts, top-k, index_add, padding and back of 20 million float32, PyTorch with
`use_deterministic_algorithms`; on a matrix where lists have one length. sorts: of the same, sorts and top-k
alone, with CUB's segmented sort (cuda-cccl), in some 40 s; the results are looked at.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import cupy as cp
import numpy as np
import torch

import evenly as ev
from evenly.bench.gpu import GpuBench
from evenly.bench.ragged.lengths import equal, mostly_empty, one_huge, power_law
from evenly.bench.ragged.peers import cub_sort

R = ev.ragged
Make = Callable[[int], Any]
SHARES: dict[str, Make] = {
    "a power law": power_law,
    "90% are empty": mostly_empty,
    "one has 90%": one_huge,
    "of 16": equal(16),
    "of 1,000": equal(1000),
}
CALLS: dict[str, Make] = {
    "of 1,000": equal(1000),
    "of 16": equal(16),
    "a power law": power_law,
    "90% are empty": mostly_empty,
    "of 100": equal(100),
    "of 10,000": equal(10_000),
}
SORTS: dict[str, Make] = {
    "of 32": equal(32),
    **CALLS,
    "of 1 million": equal(1_000_000),
}
REDUCED = "logsumexp", "max", "min", "mean", "sum"
PLANS: dict[str, Callable[[Any, Any], Any]] = {
    "softmax": R.segment_softmax.plan,
    "argmax": R.segment_argmax.plan,
    "scan": R.segment_scan.plan,
    **{how: lambda x, lists, how=how: R.segment_reduce.plan(x, how, lists) for how in REDUCED},
}
TOP, PADDED = 4, 32


def offsets(make: Make, count: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(make(count))]).astype(np.int32)


def moved(name: str, n: int, m: int, size: int) -> int:
    """The bytes of n elements, m results and the offsets, each once."""
    results = n * size if name in ("softmax", "scan") else m * (8 if name == "argmax" else size)
    return n * size + results + 4 * (m + 1)


def shares(bench: GpuBench, rate: float) -> None:
    for dtype in "float32", "float64":
        for lengths, make in SHARES.items():
            where = cp.asarray(offsets(make, 50_000_000))
            lists, x = R(where), cp.random.default_rng(0).random(int(where[-1]), dtype=dtype)
            found = []
            for name, plan in PLANS.items():
                planned = plan(x, lists)
                planned()
                graph = bench.graph([planned] * 3)
                us = statistics.median([bench.replay(graph) / 3 for _ in range(5)][1:])
                floor = moved(name, len(x), lists.num_tiles, x.itemsize) / rate * 1e6
                found.append(f"{name} {us:.0f}, {floor / us:.0%}")
                del planned, graph
            print(f"{dtype} {lengths}, {lists.num_tiles:,} lists: " + "; ".join(found), flush=True)


def calls(bench: GpuBench) -> None:
    torch.use_deterministic_algorithms(True)
    for lengths, make in CALLS.items():
        print_times(bench, lengths, contenders(cp.asarray(offsets(make, 20_000_000))), 4)


def print_times(
    bench: GpuBench, lengths: str, timed: dict[str, Callable[[], Any]], rounds: int
) -> None:
    """Print the median of whole calls, but the first one's."""
    found = []
    for name, call in timed.items():
        call()
        times = []
        for _ in range(rounds):
            bench.hold()
            times.append(bench.span(call) / 1e3)
        found.append(f"{name} {statistics.median(times[1:]):.3f}")
    print(f"{lengths}, ms: " + "; ".join(found), flush=True)


def sorts(bench: GpuBench) -> None:
    torch.use_deterministic_algorithms(True)
    for lengths, make in SORTS.items():
        where = cp.asarray(offsets(make, 20_000_000))
        lists, x = R(where), cp.random.default_rng(0).random(int(where[-1]), dtype=np.float32)
        look_at(*R.segment_sort(x, lists), x, where)
        every = contenders(where)
        taken = {name: call for name, call in every.items() if name in SORTED}
        taken["CUB"] = cub_sort(x, where)
        print_times(bench, lengths, taken, 6)


SORTED = "sort", "torch, two sorts", "top", "torch, sort of rows", "torch, top of rows"


def look_at(keys: Any, order: Any, x: Any, where: Any) -> None:
    """Hold a sort against what it is: a permutation within each list, ascending, equal keys in order."""
    seen, of = cp.zeros(len(x), np.int8), cp.searchsorted(where[1:], cp.arange(len(x)), "right")
    seen[order] = 1
    in_order = (keys[1:] > keys[:-1]) | ((keys[1:] == keys[:-1]) & (order[1:] > order[:-1]))
    assert bool(seen.all()) and bool((keys == x[order]).all()) and bool((of[order] == of).all())
    assert bool((in_order | (of[1:] != of[:-1])).all())


def contenders(where: Any) -> dict[str, Callable[[], Any]]:
    lists, n = R(where), int(where[-1])
    m, x = lists.num_tiles, cp.random.default_rng(0).random(n, dtype=np.float32)
    index, sums = cp.random.default_rng(1).integers(0, m, n), cp.zeros(m, np.float32)
    padded = R.jagged_to_padded(x, lists, PADDED)
    t, begins, at, zeros, rows_of = (
        torch.as_tensor(a, device="cuda") for a in (x, where.astype(np.int64), index, sums, padded)
    )
    of, aten = torch.repeat_interleave(begins.diff()), torch.ops.aten
    found: dict[str, Callable[[], Any]] = {
        "sort": lambda: R.segment_sort(x, lists),
        "torch, two sorts": partial(sorted_twice, t, of),
        "top": lambda: R.top_k(x, TOP, lists),
        "index_add": lambda: ev.index_add(sums, index, x),
        "torch": lambda: torch.index_add(zeros, 0, at, t),
        "pad": lambda: R.jagged_to_padded(x, lists, PADDED),
        "torch's": lambda: aten._jagged_to_padded_dense_forward(
            t[:, None], [begins], [PADDED], 0.0
        ),
        "and back": lambda: R.padded_to_jagged(padded, lists),
        "torch's back": lambda: aten._padded_dense_to_jagged_forward(
            rows_of[:, :, None], [begins], n
        ),
    }
    if len(cp.unique(cp.diff(where))) == 1:
        rows = t.view(m, -1)
        found["torch, sort of rows"] = lambda: rows.sort(dim=1, stable=True)
        found["torch, top of rows"] = lambda: rows.topk(TOP)
    return found


def sorted_twice(t: Any, of: Any) -> Any:
    """By key, then by list, both stably."""
    keys, order = torch.sort(t, stable=True)
    _, again = torch.sort(of[order], stable=True)
    return keys[again], order[again]


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["shares", "calls"]
    bench = GpuBench()
    with bench.active():
        rate = bench.rates().copy
        print(f"copies at {rate / 1e12:.2f} TB/s", flush=True)
        if "shares" in wanted:
            shares(bench, rate)
        if "calls" in wanted:
            calls(bench)
        if "sorts" in wanted:
            sorts(bench)
