"""Blocks that fill a multiprocessor ask for what atoms read apart from what is done with it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.batteries import matrices
from tests.covering import gives_what_the_reference_gives
from tests.emitting import emitted
from tests.kernels import CASES

import evenly as ev
from evenly.layouts import convert

pytestmark = pytest.mark.simt
FULL, OTHER = ev.MergePath(64, items=3, min_blocks=32), ev.MergePath(64, items=3, min_blocks=16)


def asks_apart(kernel: str, schedule: ev.MergePath) -> bool:
    case, matrix = CASES[kernel], matrices(np.float32)["power law"]
    args = case.arguments(convert(matrix, "csr"), matrix, np.float32)
    main = emitted(case.kernel, args, schedule)[0].source
    assert ("Asked ask(" in main) == ("ev::merge_rule, true>" in main)
    return "Asked ask(" in main


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("kernel", CASES)
def test_what_is_asked_apart_gives_what_the_reference_gives(kernel: str, dtype: type) -> None:
    gives_what_the_reference_gives(kernel, FULL, "csr", dtype, "simt", seeds=(0, 1))


@pytest.mark.parametrize("kernel", ["spmv", "row_extremes"])
def test_full_blocks_ask_apart(kernel: str) -> None:
    assert asks_apart(kernel, FULL)
    assert not asks_apart(kernel, OTHER)


def test_what_depends_on_the_tile_is_not_asked_apart() -> None:
    assert not asks_apart("weighted_by_tile", FULL)


@ev.kernel
def some_of_them(A, x, use, y):
    """What is read under a condition is not asked for where that does not hold: x is too short there."""
    for row in A.tiles():
        y[row] = sum(x[A.column(k)] if A.column(k) < 4 else use[k] for k in A.atoms(row))


def test_what_a_condition_guards_is_read_under_it() -> None:
    matrix = matrices(np.float64)["power law"]
    A, x = ev.csr(matrix), np.arange(4.0)
    use, y, expected = (
        np.arange(matrix.nnz) * 1.0,
        np.empty(matrix.shape[0]),
        np.empty(matrix.shape[0]),
    )
    some_of_them.on("python")(A, x, use, expected)
    some_of_them[FULL].on("simt")(A, x, use, y)
    np.testing.assert_array_equal(y, expected)
