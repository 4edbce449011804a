"""What a GPU counts of our kernels: the numbers that target simt's counters are held against.

    python benchmarks/counters_against_ncu.py --ncu --out ncu.csv       # every combination
    ncu ... python benchmarks/counters_against_ncu.py spmv merge_path rmat    # one, by hand

The first form runs Nsight Compute once a combination of kernel, schedule and matrix, and writes
a row a launch. Metrics that this ncu or this GPU does not know are left out, and said. Needs a
GPU whose counters may be read, ncu and CuPy. Clocks are left alone.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import cupy
import numpy as np

import evenly as ev
from evenly.interop.generators import rmat, stencil

LSU = "pipe_lsu_mem"
METRICS = (
    *(f"l1tex__t_sectors_{LSU}_global_op_{op}.sum" for op in ("ld", "st", "red", "atom")),
    *(f"l1tex__t_requests_{LSU}_global_op_{op}.sum" for op in ("ld", "st", "red", "atom")),
    *(f"l1tex__data_bank_conflicts_{LSU}_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"smsp__sass_inst_executed_op_shared_{op}.sum" for op in ("ld", "st")),
    *(f"smsp__sass_inst_executed_op_global_{op}.sum" for op in ("ld", "st", "red", "atom")),
    *(f"smsp__inst_executed_op_global_{op}.sum" for op in ("ld", "st", "red", "atom")),
    *(f"smsp__inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom")),
    *(f"smsp__sass_data_bytes_mem_global_op_{op}.sum" for op in ("ld", "st")),
    *(f"smsp__sass_data_bytes_mem_shared_op_{op}.sum" for op in ("ld", "st")),
    *(f"smsp__sass_l1tex_data_bank_conflicts_{LSU}_shared_op_{op}.sum" for op in ("ld", "st")),
    *(f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")),
    "smsp__sass_inst_executed_op_ldgsts.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
    "smsp__inst_executed_op_branch.sum",
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "smsp__sass_branch_targets_threads_uniform.sum",
    "gpu__time_duration.sum",
    "launch__registers_per_thread",
)
# Sums over the instructions of a kernel: `ncu --query-metrics` does not list them.
UNLISTED = (
    "smsp__branch_targets_threads_divergent",
    "smsp__branch_targets_threads_uniform",
    "memory_l1_tag_requests_global",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "inst_executed",
    "thread_inst_executed",
    "thread_inst_executed_true",
)
LAUNCH = ("Kernel Name", "Grid Size", "Block Size")
COLUMNS = ("kernel", "schedule", "matrix", "launch", *LAUNCH)


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def column_counts(A, counts):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(counts, A.column(k), 1)


@ev.kernel
def row_argmax(A, where):
    for row in A.tiles():
        best = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)
        where[row] = A.column(best) if best >= 0 else -1


# Arguments by the number of columns and rows; all matrices here are square.
KERNELS = {
    "spmv": (spmv, lambda n: (cupy.ones(n, np.float32), cupy.empty(n, np.float32))),
    "column_counts": (column_counts, lambda n: (cupy.zeros(n, np.int32),)),
    "row_argmax": (row_argmax, lambda n: (cupy.empty(n, np.int64),)),
}
SCHEDULES = {
    "thread_mapped": ev.ThreadMapped(),
    "warp_mapped": ev.WarpMapped(),
    "merge_path": ev.MergePath(),
    "group_mapped_8": ev.GroupMapped(8),
    "nonzero_split": ev.NonzeroSplit(),
}
MATRICES = {"stencil": lambda: stencil(128), "rmat": lambda: rmat(12)}


def combinations() -> Iterator[tuple[str, str, str]]:
    """(kernel, schedule, matrix): spmv under all, the others under a schedule of each engine."""
    for matrix in MATRICES:
        for schedule in SCHEDULES:
            yield "spmv", schedule, matrix
        for kernel in ("column_counts", "row_argmax"):
            for schedule in ("thread_mapped", "merge_path"):
                yield kernel, schedule, matrix


def run(kernel: str, schedule: str, matrix: str) -> None:
    """One combination on the GPU, once."""
    made, arguments = KERNELS[kernel]
    A = MATRICES[matrix]()
    made[SCHEDULES[schedule]].on("cuda")(ev.csr(A).to("cuda"), *arguments(A.shape[0]))
    cupy.cuda.Device().synchronize()


# ---- under ncu ----------------------------------------------------------------------------------
def known(chip: str) -> list[str]:
    """Those of METRICS that ncu lists for the chip; all of them where it lists none."""
    command = ["ncu", "--query-metrics", "--chips", chip]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    listed = set(re.findall(r"^\s*(\w+__\w+)", done.stdout, re.M))
    if not listed:
        print(f"ncu lists no metrics of {chip}: {(done.stderr or done.stdout).strip()[:300]}")
        return list(METRICS)
    return [m for m in METRICS if m.split(".")[0] in listed or m.startswith("launch__")]


def profile(combination: tuple[str, str, str], metrics: list[str]) -> tuple[str, str]:
    """What ncu says of a combination: its CSV, and everything that is none."""
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    command += ["--target-processes", "all", "--kernel-name", f"regex:{combination[0]}"]
    command += ["--metrics", ",".join(metrics), sys.executable, __file__, *combination]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines(keepends=True)
    table = "".join(line for line in lines if line.startswith('"'))
    return table, "".join(line for line in lines if not line.startswith('"')) + done.stderr


def accepted(combination: tuple[str, str, str], metrics: list[str]) -> list[str]:
    """Those metrics that ncu collects: what it calls unknown is left out, until it complains no more."""
    while metrics:
        table, said = profile(combination, metrics)
        if table:
            return metrics
        unknown = [m for m in metrics if re.search(rf"{re.escape(m)}(?![\w.])", said)]
        if not unknown:
            sys.exit(f"ncu profiles nothing: {said.strip()[-2000:]}")
        metrics = [m for m in metrics if m not in unknown]
    sys.exit("ncu knows none of the metrics")


def rows_of(table: str) -> Iterator[dict[str, str]]:
    """ncu's rows, a launch each, without the row of units and thousands separators."""
    for row in csv.DictReader(io.StringIO(table)):
        if row["ID"]:
            yield {k: re.sub(r"(?<=\d),(?=\d{3})", "", v) for k, v in row.items()}


