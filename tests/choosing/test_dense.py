"""What `auto` takes for kernels with a dense axis: threads along the axis and along atoms, from widths and lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.ragged.padded_to_jagged import pack_rows
from evenly.arguments import Binding
from evenly.choosing.auto import consider
from evenly.choosing.dense import Axis, for_dense
from evenly.choosing.statistics import Statistics
from evenly.choosing.task import Task, of_call
from evenly.choosing.whose import numbers_for
from evenly.interop import generators
from tests.dense import CASES, centred, sddmm
from tests.kernels import spmm, spmv


def task(kernel: Any, *args: Any, plans: bool = True) -> Task:
    binding = Binding(kernel.named(args))
    return of_call(kernel.task(binding.specs(), plans), binding)


def chosen(matrix: Any, columns: int, dtype: Any = np.float32, plans: bool = True) -> Any:
    A = ev.csr(matrix.astype(dtype))
    X, Y = (np.zeros((n, columns), dtype) for n in reversed(matrix.shape))
    return consider(A, "cuda", task(spmm, A, X, Y, plans=plans)).schedule


def test_the_axis_of_a_kernel() -> None:
    A = ev.csr(generators.uniform(10, 2))
    X, Y = np.zeros((10, 7)), np.zeros((10, 7))
    assert task(spmm, A, X, Y).axis == Axis(8, True, False, 7, splits=True)
    assert task(CASES["columns"].kernel, A, X.T.copy(), Y.T.copy()).axis == Axis(8, False, False, 7)
    assert task(centred, A, X, Y, np.zeros((10, 7), np.int64)).axis == Axis(8, True, False, 7)
    assert task(sddmm, A, X, Y, np.zeros(20)).axis == Axis(8, True, True, 7)
    assert task(spmv, A, X[:, 0].copy(), Y[:, 0].copy()).axis is None


def test_words_of_16_bytes_along_the_axis() -> None:
    matrix = generators.uniform(200_000, 16)
    assert chosen(matrix, 8) == ev.GroupMapped(8, lanes=2, vector=4)
    assert chosen(matrix, 32) == ev.GroupMapped(8, lanes=8, vector=4)
    assert chosen(matrix, 128) == ev.GroupMapped(32, lanes=32, vector=4)
    assert chosen(matrix, 32, np.float64) == ev.GroupMapped(16, lanes=16, vector=2)


def test_lanes_inside_of_lanes_around_a_pass_take_the_axis_in_one_round() -> None:
    kernel = CASES["chosen"].kernel
    for matrix, kind in (
        (generators.banded(50_000, 64), ev.GroupMapped), (generators.rmat(14), ev.Lrb),
    ):  # fmt: skip
        A, (m, n) = ev.csr(matrix.astype(np.float32)), matrix.shape
        for columns, lanes in ((32, 8), (64, 16), (128, 32), (256, 32)):
            X, Z, V, out = (np.zeros((k, columns), np.float32) for k in (m, n, n, m))
            made = consider(A, "cuda", task(kernel, A, X, Z, V, out)).schedule
            assert (type(made), made.lanes, made.vector) == (kind, lanes, 4)
            assert made.items == (8 if kind is ev.GroupMapped else 4)  # of long tiles more at once


def test_blocks_take_equal_shares_of_rows_that_are_moved() -> None:
    def taken(lengths: Any, columns: int, dtype: Any = np.float32) -> Any:
        R = ev.ragged(np.concatenate([[0], np.cumsum(lengths)]))
        padded = np.zeros((R.num_tiles, 1, columns), dtype)
        out = np.zeros((R.num_atoms, columns), dtype)
        found = task(pack_rows, R, padded, dtype(0), out)
        assert found.axis is not None
        assert found.axis.moves
        return consider(R, "cuda", found).schedule

    equal, one = np.full(2_000, 50), np.array([*[1] * 500, 3_000])
    for columns, dtype, lanes, vector in (
        (512, np.float32, 32, 16), (512, np.float64, 32, 8), (512, np.float16, 32, 16), (512, np.int8, 32, 16),
        (32, np.float32, 8, 4), (128, np.float32, 32, 4), (640, np.float32, 32, 12), (511, np.float32, 32, 9),
        (1024, np.float16, 32, 16), (1024, np.int8, 32, 16), (512, np.complex128, 32, 4),
    ):  # fmt: skip
        made = ev.NonzeroSplit(128, 32 // lanes, lanes=lanes, vector=vector)
        assert taken(equal, columns, dtype) == made
    assert taken(one, 512) == ev.NonzeroSplit(128, 1, lanes=32, vector=16)
    # Of short rows threads would have some that lie apart.
    assert taken(equal, 8) == ev.GroupMapped(64, lanes=2, vector=4)
    # Of few rows each would take a thread longer than groups take.
    assert taken(equal[:20], 512) == ev.GroupMapped(256, lanes=32, vector=16)
    matrix = generators.uniform(200_000, 16)
    X, Z = (np.zeros((200_000, 8), np.float32) for _ in range(2))
    found = task(sddmm, ev.csr(matrix), X, Z, np.zeros(matrix.nnz)).axis
    assert found is not None
    assert not found.moves


def test_widths_that_words_do_not_fill() -> None:
    matrix, long = generators.uniform(200_000, 16), generators.banded(50_000, 64)
    assert chosen(matrix, 33) == ev.GroupMapped(16, lanes=16, vector=3)
    assert chosen(matrix, 5) == ev.GroupMapped(8, lanes=8, vector=1)
    assert chosen(matrix, 257) == ev.GroupMapped(32, lanes=32, vector=9)
    assert chosen(long, 17) == ev.GroupMapped(8, lanes=2, vector=9)
    assert chosen(long, 33) == ev.GroupMapped(16, lanes=4, vector=9)
    assert chosen(long, 49) == ev.GroupMapped(16, lanes=8, vector=7)
    assert chosen(generators.stencil(512), 9) == ev.GroupMapped(2, items=2, lanes=2, vector=5)
    assert not getattr(chosen(matrix, 1), "vector", 1) > 1  # as an SpMV
    assert chosen(matrix, 0) == chosen(matrix, 1)


def test_a_thread_has_two_words_of_numbers_of_one_byte() -> None:
    """More would be more columns than a schedule's `vector` may be."""
    for matrix in generators.uniform(200_000, 16), generators.rmat(14):
        for columns in 144, 192, 368:
            assert chosen(matrix, columns, np.int8).vector <= 32
    A, X = ev.csr(generators.banded(50_000, 64).astype(np.int8)), np.zeros((50_000, 2048), np.int8)
    made = consider(A, "cuda", task(sddmm, A, X, X.copy(), np.zeros(A.num_atoms, np.int8))).schedule
    assert (made.lanes, made.vector) == (32, 32)


