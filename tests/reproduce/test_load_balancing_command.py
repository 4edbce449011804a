"""`evenly reproduce load-balancing` from end to end, on the CPU: matrices, tables, CSV files, figures and a status."""

from __future__ import annotations

import csv
import dataclasses

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evenly.bench import peers
from evenly.bench.case import case_of
from evenly.bench.contender import KERNELS
from evenly.bench.cpu import CpuBench
from evenly.bench.matrices import Source
from evenly.bench.record import COLUMNS
from evenly.interop.generators import uniform
from evenly.reproduce.experiment import Site
from evenly.reproduce.flexible_batched.matrices import with_lengths
from evenly.reproduce.load_balancing import matrices
from evenly.reproduce.load_balancing.rule import MERGE, RULE, THREAD
from evenly.reproduce.load_balancing.sweep import DTYPE, NAMES, SCHEDULES, Sweep, rows_of
from evenly.schedules import WarpMapped

QUICK = "reproduce", "load-balancing", "--quick", "--target", "cpu"


class Elsewhere:
    target = "cuda"
    clock = KERNELS


def test_generated_matrices_are_smaller_on_a_cpu(site):
    names = [source.name for source in matrices.generated(None)]
    assert len(set(names)) == len(names) == 20
    on_cpu = [
        source.name for source in matrices.chosen(dataclasses.replace(site, quick=False, kept={}))
    ]
    assert set(on_cpu) < set(names) and "rmat-19" not in on_cpu
    assert [source.name for source in matrices.chosen(site)] == names[: matrices.FEW]
    assert all(source.make().shape[0] <= matrices.MOST_ON_CPU for source in matrices.chosen(site))


@pytest.fixture
def folder(tmp_path):
    """Two matrices, and one without nonzeros."""
    made = tmp_path / "matrices"
    made.mkdir()
    rng = np.random.default_rng(1)
    for name, rows, length in (("first", 300, 5), ("second", 600, 20)):
        scipy.io.mmwrite(made / f"{name}.mtx", with_lengths([length] * rows, rows, rng))
    scipy.io.mmwrite(made / "empty.mtx", sp.coo_array((3, 3)))
    return made


def test_every_figure(evenly, folder, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "results"
    ran = evenly(*QUICK, "--matrices", folder, "--out", out)
    assert (ran.status, ran.err) == (0, "")
    assert [line.partition(":")[0] for line in ran.lines if line.startswith(("Table", "Figure"))] == [
        "Table 1", "Figure 2", "Figure 3", "Figure 4",
    ]  # fmt: skip
    assert "It has 0 of these 3 matrices." in ran.out
    told = "  left out: all of them, empty: empty: expected a matrix with nonzeros, got none"
    assert ran.lines.count(told) == 2  # in Figures 3 and 4
    assert "  not measured: kernels by hand run on a GPU" in ran.lines
    names = {path.name for path in out.iterdir()}
    assert names == {
        "table-1.csv",
        *(f"figure-{n}.csv" for n in (2, 3, 4)),
        "figure-3.svg",
        "figure-4.svg",
    }
    with (out / "figure-3.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    for matrix, nonzeros in (("first", "1500"), ("second", "12000")):
        here = [r for r in rows if r["matrix"] == matrix]
        assert {r["contender"] for r in here} == {*map(str, SCHEDULES), "SciPy"}
        assert {r["nnz"] for r in here} == {nonzeros} and {r["wrong"] for r in here} == {"0"}
    with (out / "figure-4.csv").open() as file:
        detail = {(r["matrix"], r["contender"]): r["detail"] for r in csv.DictReader(file)}
    assert detail["first", RULE] == NAMES[THREAD] and detail["second", RULE] == NAMES[MERGE]


def test_a_wrong_result_gives_the_status(evenly, folder, monkeypatch):
    right = peers.SciPy.__call__
    monkeypatch.setattr(peers.SciPy, "__call__", lambda self: right(self) * np.float32(1.01))
    ran = evenly(*QUICK, "--matrices", folder, "--figure", "4")
    assert ran.status == 1
    assert "  WRONG: SciPy, first: 300 entries of y" in ran.lines


def test_a_matrix_is_measured_once(folder):
    site = Site(CpuBench(), str(folder), quick=True)
    (first,) = (source for source in matrices.chosen(site) if source.name == "first")
    assert rows_of(site, first) is rows_of(site, first)


def test_too_little_memory_leaves_the_others(folder, monkeypatch):
    site = Site(CpuBench(), str(folder), quick=True)

    def load(self, case):
        raise MemoryError

    monkeypatch.setattr(CpuBench, "load", load)
    (found,) = rows_of(site, matrices.chosen(site)[-1])
    assert found.note == "not enough memory"


def test_who_takes_part_on_a_gpu(site):
    """Without one, each has a reason to be left out; what counts is who they are."""
    sweep = Sweep(site)
    case = case_of(Source("m", "file", lambda: uniform(50, 4)), DTYPE)
    live = site.place.load(case)
    sweep.place = Elsewhere()
    names = [found.name for found in sweep.contenders(live, 0.0)]
    hand = [f"hand: {name}" for name in (NAMES[THREAD], str(WarpMapped()), NAMES[MERGE])]
    assert names == ["auto", *map(str, SCHEDULES), *hand, "cuSPARSE CSR ALG1", "cuSPARSE CSR ALG2"]


@pytest.mark.gpu
def test_on_a_gpu(evenly, folder):
    pytest.importorskip("cupy")
    ran = evenly("reproduce", "load-balancing", "--quick", "--matrices", folder)
    assert ran.status == 0
    for schedule in ("ThreadMapped", "WarpMapped", "MergePath"):
        assert sum(line.startswith(f"  {schedule}(") for line in ran.lines) >= 2  # Figures 2 and 3
