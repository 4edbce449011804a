"""SpMV over batches of small matrices, beside cuSPARSE on the block-diagonal matrix, in replayed CUDA graphs.

    python benchmarks/batches.py --matrices FOLDER [--count 10000] [--mix 4000] [--brief] [--build]

FOLDER has Matrix Market files, dwt_992, G45 and west0989 among them. Three batches have `count` items of one of these
patterns, the fourth `mix` items, each one of all files at random. Each is measured as a list, with columns numbered
through and with narrow ones, and where there is one pattern also with that stored once. Contenders are interleaved. The
last column is the share of the rate of a copy, counting the bytes that have to move: the batch, x and y, each once.
At the end: how many times as fast plans of `ev.spmv` and its calls are as cuSPARSE's best, which is preprocessed: a
plan, too, keeps what follows from the structure. --brief: measure nothing else.
--build: measure on the host how long `ev.batch` takes, beside np.concatenate of the arrays. It needs no GPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

import evenly as ev
from evenly.bench.floors import stored

PATTERNS = "dwt_992", "G45", "west0989"
SCHEDULES = ["auto", ev.GroupMapped(4), ev.MergePath()]
NESTED = [
    "auto",
    *(
        ev.Nested(ev.BlockMapped(n), ev.GroupMapped(m))
        for n, m in ((256, 2), (512, 2), (256, 4), (128, 4))
    ),
    ev.Nested(ev.BlockMapped(256), ev.per_item()),
]
ROUNDS, REPEATS = 7, 5
KINDS = "list", "narrow", "pattern"
PLAN, CALL = "ev.spmv.plan", "ev.spmv"
Calls = dict[str, Callable[[], Any]]


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def by_items(B, x, y):
    for item in B.items():
        for row in B.tiles(item):
            y[row] = sum(B.value(k) * x[B.column(k)] for k in B.atoms(row))


def read(folder: Path) -> dict[str, Any]:
    files = sorted([*folder.glob("*.mtx"), *folder.glob("*.mtx.gz")])
    found = {}
    for file in files:
        matrix = sp.csr_array(scipy.io.mmread(file, spmatrix=False)).astype(np.float64)
        parts = matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        found[file.name.split(".")[0]] = sp.csr_array(parts, shape=matrix.shape)
    return found


def clocks(calls: Calls) -> dict[str, Callable[[], float]]:
    """Return functions that replay each call REPEATS times in a graph, and give the microseconds of one."""
    import cupy as cp

    stream = cp.cuda.get_current_stream()
    found = {}
    for name, call in calls.items():
        call()
        stream.begin_capture()
        for _ in range(REPEATS):
            call()
        graph = stream.end_capture()

        def run(graph: Any = graph) -> float:
            start, stop = cp.cuda.Event(), cp.cuda.Event()
            graph.launch(stream)
            start.record(stream)
            graph.launch(stream)
            stop.record(stream)
            stop.synchronize()
            return float(cp.cuda.get_elapsed_time(start, stop)) / REPEATS * 1e3

        found[name] = run
    return found


def measured(calls: Calls) -> dict[str, float]:
    """The median of rounds, the calls interleaved."""
    runs = clocks(calls)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            times[name].append(run())
    return {name: statistics.median(t) for name, t in times.items()}


def ours(B: Any, kind: str, x: Any, y: Any, brief: bool) -> Calls:
    planned = ev.spmv.plan(B, x, out=y)
    calls: Calls = {f"{kind}: {PLAN}": planned, f"{kind}: {CALL}": lambda: ev.spmv(B, x, y)}
    if brief:
        return calls
    for kernel, schedules in ((spmv, SCHEDULES), (by_items, NESTED)):
        for schedule in schedules:
            plan = kernel.plan(B, x, y, schedule=schedule)
            named = f"auto = {plan.schedule}" if schedule == "auto" else str(schedule)
            calls[f"{kind}: {kernel.name} {named}"] = lambda plan=plan: plan(B, x, y)
    return calls


def cusparse(whole: Any, x: Any, y: Any) -> Calls:
    """cuSPARSE's algorithms on the block-diagonal matrix, preprocessed."""
    from evenly.bench.cusparse import COO_ALGORITHMS, CSR_ALGORITHMS, CuSparse
    from evenly.bench.place import Live

    live = Live(whole, whole.offsets, whole.indices, whole.values, x, y, ())
    of = CuSparse.loaded()
    return {f"cuSPARSE {a}": of.product(a, live) for a in (*CSR_ALGORITHMS, *COO_ALGORITHMS)}