@pytest.mark.parametrize(("columns", "schedule"), [
    (30, ev.GroupMapped(16, lanes=16, vector=2)),
    (34, ev.GroupMapped(8, lanes=8, vector=6)),
    (66, ev.GroupMapped(16, lanes=16, vector=6)),
    (258, ev.GroupMapped(32, lanes=32, vector=10)),
])  # fmt: skip
def test_words_of_two_columns(columns: int, schedule: Any) -> None:
    assert chosen(generators.uniform(200_000, 16), columns) == schedule


def test_every_thread_has_all_columns_but_its_last() -> None:
    """So that the code for such columns is taken, not the one that tests each of them."""
    for matrix in (
        generators.uniform(2_000, 16),
        generators.banded(2_000, 64),
        generators.stencil(50),
    ):
        for n in range(1, 301, 2):
            made = chosen(matrix, n)
            lanes, vector = getattr(made, "lanes", 1), getattr(made, "vector", 1)
            left = n % (lanes * vector)
            assert left == 0 or left >= (vector - 1) * lanes, (n, made)


def test_longer_tiles_get_more_threads() -> None:
    assert chosen(generators.banded(50_000, 64), 32) == ev.GroupMapped(16, lanes=8, vector=4)
    few = chosen(generators.uniform(50, 4000), 32)
    assert few == ev.GroupMapped(256, lanes=8, vector=4)


def test_short_tiles_get_small_teams_and_fewer_loads_at_once() -> None:
    matrix = generators.stencil(512)
    assert chosen(matrix, 32) == ev.GroupMapped(8, items=2, lanes=8, vector=4)
    assert chosen(matrix, 64) == ev.GroupMapped(8, items=2, lanes=8, vector=4)
    assert chosen(matrix, 128) == ev.GroupMapped(8, items=2, lanes=8, vector=4)


