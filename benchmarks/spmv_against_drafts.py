"""Generated SpMV kernels against the same algorithms written by hand in CUDA C++.

    python benchmarks/spmv_against_drafts.py drafts.py [CSV]

`drafts.py` is a module with `TEN` (name -> function that makes offsets, columns, shape),
`module` (a CuPy RawModule with vector1..32, partition, merge_TxI and finish), `MERGES`,
`stream` and `graph_time`. Both sides are timed in replayed CUDA graphs, interleaved; a ratio
above 1 means that the generated kernel is slower. Needs a GPU and CuPy.
"""

from __future__ import annotations

import csv
import importlib.util
import math
import sys
from typing import Any

import cupy as cp
import numpy as np

import evenly as ev

GROUPS = (1, 2, 4, 8, 16, 32)
ROUNDS = 3


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("drafts", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_hand(drafts: Any, off: Any, idx: Any, val: Any, x: Any, y: Any) -> dict[str, Any]:
    """Launches of the hand-written kernels, by the name of the algorithm."""
    rows, nnz, i32 = off.size - 1, idx.size, np.int32
    launches: dict[str, Any] = {}
    for g in GROUPS:
        kernel = drafts.module.get_function(f"vector{g}")
        launches[f"group {g}"] = lambda k=kernel, g=g: k(
            ((rows * g + 255) // 256,), (256,), (off, idx, val, x, y, i32(rows))
        )
    for t, i in drafts.MERGES:
        blocks = (rows + nnz + t * i - 1) // (t * i)
        first, carry = cp.zeros(blocks + 1, cp.int32), cp.zeros(blocks, cp.float32)
        cut = drafts.module.get_function("partition")
        cut(
            ((blocks + 256) // 256,),
            (256,),
            (off, i32(rows), i32(nnz), i32(t * i), i32(blocks), first),
        )
        kernel, finish = (
            drafts.module.get_function(f"merge_{t}x{i}"),
            drafts.module.get_function("finish"),
        )

        def launch(
            kernel: Any = kernel,
            finish: Any = finish,
            blocks: int = blocks,
            t: int = t,
            first: Any = first,
            carry: Any = carry,
        ) -> None:
            kernel((blocks,), (t,), (off, idx, val, x, y, first, i32(rows), i32(nnz), carry))
            if blocks > 1:
                finish(((blocks + 255) // 256,), (256,), (first, carry, y, i32(blocks), i32(rows)))

        launches[f"merge {t}x{i}"] = launch
    return launches


def generated(drafts: Any, A: Any, x: Any, y: Any) -> dict[str, Any]:
    """Plans of the same algorithms, by the same names."""
    schedules = {f"group {g}": ev.ThreadMapped() if g == 1 else ev.GroupMapped(g) for g in GROUPS}
    schedules |= {f"merge {t}x{i}": ev.MergePath(block=t, items=i) for t, i in drafts.MERGES}
    launches = {}
    for name, schedule in schedules.items():
        plan = spmv.plan(A, x, y, schedule=schedule, target="cuda")
        launches[name] = lambda plan=plan: plan(A, x, y)
    return launches


def measure(drafts: Any, name: str, make: Any) -> list[dict[str, Any]]:
    off, idx, shape = make()
    rng = cp.random.default_rng(1)
    val, x = rng.random(idx.size, dtype=cp.float32), rng.random(shape[1], dtype=cp.float32)
    y, z = cp.full(shape[0], cp.nan, cp.float32), cp.full(shape[0], cp.nan, cp.float32)
    A = ev.csr((val, idx, off), shape=shape)
    cp.cuda.Device().synchronize()  # the stream does not wait for the default one
    with drafts.stream:
        theirs, ours = by_hand(drafts, off, idx, val, x, y), generated(drafts, A, x, z)
    cp.cuda.Device().synchronize()
    rows = []
    for algorithm in theirs:
        times: dict[str, list[float]] = {"hand": [], "evenly": []}
        for _ in range(ROUNDS):
            times["hand"].append(drafts.graph_time(theirs[algorithm]))
            times["evenly"].append(drafts.graph_time(ours[algorithm]))
        error = float(cp.abs(y - z).max()) if shape[0] else 0.0
        hand, mine = (float(np.median(times[k])) for k in ("hand", "evenly"))
        spread = max(max(v) / min(v) for v in times.values()) - 1
        rows.append(
            {
                "matrix": name,
                "algorithm": algorithm,
                "hand_us": hand,
                "evenly_us": mine,
                "ratio": mine / hand,
                "spread": spread,
                "difference": error,
            }
        )
    best = {side: min(rows, key=lambda r, s=side: r[f"{s}_us"]) for side in ("hand", "evenly")}
    print(
        f"{name:20s} best by hand {best['hand']['hand_us']:8.2f} us ({best['hand']['algorithm']})"
        f"  generated {best['evenly']['evenly_us']:8.2f} us ({best['evenly']['algorithm']}) | "
        + " ".join(
            f"{r['algorithm']}:{r['hand_us']:.1f}/{r['evenly_us']:.1f}={r['ratio']:.2f}"
            for r in rows
        ),
        flush=True,
    )
    return rows


def main() -> None:
    drafts = load(sys.argv[1])
    rows = [row for name, make in drafts.TEN.items() for row in measure(drafts, name, make)]
    for family in ("group 1", "group", "merge"):
        ratios = [
            r["ratio"]
            for r in rows
            if r["algorithm"].split(" ")[0] == family or r["algorithm"] == family
        ]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{family}: generated over hand-written, geomean {mean:.3f}, worst {max(ratios):.3f}")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
