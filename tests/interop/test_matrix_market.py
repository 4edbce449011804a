"""Matrix Market files, good and bad: each bad one gets one line that says what is wrong."""

from __future__ import annotations

import bz2
import csv
import gzip
import os

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
        (GENERAL + f"1 2 1\n{'0' * 5000}1 {'0' * 5000}2 {'0' * 5000}3\n", [[0, 3]]),
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
    path = write(
        tmp_path, GENERAL.replace("real", "unsigned-integer") + f"1 1 1\n1 1 {2**64 - 1}\n"
    )
    assert read(path).data.tolist() == [2**64 - 1]


def test_complex_files(tmp_path):
    text = GENERAL.replace("real", "complex") + "1 1 1\n1 1 7 2\n"
    assert read(write(tmp_path, text)).data.tolist() == [7 + 2j]
    assert read(write(tmp_path, text), np.complex64).dtype == np.complex64
    assert read(write(tmp_path, text), real_part=True).data.tolist() == [7.0]
    text = HERMITIAN + "2 2 2\n1 1 3 0\n2 1 1 5\n"
    assert read(write(tmp_path, text)).toarray().tolist() == [[3, 1 - 5j], [1 + 5j, 0]]


@pytest.mark.parametrize(
    ("field", "value", "dtype", "message"),
    [
        (
            "complex",
            "1 2",
            np.float64,
            "expected real values, for float64, got complex ones; hint: complex64 or complex128 holds them",
        ),
        (
            "real",
            "1e300",
            np.float32,
            "expected values in the range of float32, got 1 beyond it, such as 1e+300",
        ),
        (
            "complex",
            "inf 1e300",
            np.complex64,
            "expected values in the range of complex64, got 1 beyond it, such as inf+1e+300j",
        ),
        (
            "real",
            "1.5",
            np.int32,
            "expected values in the range of int32, got 1 beyond it, such as 1.5",
        ),
        (
            "integer",
            "300",
            np.int8,
            "expected values in the range of int8, got 1 beyond it, such as 300",
        ),
        (
            "integer",
            "-1",
            np.uint64,
            "expected values in the range of uint64, got 1 beyond it, such as -1",
        ),
    ],
)
def test_values_that_a_type_cannot_hold(tmp_path, field, value, dtype, message):
    path = write(tmp_path, GENERAL.replace("real", field) + f"1 1 1\n1 1 {value}\n")
    with pytest.raises(InputError) as caught:
        read(path, dtype)
    assert str(caught.value) == f"{path}: {message}"


def test_sizes_beyond_the_memory(tmp_path):
    path = write(tmp_path, GENERAL + f"{10**17} 3 0\n")
    with pytest.raises(InputError, match="expected a matrix that fits into this machine's"):
        read(path)


def test_compressed_files(tmp_path):
    text = (GENERAL + "1 2 1\n1 2 7\n").encode()
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(text))
    (tmp_path / "a.mtx.bz2").write_bytes(bz2.compress(text))
    for name in ("a.mtx.gz", "a.mtx.bz2"):
        assert read(tmp_path / name).toarray().tolist() == [[0, 7]]


