"""Real matrices through the command line, in this process."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

QUICK = ("chesapeake", "adder_dcop_05", "arrow", "young1c")


def described(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "MANIFEST.csv").open() as file:
        return {row["name"].split("/")[-1]: row for row in csv.DictReader(file)}


def path_of(folder: Path, name: str) -> Path:
    (found,) = folder.rglob(f"{name}.mtx.gz")
    return found


def check(evenly, folder: Path, name: str, row: dict[str, str], *options: object) -> None:
    path = path_of(folder, name)
    if row["field"] == "complex":
        ran = evenly("spmv", path, *options)
        assert ran.status == 2
        assert ran.err.startswith(f"evenly: {path}: expected real values, for float")
        options = (*options, "--dtype", "complex64")
    ran = evenly("spmv", path, "--validate", "--repeat", 1, *options)
    assert (ran.status, ran.lines[-1]) == (0, "Errors: 0"), ran.err
    dimensions = f"Dimensions: {row['rows']} x {row['cols']} ({row['nnz_expanded']})"
    assert ran.lines[-3:-1] == [f"Matrix: {path.name}", dimensions]


@pytest.mark.parametrize("name", QUICK)
def test_some(evenly, matrices_dir, name):
    row = described(matrices_dir)[name]
    check(evenly, matrices_dir, name, row, "--schedule", "all")


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    ("--schedule", "all"),
    ("--schedule", "all", "--dtype", "float64"),
    ("--schedule", "merge_path", "--layout", "csc"),
    ("--schedule", "nonzero_split", "--layout", "coo"),
    ("--schedule", "thread_mapped", "--layout", "bcsr"),
    ("--schedule", "auto", "--dtype", "float64"),
], ids=" ".join)  # fmt: skip
def test_all_of_them(evenly, matrices_dir, options):
    rows = described(matrices_dir)
    assert len(rows) >= 68
    for name, row in rows.items():
        check(evenly, matrices_dir, name, row, *options)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["ell", "dia"])
def test_padded_layouts(evenly, matrices_dir, layout):
    """The result is right, or the error says how many bytes the layout would take."""
    refused = 0
    for name, row in described(matrices_dir).items():
        if row["field"] == "complex":
            continue
        path = path_of(matrices_dir, name)
        options = ["--layout", layout, "--schedule", "work_oriented", "--repeat", 1]
        ran = evenly("spmv", path, "--validate", *options)
        if ran.status == 2:
            assert ran.err.endswith("; hint: --layout csr\n")
            refused += 1
        else:
            assert (ran.status, ran.lines[-1]) == (0, "Errors: 0"), (name, ran.err)
    assert refused < 40