def test_threads_of_an_atom() -> None:
    def made(columns: int, matrix: Any) -> Any:
        A = ev.csr(matrix)
        X = np.zeros((matrix.shape[0], columns), np.float32)
        given = task(sddmm, A, X, X, np.zeros(matrix.nnz, np.float32))
        return consider(A, "cuda", given).schedule

    uniform = generators.uniform(200_000, 16)
    assert made(32, uniform) == ev.GroupMapped(8, lanes=8, vector=4)
    assert made(128, uniform) == ev.GroupMapped(16, lanes=16, vector=8)
    assert made(128, generators.banded(50_000, 64)) == ev.GroupMapped(16, lanes=16, vector=8)
    assert made(64, generators.banded(50_000, 64)) == ev.GroupMapped(8, items=8, lanes=8, vector=8)
    assert made(128, generators.stencil(512)) == ev.GroupMapped(8, items=5, lanes=8, vector=4)
    assert made(32, generators.stencil(512)) == ev.GroupMapped(8, items=5, lanes=8, vector=4)
    assert made(8, uniform) == ev.GroupMapped(8, lanes=2, vector=4)
    assert made(4, generators.stencil(512)) == ev.ThreadMapped(items=5, vector=4)
    assert made(32, generators.rmat(14)) == ev.Lrb(256, 8, 1, 256, 1024, vector=4)
    assert made(33, generators.rmat(14)) == ev.Lrb(256, 8, 1, 256, 1024, vector=5)
    assert made(3, generators.rmat(14)) == ev.Lrb(
        256, 2, 1, 64, 1024, vector=2
    )  # filled, as 2 x 3 were not
    long = generators.banded(50_000, 64)
    assert made(31, long) == ev.GroupMapped(8, lanes=4, vector=8)
    assert made(33, long) == ev.GroupMapped(8, items=8, lanes=4, vector=9)
    assert made(65, long) == ev.GroupMapped(16, items=8, lanes=16, vector=5)
    assert made(129, long) == ev.GroupMapped(16, lanes=16, vector=9)


@pytest.mark.parametrize("plans", [True, False])
def test_tiles_of_every_length_are_sorted_for_few_columns(plans: bool) -> None:
    matrix = generators.rmat(14)
    assert chosen(matrix, 16, plans=plans) == ev.Lrb(256, 4, 1, 64, 1024, vector=4)


@pytest.mark.parametrize("plans", [True, False])
def test_tiles_of_every_length_are_split_for_many_columns(plans: bool) -> None:
    matrix = generators.rmat(17)
    made = [chosen(matrix, n, plans=plans) for n in (32, 33, 64, 128)]
    assert made == [
        ev.MergePath(256, 8, lanes=8, vector=4),
        ev.MergePath(256, 8, lanes=16, vector=3),
        ev.MergePath(256, 8, lanes=16, vector=4),
        ev.MergePath(256, 4, lanes=32, vector=4),
    ]
    assert chosen(matrix, 32, np.float64, plans) == ev.MergePath(128, 8, lanes=8, vector=4)


def test_a_tile_that_would_hold_up_a_block_is_split() -> None:
    matrix = generators.dense_rows(200_000, 4, 1)
    assert chosen(matrix, 8) == ev.MergePath(256, 8, lanes=2, vector=4)


def test_tiles_whose_parts_do_not_fit_into_shared_memory_are_sorted() -> None:
    @ev.kernel
    def many(A, X, Y):
        for row in A.tiles():
            for j in ev.lanes(X.shape[1]):
                a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for k in A.atoms(row):
                    x = X[A.column(k), j]
                    a += x
                    b += x * x
                    c = max(c, x)
                    d = min(d, x)
                    e += abs(x)
                    f += A.value(k)
                Y[row, j] = a + b + c + d + e + f

    A = ev.csr(generators.rmat(14).astype(np.float64))
    X, Y = (np.zeros((len(A.offsets) - 1, 64)) for _ in range(2))
    assert isinstance(consider(A, "cuda", task(many, A, X, Y)).schedule, ev.Lrb)


def test_tiles_of_which_atoms_need_to_know_are_not_split() -> None:
    A = ev.csr(generators.rmat(14).astype(np.float64))
    X, Y = (np.zeros((len(A.offsets) - 1, 64)) for _ in range(2))
    given = task(centred, A, X, Y, Y.astype(np.int64))
    assert given.axis is not None
    assert not given.axis.splits
    assert isinstance(consider(A, "cuda", given).schedule, ev.Lrb)


def test_columns_that_lie_apart_are_registers_of_a_thread() -> None:
    A, columns = ev.csr(generators.uniform(200_000, 16)), CASES["columns"].kernel
    X, Y = np.zeros((12, 200_000), np.float32), np.zeros((12, 200_000), np.float32)
    made = consider(A, "cuda", task(columns, A, X, Y)).schedule
    assert made == ev.GroupMapped(4, lanes=1, vector=8)


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("kind", ["around", "split", "inside", "both"])
@pytest.mark.parametrize("adjacent", [True, False])
def test_every_width_has_a_schedule(width: int, kind: str, adjacent: bool) -> None:
    """A schedule refuses parameters that it cannot have, such as 33 columns a thread."""
    axis = Axis(width, adjacent, kind == "inside", 1, splits=kind == "split", both=kind == "both")
    held = numbers_for(None)
    for atoms, greatest in ((40_000_000, 40), (40_000_000, 900_000), (3_000_000, 900_000), (9, 9)):
        tiles = max(atoms // 30, 1)
        st = Statistics(tiles, atoms, atoms / tiles, greatest, 1.0, 0.0)
        for length in range(1, 1100):
            for kept in True, False:
                given = replace(axis, length=length), 8, kept, held, lambda _: True
                assert for_dense(st, *given)[0] is not None
