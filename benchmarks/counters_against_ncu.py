"""What a GPU counts of our kernels, and what target simt counts: how well the two agree.

    python benchmarks/counters_against_ncu.py --ncu --out counters.csv     # every combination, on a GPU
    python benchmarks/counters_against_ncu.py --compare counters.csv       # a table; needs no GPU
    ncu ... python benchmarks/counters_against_ncu.py spmv merge_path rmat    # one, by hand

The first form runs Nsight Compute once a combination of kernel, schedule and matrix, and writes
a row a launch. Metrics that this ncu or this GPU does not know are left out, and said. It needs
a GPU whose counters may be read, ncu and CuPy. Clocks are left alone. The second form runs the
same launches on target simt and prints what that counts, beside how far it is from ncu's.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly.interop.generators import rmat, stencil

GLOBAL = "pipe_lsu_mem_global_op"
SHARED = "pipe_lsu_mem_shared_op"
SASS_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op"


class Quantity(NamedTuple):
    """What is compared: the sum of some fields of our counters, and of some metrics of ncu less others."""

    ours: tuple[str, ...]
    metrics: tuple[str, ...]
    less: tuple[str, ...] = ()


ATOMICS = ("red", "atom")  # whose old value is thrown away, and others
# `l1tex__data_bank_conflicts_...` counts passes that are lost to other traffic of the L1, too (a kernel whose lanes all
# read one word shows some): what instructions need is in ncu's source counters.
COMPARED = {
    "load requests": Quantity(("global_load_requests",), (f"l1tex__t_requests_{GLOBAL}_ld.sum",)),
    "load sectors": Quantity(("global_load_sectors",), (f"l1tex__t_sectors_{GLOBAL}_ld.sum",)),
    "store requests": Quantity(("global_store_requests",), (f"l1tex__t_requests_{GLOBAL}_st.sum",)),
    "store sectors": Quantity(("global_store_sectors",), (f"l1tex__t_sectors_{GLOBAL}_st.sum",)),
    "atomic requests": Quantity(
        ("global_atomic_requests",), tuple(f"l1tex__t_requests_{GLOBAL}_{a}.sum" for a in ATOMICS)
    ),
    "atomic sectors": Quantity(
        ("global_atomic_sectors",), tuple(f"l1tex__t_sectors_{GLOBAL}_{a}.sum" for a in ATOMICS)
    ),
    "shared load wavefronts": Quantity(("shared_load_wavefronts",), (f"{SASS_WAVEFRONTS}_ld.sum",)),
    "shared store wavefronts": Quantity(
        ("shared_store_wavefronts",), (f"{SASS_WAVEFRONTS}_st.sum",)
    ),
    "bank conflicts": Quantity(
        ("shared_load_conflicts", "shared_store_conflicts"),
        ("memory_l1_wavefronts_shared",),
        less=("memory_l1_wavefronts_shared_ideal",),
    ),
    "bank conflicts, by the L1": Quantity(
        ("shared_load_conflicts", "shared_store_conflicts"),
        tuple(f"l1tex__data_bank_conflicts_{SHARED}_{op}.sum" for op in ("ld", "st")),
    ),
    "divergent branches": Quantity(
        ("divergent_branches",), ("smsp__sass_branch_targets_threads_divergent.sum",)
    ),
}
METRICS = tuple(dict.fromkeys(m for q in COMPARED.values() for m in (*q.metrics, *q.less)))
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


# Arguments by NumPy or CuPy and the number of columns and rows; all matrices here are square.
KERNELS = {
    "spmv": (spmv, lambda xp, n: (xp.ones(n, np.float32), xp.empty(n, np.float32))),
    "column_counts": (column_counts, lambda xp, n: (xp.zeros(n, np.int32),)),
    "row_argmax": (row_argmax, lambda xp, n: (xp.empty(n, np.int64),)),
}
SCHEDULES = {
    "thread_mapped": ev.ThreadMapped(),
    "warp_mapped": ev.WarpMapped(),
    "merge_path": ev.MergePath(items=4),
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
    import cupy

    made, arguments = KERNELS[kernel]
    A = MATRICES[matrix]()
    made[SCHEDULES[schedule]].on("cuda")(ev.csr(A).to("cuda"), *arguments(cupy, A.shape[0]))
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
    # Source counters (memory_...) are not listed; `accepted` finds out about these.
    return [m for m in METRICS if m.split(".")[0] in listed or m.startswith("memory_")]


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


# ---- beside simt --------------------------------------------------------------------------------
class Agreement(NamedTuple):
    """A quantity of a launch, as target simt counts it and as ncu does."""

    launch: str
    quantity: str
    ours: int
    theirs: int

    @property
    def deviation(self) -> float:
        return (self.ours - self.theirs) / max(self.theirs, 1)


def read(path: str) -> dict[tuple[str, str, str], list[dict[str, str]]]:
    """The rows that `write` wrote, by combination, in the order of launches."""
    found: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["kernel"], row["schedule"], row["matrix"]), []).append(row)
    return found


def compared(combination: tuple[str, str, str], rows: list[dict[str, str]]) -> Iterator[Agreement]:
    """A combination on target simt, beside ncu's rows of it: what either of the two has seen."""
    kernel, schedule, matrix = combination
    made, arguments = KERNELS[kernel]
    A = MATRICES[matrix]()
    call = made[SCHEDULES[schedule]].on("simt")
    # What a plain call launches, as ncu saw it: a plan that was asked for keeps partitions, and searches none.
    plan = call._prepare((ev.csr(A), *arguments(np, A.shape[0])))
    for counters, row in zip(plan.counters(), rows, strict=True):
        for name, quantity in COMPARED.items():
            ours = sum(counters.totals[field] for field in quantity.ours)
            theirs = sum(int(row[m]) for m in quantity.metrics if row.get(m))
            theirs -= sum(int(row[m]) for m in quantity.less if row.get(m))
            if ours or theirs:
                yield Agreement(counters.kernel, name, ours, theirs)


def table(path: str) -> Iterator[str]:
    """Markdown: a line a launch, a column a quantity; our count, and how far it is from ncu's."""
    yield f"| launch | {' | '.join(COMPARED)} |"
    yield "| --- |" + " --- |" * len(COMPARED)
    for combination, rows in read(path).items():
        launches: dict[str, dict[str, str]] = {}
        for a in compared(combination, rows):
            off = f"{a.deviation:+.1%}" if a.theirs else f"of {a.theirs}"
            said = "=" if a.ours == a.theirs else off
            launches.setdefault(a.launch, {})[a.quantity] = f"{a.ours:,} {said}"
        for launch, cells in launches.items():
            name = ", ".join((launch, *combination[1:]))
            yield f"| {name} | {' | '.join(cells.get(q, '') for q in COMPARED)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("combination", nargs="*", help="kernel, schedule and matrix to run once")
    parser.add_argument("--ncu", action="store_true", help="profile every combination")
    parser.add_argument("--compare", metavar="CSV", help="set simt's counters beside this file's")
    parser.add_argument("--out", default="ncu.csv", help="the CSV to write")
    parser.add_argument("--chip", default="gh100", help="the chip, as ncu calls it")
    options = parser.parse_args()
    if options.compare:
        for line in table(options.compare):
            print(line)
    elif options.ncu:
        metrics = accepted(next(combinations()), known(options.chip))
        left_out = ", ".join(sorted(set(METRICS) - set(metrics)))
        print(f"{len(metrics)} metrics; not known here: {left_out or 'none'}", flush=True)
        write(options.out, metrics, measured(metrics))
    else:
        run(*options.combination)


if __name__ == "__main__":
    main()