def compare(title: str, batches: dict[str, Any], rate: float, brief: bool) -> dict[str, float]:
    """Print times. Return how many times as fast as cuSPARSE's best each kind of batch is, planned and called.

    rate: of a copy, bytes a us.
    """
    import cupy as cp

    whole = batches["list"]
    x = cp.random.random(whole.num_columns).astype(whole.values.dtype)
    y, wanted = cp.empty(whole.num_tiles, x.dtype), cp.empty(whole.num_tiles, x.dtype)
    calls = cusparse(whole, x, wanted)
    for kind, B in batches.items():
        calls |= ours(B, kind, x, y, brief)
    times = measured(calls)
    for B in batches.values():
        y.fill(np.nan)
        ev.spmv(B, x, y)
        cp.testing.assert_allclose(y, wanted, rtol=1e-3 if x.dtype == np.float32 else 1e-10)
    peer = min(us for name, us in times.items() if name.startswith("cuSPARSE"))
    print(f"{title}, {whole.num_items:,} items, {whole.num_atoms:,} nonzeros, {x.dtype}")
    for name, us in sorted(times.items(), key=lambda item: item[1]):
        kind = name.partition(":")[0]
        share = f"{stored(batches[kind], x, y) / us / rate:6.0%}" if kind in batches else ""
        print(f"  {name:100} {us:9.1f} us {peer / us:6.2f} of cuSPARSE's best {share}", flush=True)
    return {name: peer / times[name] for kind in batches for name in of_kind(kind)}


def of_kind(kind: str) -> tuple[str, str]:
    return f"{kind}: {PLAN}", f"{kind}: {CALL}"


def on_gpu(matrix: Any, dtype: Any) -> Any:
    import cupy as cp

    arrays = (
        cp.asarray(matrix.data.astype(dtype)),
        *map(cp.asarray, (matrix.indices, matrix.indptr)),
    )
    return ev.csr(arrays, shape=matrix.shape, check=False)


def lists(items: list[Any]) -> dict[str, Any]:
    """A list as batches, with random values."""
    import cupy as cp

    B = ev.batch(items, narrow=False)
    values = cp.random.random(B.num_atoms).astype(B.values.dtype)
    return {
        "list": B.with_values(values),
        "narrow": ev.batch(items).with_values(values),
    }


def run(matrices: dict[str, Any], count: int, mix: int, rate: float, brief: bool) -> None:
    """Measure all batches, on the current stream: it is not the default one, which no graph can capture."""
    print(f"a copy: {rate / 1e6:.2f} TB/s")
    found: dict[str, dict[str, float]] = {}
    for dtype in np.float64, np.float32:
        there = {name: on_gpu(matrix, dtype) for name, matrix in matrices.items()}
        for name in PATTERNS:
            batches = lists([there[name]] * count)
            values = batches["list"].values.reshape(count, -1)
            batches["pattern"] = ev.batch(there[name], values)
            title = f"{name} x {count:,}"
            found[f"{title}, {dtype.__name__}"] = compare(title, batches, rate, brief)
        chosen = np.random.default_rng(0).choice(sorted(there), mix)
        title, batches = f"{mix:,} of {len(there)} at random", lists([there[n] for n in chosen])
        found[f"{title}, {dtype.__name__}"] = compare(title, batches, rate, brief)
    print("times as fast as cuSPARSE's best on the block-diagonal matrix")
    for title, ratios in found.items():
        print(f"  {title:40}", *(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))
    for name in (name for kind in KINDS for name in of_kind(kind)):
        every = [ratios[name] for ratios in found.values() if name in ratios]
        mean, least = statistics.geometric_mean(every), min(every)
        print(f"  {name}: {mean:.2f} in the geometric mean, at least {least:.2f}")


def build(matrices: dict[str, Any], count: int) -> None:
    """Time `ev.batch` of SciPy's matrices beside np.concatenate of their arrays. Both the best of three."""
    rng = np.random.default_rng(0)
    small = [m for m in matrices.values() if m.nnz < 5000]
    for title, known, n in (("small", small, count), ("all", list(matrices.values()), count // 4)):
        items = [known[i].copy() for i in rng.integers(0, len(known), n)]
        parts = ([m.data for m in items], [m.indices for m in items], [m.indptr for m in items])
        ways: Calls = {
            "ev.batch": lambda items=items: ev.batch(items),
            "ev.batch, 32-bit columns": lambda items=items: ev.batch(items, narrow=False),
            "np.concatenate": lambda parts=parts: [np.concatenate(p) for p in parts],
        }
        print(f"{n:,} matrices ({title}), {sum(m.nnz for m in items):,} nonzeros")
        for name, way in ways.items():
            print(f"  {name:25} {min(seconds(way) for _ in range(3)):.3f} s", flush=True)


def seconds(way: Callable[[], Any]) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--matrices", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--mix", type=int, default=4_000)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--build", action="store_true")
    given = parser.parse_args()
    matrices = read(given.matrices)
    if given.build:
        build(matrices, given.count)
    else:
        from evenly.bench.gpu import GpuBench

        bench = GpuBench()
        rate = bench.rates().copy / 1e6
        with bench.active():
            run(matrices, given.count, given.mix, rate, given.brief)


if __name__ == "__main__":
    main()