def measured(metrics: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of the result, combination by combination; one that fails is said and passed over."""
    for combination in combinations():
        table, said = profile(combination, metrics)
        print(*combination, "" if table else f"FAILED: {said.strip()[-1000:]}", flush=True)
        for number, row in enumerate(rows_of(table)):
            found = dict(zip(COLUMNS, (*combination, number), strict=False))
            yield found | {name: row.get(name, "") for name in (*LAUNCH, *metrics)}


def write(path: str, metrics: list[str], rows: Iterable[dict[str, Any]]) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *metrics], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            file.flush()  # what is there stays there if time runs out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("combination", nargs="*", help="kernel, schedule and matrix to run once")
    parser.add_argument("--ncu", action="store_true", help="profile every combination")
    parser.add_argument("--out", default="ncu.csv", help="the CSV to write")
    parser.add_argument("--chip", default="gh100", help="the chip, as ncu calls it")
    options = parser.parse_args()
    if not options.ncu:
        return run(*options.combination)
    asked = [*known(options.chip), *UNLISTED]
    metrics = accepted(next(combinations()), asked)
    left_out = sorted({*METRICS, *UNLISTED} - set(metrics))
    print(f"{len(metrics)} metrics; not known here: {', '.join(left_out) or 'none'}", flush=True)
    write(options.out, metrics, measured(metrics))


if __name__ == "__main__":
    main()
