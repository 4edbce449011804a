"""Versions of the device headers side by side: does a change of an engine pay, and where?

    python benchmarks/engine_versions.py --files FOLDER \\
        --schedules "NonzeroSplit(128, 11); MergePath(512, 4, min_blocks=3, carveout=7)" \\
        --matrices "rmat-18; dense-rows-20; arrow" BEFORE AFTER

BEFORE, AFTER and any more are folders with a version of src/evenly/targets/gpu/device each. An SpMV in float32 and
float64, of matrices of the bench, of the folder of files, and R-MAT of other scales, under every schedule with every
version, all in one process, interleaved, each result checked: the least microseconds of some rounds, and their ratio to
those of the first version. All is compiled first, by many processes. Needs a GPU and CuPy.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
import scipy.sparse

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.bench.matrices import in_type, sources
from evenly.fitting.tasks import Named, compile_ahead, small
from evenly.interop.generators import rmat
from evenly.targets.gpu import headers
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import WARM, measure

TYPES = ("float32", "float64")
ROUNDS = 9


def use(version: Path) -> None:
    """From now on kernels are emitted with these headers."""
    headers.FOLDER = version
    headers.text.cache_clear()


def compiled(job: tuple[Path, Any, str]) -> None:
    version, schedule, dtype = job
    use(version)
    kernel, given = small(Named("spmv", dtype))
    compile_ahead(kernel.copy(), given, schedule, "sm_90")


def matrix_of(name: str, files: str | None) -> Any:
    if name.startswith("rmat-"):
        return rmat(int(name.removeprefix("rmat-")))
    return sources(files, [name])[0].make()


def times(matrix: Any, versions: Sequence[Path], schedules: Sequence[Any]) -> dict[str, float]:
    """Microseconds by version and schedule."""
    A = ev.csr(matrix).to("cuda")
    x = cp.random.random(matrix.shape[1]).astype(matrix.dtype)
    y = cp.empty(matrix.shape[0], matrix.dtype)
    expected = in_type(matrix, np.float64) @ x.get().astype(np.float64)
    clocks = {}  # by the text of both, as `measure` wants it
    for version, schedule in itertools.product(versions, schedules):
        use(version)
        plan = spmv_rows.copy().plan(A, x, y, schedule=schedule)
        y.fill(np.nan)
        plan(A, x, y)
        np.testing.assert_allclose(y.get(), expected, rtol=1e-3, atol=1e-5)
        clocks[f"{version} {schedule}"] = GraphClock(plan.launches)
    samples = measure(clocks, rounds=ROUNDS)
    return {name: min(samples[name, WARM].times) for name in clocks}


def listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(";")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="+", type=Path, help="folders of device headers")
    parser.add_argument("--schedules", required=True, help="with a semicolon between them")
    parser.add_argument("--matrices", required=True, help="names, with a semicolon between them")
    parser.add_argument("--files", help="a folder of matrices")
    given = parser.parse_args()
    schedules = [eval(text, vars(ev)) for text in listed(given.schedules)]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        pool.map(compiled, list(itertools.product(given.versions, schedules, TYPES)), chunksize=2)
    for name, dtype in itertools.product(listed(given.matrices), TYPES):
        matrix = in_type(scipy.sparse.csr_array(matrix_of(name, given.files)), dtype)
        print(f"{name} {dtype} {matrix.nnz:,} nonzeros")
        least = times(matrix, given.versions, schedules)
        for schedule in schedules:
            each = [least[f"{version} {schedule}"] for version in given.versions]
            told = "  ".join(f"{us:8.2f} {us / each[0]:.3f}" for us in each)
            print(f"    {schedule!s:64} {told}", flush=True)


if __name__ == "__main__":
    main()
