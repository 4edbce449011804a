"""`evenly bench ragged` on the CPU: lists of every kind, times, a file and a status; and the results by NumPy."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from evenly.bench.ragged import peers
from evenly.bench.ragged.lengths import LENGTHS, offsets_of
from evenly.bench.ragged.operations import OPERATIONS

FEW = ("--target", "cpu", "--elements", 2000, "--rounds", 1)


def test_times_of_all(evenly, tmp_path):
    path = tmp_path / "times.csv"
    ran = evenly("bench", "ragged", *FEW, "--only", "power law", "--csv", path)
    assert (ran.status, ran.err) == (0, "")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["operation"] for row in rows} == set(OPERATIONS)
    assert {row["lengths"] for row in rows} == {"power law"}
    assert all(row["wrong"] == "0" and float(row["us"]) > 0 for row in rows)
    assert {row["contender"] for row in rows if row["operation"] == "sum"} == {
        "auto",
        "numpy.add.reduceat",
    }


def test_a_wrong_result_is_told(evenly, monkeypatch):
    right = peers.NUMPY["sum"]["numpy.add.reduceat"]
    more = {"numpy.add.reduceat": lambda x, offsets: lambda: right(x, offsets)() * 1.01}
    monkeypatch.setitem(peers.NUMPY, "sum", more)
    ran = evenly("bench", "ragged", *FEW, "--only", "sum", "--only", "equal 16")
    assert ran.status == 1
    assert "WRONG: 125" in ran.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--only", "sums"), "--only: expected"),
        (("--dtype", "float16"), "--dtype: expected"),
        (("--elements", 10), "--elements: expected 1000 to 8589934592, got 10"),
        (("--target", "simt"), "--target: expected"),
    ],
)
def test_mistakes(evenly, options, said):
    ran = evenly("bench", "ragged", *options)
    assert ran.status == 2
    assert said in ran.err and len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_have_about_as_many_elements_as_asked_for(name):
    offsets = offsets_of(name, 100_000)
    assert offsets[0] == 0 and (np.diff(offsets) >= 0).all()
    assert 80_000 < offsets[-1] < 150_000
