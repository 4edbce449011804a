"""The CSV file: what is written is read, and bad files are refused in one line."""

from __future__ import annotations

import pytest

import evenly as ev
from evenly.bench.record import COLUMNS, Recorder, read, size_of

from .conftest import row


def test_there_and_back(tmp_path):
    path = str(tmp_path / "run.csv")
    recorder = Recorder(path)
    first = [
        row(
            "a",
            "auto",
            "auto",
            2.5,
            detail="MergePath(block=256, items=3, min_blocks=0, carveout=-1)",
        )
    ]
    second = [row("b, c", "MKL", "", 0.0, note="not here", rounds=0)]
    recorder.add(first)
    recorder.add(second)
    assert read(path) == first + second


def test_the_columns_are_those_that_readers_know(tmp_path):
    Recorder(str(tmp_path / "run.csv"))
    head = "machine,versions,target,dtype,matrix,origin,rows,cols,nnz,size,contender,family,detail,clock,cache,us,us_min,us_max,rounds,gb_per_s,floor_us,share,wrong,note"
    assert (tmp_path / "run.csv").read_text() == head + "\n"


@pytest.mark.parametrize(
    ("nnz", "size"),
    [(1, "under 10 k"), (9_999, "under 10 k"), (10_000, "10 k to 100 k"), (100_000, "100 k to 1 M"),
     (999_999, "100 k to 1 M"), (1_000_000, "1 M and more")],
)  # fmt: skip
def test_sizes(nnz, size):
    assert size_of(nnz) == size


BAD = {
    "other": ("kernel,dataset\n", "other.csv: expected a CSV file of `evenly bench spmv`, got 'kernel,dataset'; hint: it begins with machine,"),
    "empty": ("", "empty.csv: expected a CSV file of `evenly bench spmv`, got an empty file"),
    "short": (",".join(COLUMNS) + "\na,b\n", "short.csv, line 2: expected 24 columns with numbers where they belong, got "),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, message = BAD[name]
    (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(ev.InputError) as caught:
        read(f"{name}.csv")
    assert str(caught.value).startswith(message)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(ev.InputError, match="expected a CSV file to write, got no such file"):
        Recorder(str(tmp_path / "missing" / "run.csv"))
    with pytest.raises(ev.InputError, match="expected a CSV file of .*, got no such file"):
        read(str(tmp_path / "missing.csv"))
