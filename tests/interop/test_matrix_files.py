"""Matrices in files of either kind, and one-line errors for bad ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from evenly.errors import InputError
from evenly.interop.matrix_files import read

MATRIX = sp.random_array((9, 7), density=0.3, rng=np.random.default_rng(1), format="csr")


def saved(folder: Path, matrix: Any, **arrays: Any) -> Path:
    """matrix.npz as save_npz writes it, or with other arrays."""
    path = folder / "matrix.npz"
    sp.save_npz(path, matrix)
    if arrays:
        with np.load(path) as found:
            np.savez(path, **(dict(found) | arrays))
    return path


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("of", [np.float32, np.int16, bool])
def test_every_format_that_scipy_saves(tmp_path: Path, format: str, of: Any) -> None:
    matrix = MATRIX.astype(of).asformat(format)
    made = read(saved(tmp_path, matrix))
    assert isinstance(made, sp.csr_array)
    assert made.dtype == of
    np.testing.assert_array_equal(made.toarray(), matrix.toarray())


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("of", [np.float32, np.float64, np.int8, np.uint8])
def test_entries_of_one_place_are_summed(tmp_path: Path, format: str, of: Any) -> None:
    """The sum may exceed the type of the entries."""
    once = sp.coo_array((np.array([100, 120, 3], of), ([0, 1, 1], [2, 0, 1])), shape=(2, 3))
    once = once.asformat(format)
    twice = [np.repeat(array, 2, axis=0) for array in (once.data, *places(once))]
    arrays = dict(zip(("data", *NAMES[format]), twice, strict=True))
    if format != "coo":
        arrays["indptr"] = 2 * once.indptr
    made = read(saved(tmp_path, once, **arrays), np.float64)
    np.testing.assert_array_equal(made.toarray(), [[0, 0, 200], [240, 6, 0]])
    assert made.has_canonical_format


NAMES = {"coo": ("row", "col")} | dict.fromkeys(("csr", "csc", "bsr"), ("indices",))


def places(matrix: Any) -> tuple[Any, ...]:
    return matrix.coords if matrix.format == "coo" else (matrix.indices,)


def test_sums_that_no_type_holds(tmp_path: Path) -> None:
    listed = sp.coo_array((np.array([2**62, 2**62]), ([0, 0], [0, 0])), shape=(1, 1))
    refused(saved(tmp_path, listed), "entries of one place whose sum is beyond int64")


def test_half_precision(tmp_path: Path) -> None:
    for format in ("csr", "csc", "coo", "bsr", "dia"):
        matrix = MATRIX.asformat(format)
        made = read(saved(tmp_path, matrix, data=matrix.data.astype(np.float16)))
        rounded = MATRIX.data.astype(np.float16)
        np.testing.assert_array_equal(made.data, rounded)


def test_text_is_matrix_market(tmp_path: Path) -> None:
    path = tmp_path / "matrix.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 3.5\n")
    assert read(path).toarray().tolist() == [[0, 0], [3.5, 0]]


def test_complex_numbers(tmp_path: Path) -> None:
    path = saved(tmp_path, MATRIX * (1 + 2j))
    assert read(path).dtype == np.complex128
    np.testing.assert_array_equal(read(path, real_part=True).toarray(), MATRIX.toarray())
    with pytest.raises(InputError, match="expected real values, for float32, got complex ones"):
        read(path, np.float32)


def refused(path: Path, given: str) -> None:
    with pytest.raises(InputError) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: expected a matrix of scipy.sparse.save_npz, got {given}")
    assert "\n" not in said


def test_places_without_a_matrix(tmp_path: Path) -> None:
    refused(tmp_path / "missing.npz", "no such file")
    (tmp_path / "folder.npz").mkdir()
    refused(tmp_path / "folder.npz", "a directory")
    for name, content in (("empty.npz", b""), ("text.npz", b"no archive")):
        (tmp_path / name).write_bytes(content)
    refused(tmp_path / "empty.npz", "an empty file")
    refused(tmp_path / "text.npz", "no .npz archive")


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "arrays.npz"
    np.savez(path, first=np.ones(3))
    refused(path, "")


def test_structures_that_lead_out_of_the_matrix(tmp_path: Path) -> None:
    """With these, a kernel would read beyond x."""
    outside = MATRIX.indices.copy()
    outside[3] = 7
    refused(saved(tmp_path, MATRIX, indices=outside), "")
    refused(saved(tmp_path, MATRIX, indptr=MATRIX.indptr[::-1].copy()), "")
    refused(saved(tmp_path, MATRIX, data=MATRIX.data[:-2]), "")
    rows = np.int64([2**60, 7])
    refused(
        saved(tmp_path, MATRIX.tocoo(), shape=rows), "1,152,921,504,606,846,976 rows, more than"
    )
    refused(saved(tmp_path, MATRIX, shape=np.int64([10, 7])), "10 offsets for 10 of them + 1")
    diagonals = MATRIX.todia()
    offsets = diagonals.offsets.astype(np.int64)
    offsets[0] = -(2**63)
    refused(saved(tmp_path, diagonals, offsets=offsets), "offsets beyond the matrix")


NUMBERS = (-1, 0, 1, 6, 7, 9, 63, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63))
TYPES = ("float64", "int8", "uint64", "S3", "O", "bool", "complex64", ">i4", "M8[s]")


def changed(rng: random.Random, array: Any) -> Any:
    """An array of a file, possibly with a mistake."""
    kind, size = rng.randrange(6), array.size
    if kind == 0 and array.dtype.kind in "iuf" and size:
        array = array.copy()
        with np.errstate(all="ignore"):
            array.flat[rng.randrange(size)] = np.array(rng.choice(NUMBERS)).astype(array.dtype)
        return array
    if kind == 1:
        return array.ravel()[: rng.randrange(size + 1)]
    if kind == 2:
        return np.concatenate([array.ravel(), array.ravel()[:2]])
    if kind == 3:
        return array.astype("S9" if array.dtype.kind == "S" else rng.choice(TYPES))
    if kind == 4:
        return np.array(rng.choice((*NUMBERS, b"csr", b"coo", b"dia", b"dok", "x")))
    return array[None]


def fuzz(folder: Path, seed: int, count: int) -> None:
    """Whatever an archive contains, the result is a matrix that can be multiplied, or a one-line error."""
    rng = random.Random(seed)
    path = folder / "matrix.npz"
    for _ in range(count):
        sp.save_npz(path, MATRIX.asformat(rng.choice(("csr", "csc", "coo", "bsr", "dia"))))
        with np.load(path) as found:
            arrays = dict(found)
        name = rng.choice(list(arrays))
        arrays[name] = changed(rng, arrays[name])
        np.savez(path, **arrays)
        if rng.random() < 0.3:
            content = bytearray(path.read_bytes())
            content[rng.randrange(len(content))] = rng.randrange(256)
            path.write_bytes(content)
        try:
            matrix = read(path)
        except InputError:
            continue
        matrix.check_format(full_check=True)
        if max(matrix.shape) < 10**6:
            assert (matrix @ np.ones(matrix.shape[1])).shape == matrix.shape[:1]


@pytest.mark.filterwarnings("ignore")
def test_archives_with_something_wrong(tmp_path: Path) -> None:
    fuzz(tmp_path, 1, 150)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_many_archives_with_something_wrong(tmp_path: Path) -> None:
    fuzz(tmp_path, 2, 10_000)


def test_numbers_that_are_none(tmp_path: Path) -> None:
    refused(saved(tmp_path, MATRIX, data=np.array(["a"] * MATRIX.nnz)), "values of type <U1")
