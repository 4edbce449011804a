"""Bytes and gathers, counted by hand and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from evenly.bench.floors import floor, gathers, moved
from evenly.bench.place import Rates
from tests.batteries import matrices


def counted(matrix) -> int:
    """Count nonzero by nonzero, as the docstring of `gathers` says."""
    per = 32 // matrix.data.itemsize
    rows = [
        matrix.indices[a:b] // per for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)
    ]
    own = 0
    for r, row in enumerate(rows):
        above = rows[r - 1] if r else []
        for i, sector in enumerate(row):
            before = i > 0 and row[i - 1] == sector
            own += not (before or (i < len(above) and above[i] == sector))
    return own


@pytest.mark.parametrize("name", matrices())
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gathers(name, dtype):
    matrix = matrices()[name].astype(dtype)
    assert gathers(matrix) == counted(matrix)


def test_a_diagonal_reads_32_bytes_every_eight_rows():
    assert gathers(sp.csr_array(sp.eye_array(64, dtype=np.float32))) == 8


def test_bytes():
    matrix = sp.csr_array(np.array([[1, 0, 2], [0, 0, 3]], np.float32))
    assert matrix.indices.dtype == np.int32
    assert moved(matrix) == 3 * 4 + 3 * 4 + 3 * 4 + 3 * 4 + 2 * 4  # values, columns, offsets, x, y


def test_the_larger_of_the_two():
    matrix = sp.csr_array(np.array([[1, 0, 2], [0, 0, 3]], np.float32))
    assert floor(matrix, Rates(56e6, None)) == pytest.approx(1.0)
    assert floor(matrix, Rates(56e6, 8e6)) == pytest.approx(4.0)  # one gather of 32 bytes
