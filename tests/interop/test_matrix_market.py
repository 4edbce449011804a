"""Matrix Market files, good and bad: each bad one gets one line that says what is wrong."""

from __future__ import annotations

import bz2
import csv
import gzip

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.interop.matrix_market import read

GENERAL = "%%MatrixMarket matrix coordinate real general\n"


def write(folder, text, name="a.mtx"):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GENERAL + "2 3 2\n1 1 1.5\n2 3 -2\n", [[1.5, 0, 0], [0, 0, -2]]),
        (GENERAL + "2 2 2\n1 1 1\n1 1 2\n", [[3, 0], [0, 0]]),
        (GENERAL.replace("real", "pattern") + "2 2 2\n1 1\n2 1\n", [[1, 0], [1, 0]]),
        (GENERAL.replace("general", "symmetric") + "2 2 2\n1 1 5\n2 1 7\n", [[5, 7], [7, 0]]),
        (GENERAL.replace("general", "skew-symmetric") + "2 2 1\n2 1 7\n", [[0, -7], [7, 0]]),
        (GENERAL.replace("coordinate", "array") + "2 2\n1\n0\n3\n4\n", [[1, 3], [0, 4]]),
        (GENERAL + "% a comment\n\n2 2 1\n2 2 1e3\n", [[0, 0], [0, 1000]]),
        (GENERAL + "0 0 0\n", np.zeros((0, 0))),
        (GENERAL + "3 0 0\n", np.zeros((3, 0))),
    ],
)
def test_files_are_read(tmp_path, text, expected):
    matrix = read(write(tmp_path, text))
    assert matrix.format == "csr"
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix.toarray(), expected)


def test_types(tmp_path):
    path = write(tmp_path, GENERAL.replace("real", "integer") + "1 1 1\n1 1 7\n")
    assert read(path).dtype == np.int64
    assert read(path, np.float32).dtype == np.float32
    path = write(tmp_path, GENERAL.replace("real", "complex") + "1 1 1\n1 1 7 2\n")
    assert read(path, real_part=True).toarray().tolist() == [[7.0]]


def test_compressed_files(tmp_path):
    text = (GENERAL + "1 2 1\n1 2 7\n").encode()
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(text))
    (tmp_path / "a.mtx.bz2").write_bytes(bz2.compress(text))
    for name in ("a.mtx.gz", "a.mtx.bz2"):
        assert read(tmp_path / name).toarray().tolist() == [[0, 7]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a Matrix Market file, got an empty file"),
        (
            "1 1 1\n",
            "expected a Matrix Market file, got line 1: not a Matrix Market file. Missing banner; "
            "hint: it begins with '%%MatrixMarket matrix coordinate real general'",
        ),
        (
            GENERAL + "3 3 4\n1 1 1\n2 2 2\n",
            "expected a Matrix Market file, got a truncated file: 2 more lines were expected",
        ),
        (
            GENERAL + "3 3 9999999\n1 1 1\n",
            "expected 9,999,999 entries, as its header says, got a file of 64 bytes: "
            "it is truncated",
        ),
        (
            GENERAL + "3 3 1\n1 1 1\n2 2 2\n",
            "expected a Matrix Market file, got line 4: too many lines in file (file too long)",
        ),
        (
            GENERAL + "3 3 2\n1 1 1\n4 2 2\n",
            "expected a Matrix Market file, got line 4: row index out of bounds",
        ),
        (
            GENERAL + "3 3 2\n1 1 1\n2 0 2\n",
            "expected a Matrix Market file, got line 4: column index out of bounds",
        ),
        (
            GENERAL + "3 3 2\n1 1 1\n2 2 x\n",
            "expected a Matrix Market file, got line 4: invalid floating-point value",
        ),
        (
            GENERAL + "-3 3 0\n",
            "expected a Matrix Market file, got line 2: matrix dimensions can't be negative",
        ),
        (GENERAL + "3 3\n1 1 1\n", "expected a Matrix Market file, got invalid integer value"),
        (
            GENERAL.replace("real", "complex") + "1 1 1\n1 1 1 1\n",
            "expected a real matrix, got a complex one; hint: read it in Python with "
            "evenly.interop.matrix_files.read(path, real_part=True)",
        ),
        (
            GENERAL.replace("general", "symmetric") + "3 4 1\n1 1 1\n",
            "expected a square matrix, being symmetric, got 3 x 4",
        ),
        (
            GENERAL.replace("real", "float") + "1 1 0\n",
            "expected a Matrix Market file, got line 1: invalid MatrixMarket header element: float",
        ),
        (
            GENERAL.replace("coordinate", "array") + "2 2\n1\n",
            "expected a Matrix Market file, got a truncated file: 3 more lines were expected",
        ),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: {message}"


def test_what_is_no_file_is_refused(tmp_path):
    for path, given in ((tmp_path, "a directory"), (tmp_path / "b.mtx", "no such file")):
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value) == f"{path}: expected a Matrix Market file, got {given}"


def test_bad_compression_is_refused(tmp_path):
    packed = gzip.compress((GENERAL + "3 3 1\n1 1 1\n").encode())
    cases = {"cut.mtx.gz": (packed[:-12], "truncated compressed"), "no.mtx.gz": (b"hello", "gzip")}
    for name, (content, said) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=said):
            read(tmp_path / name)


def test_real_matrices_have_the_sizes_that_are_listed(matrices_dir):
    with (matrices_dir / "MANIFEST.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["field"] != "complex"]
    for row in rows[::6]:
        matrix = read(matrices_dir / f"{row['name']}.mtx.gz")
        assert matrix.shape == (int(row["rows"]), int(row["cols"]))
        assert matrix.nnz == int(row["nnz_expanded"])
