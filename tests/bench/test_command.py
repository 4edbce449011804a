"""`evenly bench` from end to end, on the CPU: files in, times, figures and a status out."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from evenly.bench import peers, record
from evenly.cli import corpus
from evenly.cli.bench_run import left_out


def test_from_files_to_figures(evenly, folder, tmp_path):
    csv, figures = tmp_path / "run.csv", tmp_path / "figures"
    only = ["--only", "first", "--only", "deep/second"]
    ran = evenly(
        "bench", "spmv", folder, "--target", "cpu", *only, "--csv", csv, "--plots", figures
    )
    assert (ran.status, ran.err) == (0, "")
    rows = record.read(str(csv))
    assert {row.matrix for row in rows} == {"first", "deep/second"}
    timed = [row for row in rows if row.rounds]
    assert {
        "auto",
        "SciPy",
        "ev.spmv",
        "MergePath(block=256, items=3, min_blocks=0, carveout=-1)",
    } <= {r.contender for r in timed}
    assert all(r.us_min <= r.us <= r.us_max and r.wrong == 0 and r.cache == "warm" for r in timed)
    assert all(r.share == pytest.approx(r.floor_us / r.us, rel=1e-4) for r in timed)
    auto = next(row for row in rows if row.family == "auto")
    assert auto.detail.endswith(")")
    if importlib.util.find_spec("sparse_dot_mkl") is None:
        assert [r.note for r in rows if r.contender == "MKL"] == [
            "sparse_dot_mkl is not installed"
        ] * 2
        assert ran.out.count("left out: MKL") == 1
    assert "auto against SciPy" in ran.out
    assert sorted(p.name for p in figures.iterdir()) == ["landscape.svg", "speedup.svg"]


def test_replot_says_the_same_again(evenly, folder, tmp_path):
    csv = tmp_path / "run.csv"
    ran = evenly("bench", "spmv", folder, "--target", "cpu", "--only", "third", "--csv", csv)
    again = evenly("bench", "replot", csv, tmp_path / "figures")
    assert again.status == 0
    assert (tmp_path / "figures" / "speedup.svg").exists()
    table = [line for line in ran.lines if "against SciPy" in line]
    assert table and set(table) <= set(again.lines)


def test_float64(evenly, folder, tmp_path):
    csv = tmp_path / "run.csv"
    arguments = ("--target", "cpu", "--only", "first", "--csv", csv, "--dtype", "float64")
    assert evenly("bench", "spmv", folder, *arguments).status == 0
    assert {row.dtype for row in record.read(str(csv))} == {"float64"}


def test_a_wrong_result_is_told_and_counts_nowhere(evenly, folder, tmp_path, monkeypatch):
    right = peers.SciPy.__call__
    monkeypatch.setattr(peers.SciPy, "__call__", lambda self: right(self) * np.float32(1.01))
    csv = tmp_path / "run.csv"
    ran = evenly("bench", "spmv", folder, "--target", "cpu", "--only", "first", "--csv", csv)
    assert ran.status == 1
    assert "WRONG: SciPy (" in ran.out
    assert "auto against SciPy" not in ran.out
    assert any(row.wrong for row in record.read(str(csv)) if row.contender == "SciPy")


def test_a_copy_of_old_values_is_found_out(evenly, folder, monkeypatch):
    """Contenders are made on one set of values and checked on another."""

    class Copies(peers.SciPy):
        def __init__(self, live):
            super().__init__(live)
            self.A = self.A.copy()
            self.A.data = live.sets[0][0].copy()

    monkeypatch.setattr(peers, "SciPy", Copies)
    ran = evenly("bench", "spmv", folder, "--target", "cpu", "--only", "first")
    assert ran.status == 1 and "WRONG: SciPy (" in ran.out


def test_a_library_that_breaks_is_left_out(evenly, folder, tmp_path, monkeypatch):
    def breaks(self):
        raise RuntimeError("status 7")

    monkeypatch.setattr(peers.SciPy, "__call__", breaks)
    csv = tmp_path / "run.csv"
    ran = evenly("bench", "spmv", folder, "--target", "cpu", "--only", "first", "--csv", csv)
    assert ran.status == 0
    assert "left out: SciPy (RuntimeError: status 7)" in ran.out
    (left,) = [row for row in record.read(str(csv)) if row.contender == "SciPy"]
    assert (left.note, left.rounds) == ("RuntimeError: status 7", 0)


def test_those_left_out_for_one_reason_are_named_together_or_counted():
    assert left_out("out of time", ["a", "b"]) == "  left out: a, b (out of time)"
    assert left_out("out of time", list("abcd")) == "  left out: 4 contenders (out of time)"


def test_a_bad_file_leaves_the_others(evenly, folder):
    (folder / "bad.mtx").write_text("nothing")
    only = ["--only", "bad", "--only", "first"]
    ran = evenly("bench", "spmv", folder, "--target", "cpu", *only)
    assert ran.status == 0
    assert any(line.startswith("bad ") and "left out: " in line for line in ran.lines)
    ran = evenly("bench", "spmv", folder, "--target", "cpu", "--only", "bad")
    assert ran.status == 2 and "expected a Matrix Market file" in ran.err


def test_out_of_time(evenly, folder, monkeypatch):
    monkeypatch.setattr(corpus, "deadline", lambda end, left: end)
    clock = iter([0.0, 1.0, 100.0, 100.0])
    monkeypatch.setattr(corpus.time, "monotonic", lambda: next(clock, 100.0))
    names = ["--only", "first", "--only", "third"]
    ran = evenly("bench", "spmv", folder, "--target", "cpu", *names, "--seconds", "10")
    assert ran.status == 0
    assert "out of time: 1 matrices are left out" in ran.out


ERRORS = {
    "spmv nowhere": "nowhere: expected a folder with matrices (.mtx, .mtx.gz, .mtx.bz2, .npz), got no such folder",
    "spmv --dtype float16": "--dtype: expected one of float32, float64, got 'float16'",
    "spmv --target gpu": "--target: expected one of auto, cpu, cuda, got 'gpu'",
    "spmv --seconds 0": "--seconds: expected 1 or more, got 0",
    "spmv --only rmat18": "--only: expected one of band-64, dense-rows-20, four-a-row-1138, one-a-row-4M, rmat-18, rmat-20, rmat-22, stencil-2048, ten-a-row-100k, uniform-16, got 'rmat18'; hint: did you mean 'rmat-18'?",
    "spmv --csv nowhere/run.csv --target cpu": "nowhere/run.csv: expected a CSV file to write, got no such file or directory",
    "replot nowhere.csv out": "nowhere.csv: expected a CSV file of `evenly bench spmv`, got no such file or directory",
    "spvm": "no such command 'spvm'",
}  # fmt: skip


@pytest.mark.parametrize("line", ERRORS)
def test_errors(evenly, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = evenly("bench", *line.split())
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"evenly: {ERRORS[line]}") and ran.err.count("\n") == 1, ran.err


def test_help(evenly):
    assert "replot" in evenly("bench").out
    assert "--seconds" in evenly("bench", "spmv", "--help").out
