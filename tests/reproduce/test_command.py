"""`evenly reproduce` from end to end, on the CPU: tables, CSV files, figures and a status out."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import scipy.io

from evenly.bench import peers
from evenly.cli import reproduce_run
from evenly.reproduce import TABLE, curves, find
from evenly.reproduce.flexible_batched import figures
from evenly.reproduce.flexible_batched.kernels import KERNELS
from evenly.reproduce.flexible_batched.matrices import with_lengths

QUICK = "reproduce", "flexible-batched", "--quick", "--target", "cpu"


@pytest.fixture
def folder(tmp_path):
    """A folder with one of the paper's matrices."""
    made = tmp_path / "matrices"
    made.mkdir()
    lengths = np.arange(989) % 7
    matrix = with_lengths(lengths, 989, np.random.default_rng(4))
    scipy.io.mmwrite(made / "west0989.mtx", matrix)
    return made


def test_every_figure(evenly, folder, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "made" / "results"
    ran = evenly(*QUICK, "--matrices", folder, "--out", out)
    assert (ran.status, ran.err) == (0, "")
    assert [n for n in range(3, 8) if f"\nFigure {n}, GFLOP/s: " in ran.out] == [3, 4, 5, 6, 7]
    assert "Matrices: 1 of the paper's 32 from files, 31 stand-ins (" in ran.out
    labels = {line.split("  ")[1] for line in ran.lines if line.startswith(("  west", "  G45"))}
    assert {label.strip() for label in labels} == {"west0989", "G45 (stand-in)"}
    files = {path.name for path in out.iterdir()}
    assert files == {f"figure-{n}.csv" for n in range(3, 8)} | {
        "figure-3.svg", "figure-4.svg", "figure-5.svg", "figure-6-gflop.svg", "figure-6-gb.svg",
        "figure-7-gflop.svg", "figure-7-gb.svg",
    }  # fmt: skip
    assert all(f"written: {out / name}" in ran.lines for name in files)
    with (out / "figure-3.csv").open() as file:
        rows = list(csv.DictReader(file))
    curve = {row["curve"] for row in rows if row["rounds"] != "0"}
    assert {"auto", "by items", "diagonal", "loop", "ELL"} <= curve
    assert {row["curve"] for row in rows} >= {kernel.name for kernel in KERNELS}
    for row in rows:
        assert row["wrong"] == "0" and (row["rounds"] == "0") == bool(row["note"])
        if row["us"] != "0":
            flops = 2 * int(row["nonzeros"]) / float(row["us"]) / 1e3
            assert float(row["gflop_per_s"]) == pytest.approx(flops, rel=1e-4)
            rate = int(row["bytes"]) / float(row["us"]) / 1e3
            assert float(row["gb_per_s"]) == pytest.approx(rate, rel=1e-4)
    ell = next(row for row in rows if row["curve"] == "ELL" and row["case"] == "west0989")
    assert int(ell["stored"]) == 989 * 6 > int(ell["nonzeros"])


def test_one_figure_without_files(evenly):
    ran = evenly(*QUICK, "--figure", "6")
    assert ran.status == 0
    assert "Matrices: 0 of the paper's 32 from files, 32 stand-ins (all of them)." in ran.out
    assert "\nFigure 6, GB/s: " in ran.out and "Figure 3" not in ran.out
    assert "--quick: " in ran.out and "written" not in ran.out
    assert "cannot tell" in ran.lines[-1]


def test_a_wrong_result_is_told(evenly, monkeypatch):
    right = peers.SciPy.__call__
    calls = []

    def wrong(self):
        calls.append(1)
        return right(self) * (1 if len(calls) == 1 else 1 + 1e-9)  # the first one is the reference

    monkeypatch.setattr(peers.SciPy, "__call__", wrong)
    ran = evenly(*QUICK, "--figure", "6")
    assert ran.status == 1
    assert any(line.startswith("  WRONG: SciPy, mix of the 12, 4: ") for line in ran.lines)


def test_a_batch_that_does_not_fit_leaves_the_others(evenly, monkeypatch):
    make = figures.problem

    def problem(site, case, at, items, *others):
        if len(items) == 12:
            raise MemoryError
        return make(site, case, at, items, *others)

    monkeypatch.setattr(figures, "problem", problem)
    ran = evenly(*QUICK, "--figure", "6")
    assert ran.status == 0
    assert "  left out: all of them, mix of the 12 (12): not enough memory" in ran.lines


def test_without_matplotlib(evenly, monkeypatch, tmp_path):
    monkeypatch.setattr(curves, "available", lambda: False)
    ran = evenly(*QUICK, "--figure", "6", "--out", tmp_path)
    assert ran.status == 0
    assert ran.lines[-1].startswith("no figures are drawn: Matplotlib is not installed")
    assert [path.name for path in tmp_path.iterdir()] == ["figure-6.csv"]


ERRORS = {
    "flexible-batch": "NAME: expected one of dynamic-load-balancing, flexible-batched, load-balancing, got 'flexible-batch'; hint: did you mean",
    "flexible-batched --figure 2": "--figure: expected one of 3, 4, 5, 6, 7, got '2'",
    "flexible-batched --target gpu": "--target: expected one of auto, cpu, cuda, got 'gpu'",
    "flexible-batched --target cpu --matrices nowhere": "nowhere: expected a folder with matrices",
    "flexible-batched --out file": "--out: expected a folder for results, got file exists",
}


@pytest.mark.parametrize("line", ERRORS)
def test_errors(evenly, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    ran = evenly("reproduce", *line.split())
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"evenly: {ERRORS[line]}") and ran.err.count("\n") == 1, ran.err


def test_the_table_and_the_help(evenly):
    said = evenly("reproduce", "--help").out
    for name in TABLE:
        assert find(name).figures and name in said
    assert reproduce_run.figures(find("flexible-batched"), (7, 4))[0].number == 4
