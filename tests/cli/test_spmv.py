"""`evenly spmv`: what it prints, and its status."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evenly.cli import problem
from evenly.schedules import TABLE as SCHEDULES

NUMBER = r"\d+\.\d{6}"
LAYOUTS = ["csr", "csc", "coo", "ell", "bcsr", "dia"]


def test_the_artifacts_lines(evenly, small):
    ran = evenly("spmv", small, "--schedule", "merge_path", "--validate")
    assert (ran.status, ran.err) == (0, "")
    assert re.fullmatch(rf"Elapsed \(ms\): {NUMBER}", ran.lines[0])
    assert ran.lines[1:] == ["Matrix: small.mtx", "Dimensions: 40 x 30 (117)", "Errors: 0"]


def test_without_validation_there_is_no_count(evenly, small):
    ran = evenly("spmv", small, "--schedule", "merge_path")
    assert ran.status == 0
    assert [line.partition(":")[0] for line in ran.lines] == [
        "Elapsed (ms)",
        "Matrix",
        "Dimensions",
    ]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_schedules_and_layouts(evenly, small, schedule, layout):
    options = ["--schedule", schedule, "--layout", layout, "--target", "cpu", "--repeat", 1]
    ran = evenly("spmv", small, *options, "--validate")
    assert (ran.status, ran.lines[-1]) == (0, "Errors: 0")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_targets_and_types(evenly, small, layout, target, dtype):
    options = ["--layout", layout, "--target", target, "--dtype", dtype, "--repeat", 1]
    ran = evenly("spmv", small, *options, "--validate")
    assert (ran.status, ran.lines[-1]) == (0, "Errors: 0")


def test_tuned_measures_and_says_what_it_found(evenly, small, winners_file, sure):
    options = "--schedule", "tuned", "--target", "cpu", "--validate", "--repeat", 1
    ran = evenly("spmv", small, *options)
    assert (ran.status, ran.lines[-1]) == (0, "Errors: 0")
    found = re.fullmatch(
        r"evenly: tuned chose (\w+) on cpu: the fastest of (\d+) measured, as .+\n", ran.err
    )
    assert found[1] in SCHEDULES
    assert 0 < int(found[2]) <= len(SCHEDULES)
    assert evenly("spmv", small, *options).err == ran.err  # by now it is remembered


def test_tuned_needs_times_that_mean_something(evenly, small):
    ran = evenly("spmv", small, "--schedule", "tuned", "--target", "python")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "evenly: schedule: expected target 'cuda' or 'cpu', whose times mean something, got 'tuned' for "
        "target 'python'; hint: schedule=\"auto\" chooses without measuring\n"
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "complex128"])
@pytest.mark.parametrize("layout", ["csr", "coo", "dia"])
def test_more_types(evenly, small, layout, dtype):
    options = ["--schedule", "merge_path", "--layout", layout, "--target", "cpu", "--repeat", 1]
    ran = evenly("spmv", small, *options, "--dtype", dtype, "--validate")
    assert (ran.status, ran.lines[-1]) == (0, "Errors: 0"), ran.err


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_and_hermitian_files(evenly, tmp_path, dtype):
    path = tmp_path / "a.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 -5\n"
    )
    ran = evenly("spmv", path, "--target", "python", "--dtype", dtype, "--validate")
    assert (ran.status, ran.lines[-2:]) == (0, ["Dimensions: 2 x 2 (3)", "Errors: 0"])


def test_all_is_a_line_a_schedule(evenly, small):
    ran = evenly("spmv", small, "--schedule", "all", "--validate", "--repeat", 2)
    assert (ran.status, ran.err) == (0, "")
    count = len(SCHEDULES)
    assert re.fullmatch(r"Schedule +Elapsed \(ms\)  Errors", ran.lines[0])
    for name, line in zip(SCHEDULES, ran.lines[1:], strict=False):
        assert re.fullmatch(rf"{name} +{NUMBER} +0", line)
    assert ran.lines[count + 1 :] == ["Matrix: small.mtx", "Dimensions: 40 x 30 (117)", "Errors: 0"]
    assert len({len(line) for line in ran.lines[: count + 1]}) == 1


def test_auto_says_what_it_chose(evenly, small):
    ran = evenly("spmv", small)
    assert ran.status == 0
    name = re.fullmatch(r"evenly: auto chose (\w+) on \w+: .+\n", ran.err)[1]
    assert name in SCHEDULES
    assert ran.lines[0].startswith("Elapsed (ms): ")


@pytest.mark.parametrize("ending", [".gz", ".bz2"])
def test_compressed_files(evenly, small, tmp_path, ending):
    import bz2

    packed = tmp_path / f"small.mtx{ending}"
    with (
        small.open("rb") as source,
        {".gz": gzip, ".bz2": bz2}[ending].open(packed, "wb") as target,
    ):
        shutil.copyfileobj(source, target)
    ran = evenly("spmv", packed, "--schedule", "merge_path", "--validate")
    assert (ran.status, ran.lines[1:]) == (
        0, [f"Matrix: small.mtx{ending}", "Dimensions: 40 x 30 (117)", "Errors: 0"],
    )  # fmt: skip


HEADER = "%%MatrixMarket matrix coordinate {} {}\n"
FILES = {
    "empty (0 x 0)": (HEADER.format("real", "general") + "0 0 0\n", "0 x 0 (0)"),
    "no rows": (HEADER.format("real", "general") + "0 5 0\n", "0 x 5 (0)"),
    "no columns": (HEADER.format("real", "general") + "5 0 0\n", "5 x 0 (0)"),
    "no nonzeros": (HEADER.format("real", "general") + "5 4 0\n", "5 x 4 (0)"),
    "one entry": (HEADER.format("real", "general") + "1 1 1\n1 1 2.5\n", "1 x 1 (1)"),
    "pattern": (HEADER.format("pattern", "general") + "2 3 2\n1 1\n2 3\n", "2 x 3 (2)"),
    "integer": (HEADER.format("integer", "general") + "2 3 2\n1 1 7\n2 3 -7\n", "2 x 3 (2)"),
    "symmetric": (HEADER.format("real", "symmetric") + "2 2 2\n1 1 1\n2 1 1\n", "2 x 2 (3)"),
    "dense": ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "2 x 2 (4)"),
    "not finite": (HEADER.format("real", "general") + "2 2 2\n1 1 nan\n2 2 inf\n", "2 x 2 (2)"),
    "duplicates": (HEADER.format("real", "general") + "1 1 2\n1 1 1\n1 1 2\n", "1 x 1 (1)"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FILES)
def test_small_files(evenly, tmp_path, name, layout):
    text, dimensions = FILES[name]
    path = tmp_path / "m.mtx"
    path.write_text(text)
    ran = evenly("spmv", path, "--layout", layout, "--schedule", "merge_path", "--validate")
    assert (ran.status, ran.lines[2:]) == (0, [f"Dimensions: {dimensions}", "Errors: 0"]), ran.err


def test_wrong_results_are_counted(evenly, small, monkeypatch):
    """Status 1, and the number of entries that are wrong."""
    right = problem.Problem.result

    def wrong(self, plan):
        y = right(self, plan)
        y[[3, 5]] *= 1.001
        y[7] = np.nan
        return y

    monkeypatch.setattr(problem.Problem, "result", wrong)
    rows = np.diff(scipy.io.mmread(small, spmatrix=False).tocsr().indptr)
    expected = np.count_nonzero(rows[[3, 5]]) + 1
    ran = evenly("spmv", small, "--schedule", "merge_path", "--validate")
    assert (ran.status, ran.lines[-1]) == (1, f"Errors: {expected}")
    ran = evenly("spmv", small, "--schedule", "all", "--validate", "--repeat", 1)
    assert (ran.status, ran.lines[-1]) == (1, f"Errors: {expected * len(SCHEDULES)}")


def test_csv(evenly, small, tmp_path):
    path = tmp_path / "times.csv"
    assert evenly("spmv", small, "--schedule", "merge_path", "--csv", path).status == 0
    ran = evenly("spmv", small, "--schedule", "all", "--csv", path, "--repeat", 1)
    assert ran.status == 0
    header, *rows = path.read_text().splitlines()
    assert header == "kernel,dataset,rows,cols,nnzs,elapsed"
    assert [row.split(",")[0] for row in rows] == ["merge_path", *SCHEDULES]
    assert all(re.fullmatch(rf"\w+,small,40,30,117,{NUMBER}", row) for row in rows)
    assert [float(row.split(",")[-1]) for row in rows[1:]] == [
        float(line.split()[1]) for line in ran.lines[1 : 1 + len(SCHEDULES)]
    ]


def test_csv_of_auto_names_the_schedule(evenly, small, tmp_path):
    path = tmp_path / "times.csv"
    ran = evenly("spmv", small, "--csv", path)
    chosen = ran.err.split()[3]
    assert path.read_text().splitlines()[1].startswith(f"{chosen},small,")


def test_an_empty_csv_file_gets_a_header(evenly, small, tmp_path):
    path = tmp_path / "times.csv"
    path.touch()
    evenly("spmv", small, "--csv", path)
    assert path.read_text().startswith("kernel,dataset,rows,cols,nnzs,elapsed\n")


def test_csv_to_a_device(evenly, small):
    assert evenly("spmv", small, "--csv", "/dev/null").status == 0


def test_balance_is_sketched(evenly, small):
    ran = evenly("spmv", small, "--schedule", "warp_mapped", "--balance", "--repeat", 1)
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines[1:5] == [
        "Matrix: small.mtx", "Dimensions: 40 x 30 (117)", "", "spmv_rows, A (Csr): 40 tiles, 117 atoms",
    ]  # fmt: skip
    named = [line[2:].split()[0] for line in ran.lines[8:] if line[:2] in ("> ", "  ")]
    assert named == ["warp_mapped", *(n for n in SCHEDULES if n != "warp_mapped")]
    assert "█" in ran.out


def test_balance_of_all_schedules_marks_what_auto_takes(evenly, small):
    ran = evenly("spmv", small, "--schedule", "all", "--balance", "--repeat", 1)
    marked = next(line for line in ran.lines if line.startswith("> "))
    assert evenly("spmv", small).err.split()[3] == marked.split()[1]


def test_balance_where_output_is_ascii(small):
    command = [sys.executable, "-m", "evenly", "spmv", small, "--balance", "--target", "python"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"> " in done.stdout
    assert b"####" in done.stdout


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture_of_the_balance(evenly, small, tmp_path, ending):
    path = tmp_path / f"balance.{ending}"
    ran = evenly("spmv", small, "--schedule", "merge_path", "--picture", path)
    assert (ran.status, len(ran.lines)) == (0, 3)
    assert path.read_bytes()[:4] == {"svg": b"<?xm", "png": b"\x89PNG"}[ending]


@pytest.mark.gpu
@pytest.mark.parametrize("layout", LAYOUTS)
def test_on_a_gpu(evenly, small, layout):
    options = ["--schedule", "all", "--layout", layout, "--target", "cuda"]
    ran = evenly("spmv", small, *options, "--validate")
    assert (ran.status, ran.lines[-1]) == (0, "Errors: 0")
    assert all(0 < float(line.split()[1]) < 5 for line in ran.lines[1 : 1 + len(SCHEDULES)])


def test_a_matrix_that_scipy_saved(evenly, small, tmp_path):
    saved = tmp_path / "small.npz"
    sp.save_npz(saved, sp.csr_array(scipy.io.mmread(small)))
    ran = evenly("spmv", saved, "--target", "cpu", "--repeat", 1, "--validate")
    assert ran.status == 0
    assert "Matrix: small.npz\nDimensions: 40 x 30 (117)\nErrors: 0\n" in ran.out
