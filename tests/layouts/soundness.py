"""What is a sound matrix, entry by entry in plain Python, and random ones that are not.

A case is a format's raw arrays in SciPy's order and a shape. `verdict` says whether they are a matrix, and `dense`
which.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

NASTY = (-1, -2, 0, 1, 10**9, -(2**31), 2**31 - 1, 2**32 + 1, 2**63 - 1, -(2**63))
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "ell")


class Case(NamedTuple):
    format: str
    arrays: tuple[Any, ...]
    shape: tuple[int, int]


def verdict(case: Case) -> bool:
    return _VERDICTS[case.format](*case.arrays, *case.shape)


def dense(case: Case) -> Any:
    """The matrix of a case that is sound: a list of rows."""
    found = [[0.0] * case.shape[1] for _ in range(case.shape[0])]
    for row, column, value in _ENTRIES[case.format](*case.arrays, *case.shape):
        found[row][column] += float(value)
    return np.array(found).reshape(case.shape)


# ---- what is sound -----------------------------------------------------------


def sound_offsets(offsets: Any, tiles: int, most: int) -> bool:
    given = [int(o) for o in offsets]
    if len(given) != tiles + 1 or given[0] != 0 or given[-1] > most:
        return False
    return all(a <= b for a, b in itertools.pairwise(given))


def _inside(indices: Any, bound: int, least: int = 0) -> bool:
    return all(least <= int(i) < bound for i in indices)


def _compressed(values: Any, indices: Any, offsets: Any, tiles: int, ids: int) -> bool:
    if len(values) != len(indices) or not sound_offsets(offsets, tiles, len(indices)):
        return False
    return _inside(indices[: int(offsets[-1])], ids)


def _bsr(values: Any, indices: Any, offsets: Any, rows: int, columns: int) -> bool:
    _, height, width = values.shape
    return _compressed(values, indices, offsets, -(-rows // height), -(-columns // width))


def _coo(values: Any, rows: Any, columns: Any, height: int, width: int) -> bool:
    same = len(values) == len(rows) == len(columns)
    return same and _inside(rows, height) and _inside(columns, width)


def _dia(values: Any, diagonals: Any, rows: int, columns: int) -> bool:
    return len(values) == len(diagonals)


def _ell(values: Any, indices: Any, rows: int, columns: int) -> bool:
    same = values.shape == indices.shape and len(values) == rows
    return same and _inside(indices.reshape(-1), columns, -1)


_VERDICTS: dict[str, Callable[..., bool]] = {
    "csr": lambda v, i, o, rows, columns: _compressed(v, i, o, rows, columns),
    "csc": lambda v, i, o, rows, columns: _compressed(v, i, o, columns, rows),
    "coo": _coo,
    "bsr": _bsr,
    "dia": _dia,
    "ell": _ell,
}


# ---- what stands in it -------------------------------------------------------


def _of_csr(values: Any, indices: Any, offsets: Any, rows: int, columns: int) -> Any:
    for row in range(rows):
        for k in range(int(offsets[row]), int(offsets[row + 1])):
            yield row, int(indices[k]), values[k]


def _of_csc(values: Any, indices: Any, offsets: Any, rows: int, columns: int) -> Any:
    for column, row, value in _of_csr(values, indices, offsets, columns, rows):
        yield row, column, value


def _of_bsr(values: Any, indices: Any, offsets: Any, rows: int, columns: int) -> Any:
    _, height, width = values.shape
    for i, j, block in _of_csr(values, indices, offsets, len(offsets) - 1, columns):
        for (r, c), value in np.ndenumerate(block):
            if i * height + r < rows and j * width + c < columns:
                yield i * height + r, j * width + c, value


def _of_dia(values: Any, diagonals: Any, rows: int, columns: int) -> Any:
    for diagonal, cells in zip(diagonals, values, strict=True):
        for column, value in enumerate(cells[:columns]):
            if 0 <= column - int(diagonal) < rows:
                yield column - int(diagonal), column, value


def _of_ell(values: Any, indices: Any, rows: int, columns: int) -> Any:
    for (row, _), column in np.ndenumerate(indices):
        if column >= 0:
            yield row, int(column), values[row, _]


_ENTRIES: dict[str, Callable[..., Any]] = {
    "csr": _of_csr,
    "csc": _of_csc,
    "coo": lambda v, r, c, *_: zip(map(int, r), map(int, c), v, strict=True),
    "bsr": _of_bsr,
    "dia": _of_dia,
    "ell": _of_ell,
}


# ---- random ones -------------------------------------------------------------


def random_case(rng: np.random.Generator) -> Case:
    """A matrix of any format, sound or with up to two things changed in it."""
    format = str(rng.choice(FORMATS))
    rows, columns = (int(n) for n in rng.choice([0, 1, 2, 4, 6, 8], 2))
    nnz = int(rng.integers(0, 12)) if rows and columns else 0
    values = rng.integers(1, 9, nnz).astype(np.float64)
    at = rng.integers(0, max(rows, 1), nnz), rng.integers(0, max(columns, 1), nnz)
    coo = sp.coo_array((values, at), shape=(rows, columns))
    arrays, shape = _taken(format, coo), (rows, columns)
    index_type = rng.choice(["int32", "int64"])
    arrays = tuple(_typed(array, index_type) for array in arrays)
    for _ in range(int(rng.integers(0, 3))):
        which = int(rng.integers(0, len(arrays) + 1))
        if which == len(arrays):
            shape = tuple(max(0, n + int(rng.integers(-1, 2))) for n in shape)
        else:
            changed = _changed(arrays[which], rng)
            arrays = (*arrays[:which], changed, *arrays[which + 1 :])
    return Case(format, arrays, shape)


def _taken(format: str, coo: Any) -> tuple[Any, ...]:
    if format == "coo":
        return coo.data, coo.row, coo.col
    if format == "ell":
        lengths = np.diff(coo.tocsr().indptr)
        width = int(lengths.max(initial=0))
        csr, indices = coo.tocsr(), np.full((coo.shape[0], width), -1)
        values = np.zeros(indices.shape)
        for row, (start, count) in enumerate(zip(csr.indptr, lengths, strict=False)):
            indices[row, :count] = csr.indices[start : start + count]
            values[row, :count] = csr.data[start : start + count]
        return values, indices
    if format == "dia":
        dia = coo.todia()
        return dia.data, dia.offsets
    height, width = (2 if n and n % 2 == 0 else 1 for n in coo.shape)
    made = coo.tocsr().tobsr((height, width)) if format == "bsr" else coo.asformat(format)
    return made.data, made.indices, made.indptr


def _typed(array: Any, index_type: Any) -> Any:
    return array.copy() if array.dtype.kind == "f" else array.astype(index_type)


def _changed(array: Any, rng: np.random.Generator) -> Any:
    """Of another length, or with another entry; the order of entries may be another, too."""
    kind = rng.integers(0, 5)
    if kind == 0 and len(array):
        return array[: int(rng.integers(0, len(array)))].copy()
    if kind == 1 and len(array):
        return np.concatenate([array, array[-1:]])
    if kind == 2 and array.ndim == 1:
        return rng.permutation(array)
    if array.dtype.kind == "i" and array.size:
        found, whole = array.copy(), np.iinfo(array.dtype)
        near = int(found.flat[0]) + 1, int(found.max()) + 1
        value = int(rng.choice([n for n in (*NASTY, *near) if whole.min <= n <= whole.max]))
        found.flat[int(rng.integers(0, found.size))] = value
        return found
    return array