ARRAY = GENERAL.replace("coordinate", "array")
INTEGER = GENERAL.replace("real", "integer")
LESS = f"1 1 3\n1 1 {-(2**63)}\n1 1 {5 - 2**63}\n"  # than what comes to 2**63 with them
UNSIGNED = GENERAL.replace("real", "unsigned-integer")
SYMMETRIC = GENERAL.replace("general", "symmetric")
SKEW = GENERAL.replace("general", "skew-symmetric")
HERMITIAN = GENERAL.replace("real general", "complex hermitian")
BANNER = "; hint: it begins with '%%MatrixMarket matrix coordinate real general'"
FIELDS = "real or integer or unsigned-integer or complex or pattern as word 4"
ENTRY = "expected a row, a column and a real number, got"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": expected a Matrix Market file, got an empty file"),
        ("1 1 1\n", f": line 1: expected a Matrix Market file, got '1 1 1'{BANNER}"),
        (
            "%%MatrixMarket\n",
            f": line 1: expected matrix as word 2, got the end of the line{BANNER}",
        ),
        ("%%MatrixMarket vector a\n", f": line 1: expected matrix as word 2, got 'vector'{BANNER}"),
        (GENERAL.replace("real", "float"), f": line 1: expected {FIELDS}, got 'float'{BANNER}"),
        (GENERAL[:-1] + " x\n", f": line 1: expected five words, got 6{BANNER}"),
        (ARRAY.replace("real", "pattern"), ": line 1: expected numbers in an array, got pattern"),
        (
            HERMITIAN.replace("complex", "real"),
            ": line 1: expected a real matrix that can be hermitian, got real hermitian",
        ),
        (
            GENERAL + "% no more\n",
            ": line 2: expected rows, columns and entries after the comments, got the end of the file",
        ),
        (
            GENERAL + "-3 3 0\n",
            ": line 2: expected rows, columns and entries as 3 integers, got '-3 3 0'",
        ),
        (
            GENERAL + "3 3\n",
            ": line 2: expected rows, columns and entries as 3 integers, got '3 3'",
        ),
        (
            SYMMETRIC + "3 4 1\n1 1 1\n",
            ": line 2: expected as many rows as columns, being symmetric, got 3 x 4",
        ),
        (
            GENERAL + "3 3 4\n1 1 1\n2 2 2\n",
            ": line 4: expected 4 entries, as line 2 says, got 2: is it truncated?",
        ),
        (
            GENERAL + "3 3 9999999999999\n1 1 1\n",
            ": line 3: expected 9,999,999,999,999 entries, as line 2 says, got 1: is it truncated?",
        ),
        (
            GENERAL + "3 3 1\n1 1 1\n\n2 2 2\n",
            ": line 5: expected the end of the file, after 1 entries, as line 2 says, got '2 2 2'",
        ),
        (
            ARRAY + "2 2\n1\n",
            ": line 3: expected 4 numbers, as line 2 says, got 1: is it truncated?",
        ),
        (
            ARRAY + "0 2\n1\n",
            ": line 3: expected the end of the file, after 0 numbers, as line 2 says, got '1'",
        ),
        (GENERAL + "3 3 2\n1 1 1\n4 2 2\n", ": line 4: expected a row in 1 .. 3, got '4'"),
        (GENERAL + "3 3 2\n1 1 1\n2 0 2\n", ": line 4: expected a column in 1 .. 3, got '0'"),
        (GENERAL + "3 3 2\n1 1 1\n2 2 x\n", f": line 4: {ENTRY} '2 2 x'"),
        (GENERAL + "3 3 2\n1 1 1\n2 2 -2e", f": line 4: {ENTRY} '2 2 -2e'"),
        (GENERAL + "3 3 1\n1 1 1,5\n", f": line 3: {ENTRY} '1 1 1,5'"),
        (GENERAL + "3 3 1\n1 1 0x10\n", f": line 3: {ENTRY} '1 1 0x10'"),
        (GENERAL + "3 3 1\n1 1 1 5\n", f": line 3: {ENTRY} '1 1 1 5'"),
        (GENERAL + "3 3 1\n1 1 5\0\n", f": line 3: {ENTRY} '1 1 5\\x00'"),
        (GENERAL + "3 3 1\n1 1 \x1b[31m\n", f": line 3: {ENTRY} '1 1 \\x1b[31m'"),
        (GENERAL + "3 3 1\n% no\n1 1 5\n", f": line 3: {ENTRY} '% no'"),
        (
            GENERAL + "3 3 1\n1 1 1e999\n",
            ": line 3: expected a number in the range of float64, got '1e999'",
        ),
        (
            INTEGER + "3 3 1\n1 1 1.5\n",
            ": line 3: expected a row, a column and an integer, got '1 1 1.5'",
        ),
        (
            INTEGER + f"3 3 1\n1 1 {2**63}\n",
            f": line 3: expected an integer in {-(2**63)} .. {2**63 - 1}, got '{2**63}'",
        ),
        (
            UNSIGNED + f"3 3 1\n1 1 {2**64}\n",
            f": line 3: expected an integer in 0 .. {2**64 - 1}, got '{2**64}'",
        ),
        (
            INTEGER + f"3 3 2\n1 1 {2**62}\n1 1 {2**62}\n",
            ": expected entries of one place whose sum fits into int64, got a sum beyond it",
        ),
        (
            INTEGER + "1 1 6\n" + "".join(f"1 1 {2**63 - n}\n" for n in (4, 1, 1)) + LESS,
            ": expected entries of one place whose sum fits into int64, got a sum beyond it",
        ),
        (
            GENERAL[:-1] + " " * (2**22 - len(GENERAL) + 1) + "1 1 0\n",
            ": line 1: expected lines of less than 4,194,304 bytes, got a longer one",
        ),
        (
            SKEW + "3 3 1\n2 2 1\n",
            ": line 3: expected entries below the diagonal, the file being skew-symmetric, got row 2, column 2",
        ),
        (
            SYMMETRIC + "3 3 2\n2 1 1\n1 2 1\n",
            ": line 4: expected entries on or below the diagonal, the file being symmetric, got row 1, column 2",
        ),
        (
            HERMITIAN + "3 3 1\n2 2 1 5\n",
            ": line 2: expected real numbers on the diagonal, the file being hermitian, got 1+5j in row 2",
        ),
        (
            GENERAL + "3 3 1\n1 1" + " " * 10**7 + "5\n",
            ": line 3: expected lines of less than 4,194,304 bytes, got a longer one",
        ),
    ],
    ids=range(38),
)
def test_bad_files_are_refused_in_one_line(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value) == f"{path}{message}"
    assert caught.value.__cause__ is None


def test_what_is_no_file_is_refused(tmp_path):
    for path, given in ((tmp_path, "a directory"), (tmp_path / "b.mtx", "no such file")):
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value) == f"{path}: expected a Matrix Market file, got {given}"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
def test_pipes_are_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "a.mtx")
    with pytest.raises(InputError, match="expected a file on a disk, got a pipe or a device$"):
        read(tmp_path / "a.mtx")


def test_bad_compression_is_refused(tmp_path):
    packed = gzip.compress((GENERAL + "3 3 1\n1 1 1\n").encode())
    cases = {
        "cut.mtx.gz": (packed[:-12], "expected a whole compressed file, got a truncated one"),
        "no.mtx.gz": (b"hello", "got a damaged one \\(Not a gzipped file"),
        "flipped.mtx.gz": (packed[:-5] + b"x" + packed[-4:], "CRC check failed"),
        "damaged.mtx.gz": (packed[:20] + b"\xff" * 9 + packed[29:], "got a damaged one"),
        "cut.mtx.bz2": (bz2.compress(b"hello")[:-3], "expected a whole compressed file"),
        "no.mtx.bz2": (b"hello", "got a damaged one \\(Invalid data stream"),
    }
    for name, (content, said) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=said):
            read(tmp_path / name)


def test_real_matrices_have_the_sizes_that_are_listed(matrices_dir):
    with (matrices_dir / "MANIFEST.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows[::6]:
        matrix = read(matrices_dir / f"{row['name']}.mtx.gz")
        assert matrix.shape == (int(row["rows"]), int(row["cols"]))
        assert matrix.nnz == int(row["nnz_expanded"])
