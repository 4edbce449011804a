"""The target `python`: what it checks while it runs, and that it stays the user's own function."""

from __future__ import annotations

import copy
import inspect
import math
import pickle

import numpy as np
import pytest

import evenly as ev
from evenly.targets.python import BadValue, DividedByZero, OutOfBounds, PythonTarget, RunError, run

from .cases.table import f32, f64, i32, rows, tiles


def _run(function, *args):
    ev.kernel(function).on("python")(*args)


def _here(function, text: str) -> str:
    """file:line of the line of `function` that holds `text`."""
    lines, first = inspect.getsourcelines(function)
    number = next(i for i, line in enumerate(lines) if text in line)
    return f"{__file__}:{first + number}"


def test_an_index_beyond_the_end() -> None:
    def kernel(A, x, y):
        for row in A.tiles():
            y[row] = x[row + 3]

    with pytest.raises(OutOfBounds) as caught:
        _run(kernel, tiles(2), f32(1, 2, 3, 4), f32(0, 0))
    where = _here(kernel, "x[row + 3]")
    assert (
        str(caught.value)
        == f"{where} in {kernel.__qualname__}: x: expected an index in 0..3, got 4"
    )
    assert isinstance(caught.value, ev.InputError)
    assert isinstance(caught.value, IndexError)


@pytest.mark.parametrize(
    ("i", "j", "said"),
    [(-1, 0, "an index in 0..1 on axis 0, got -1"), (1, 3, "an index in 0..2 on axis 1, got 3")],
)
def test_negative_indices_and_axes(i: int, j: int, said: str) -> None:
    def kernel(A, m, i, j):
        for row in A.tiles():
            m[i, j] = 1.0 + row * 0

    with pytest.raises(OutOfBounds, match=said):
        run(
            kernel, ev.kernel(kernel).source, {"A": tiles(1), "m": np.zeros((2, 3)), "i": i, "j": j}
        )


def test_an_index_of_an_empty_array() -> None:
    def kernel(A, x, y):
        for row in A.tiles():
            y[row] = x[row]

    with pytest.raises(OutOfBounds, match="x: expected no index: it is empty, got 0"):
        run(kernel, ev.kernel(kernel).source, {"A": tiles(1), "x": f32(), "y": f32(0)})


def test_an_index_of_a_layout_is_placed_in_the_kernel() -> None:
    def kernel(A, y):
        for row in A.tiles():
            y[row] = A.value(row + 5)

    with pytest.raises(
        OutOfBounds, match=r"A\.values: expected an index in 0\.\.1, got 5"
    ) as caught:
        _run(kernel, rows([1, 2]), f32(0))
    assert caught.value.where.startswith(_here(kernel, "A.value"))


def test_an_index_in_a_function_is_placed_there() -> None:
    _run(calls_fetch, tiles(2), f32(1, 2), f32(0, 0), 0)
    with pytest.raises(OutOfBounds) as caught:
        _run(calls_fetch, tiles(2), f32(1, 2), f32(0, 0), 1)
    assert caught.value.where == f"{_here(fetch.function, 'x[i]')} in fetch"


@ev.func
def fetch(x, i):
    return x[i]


def calls_fetch(A, x, y, shift):
    for row in A.tiles():
        y[row] = fetch(x, row + shift)


@pytest.mark.parametrize("d", [i32(0), np.zeros(1, np.int64)])
def test_integer_division_by_zero(d) -> None:
    def divide(A, d, y):
        for row in A.tiles():
            y[row] = 5 // d[row]

    def remainder(A, d, y):
        for row in A.tiles():
            y[row] = (row + 5) % (row * d[row])

    for kernel in (divide, remainder):
        with pytest.raises(DividedByZero, match="test the divisor first") as caught:
            _run(kernel, tiles(1), d, np.zeros(1, np.int64))
        assert caught.value.where.startswith(__file__)
        assert isinstance(caught.value, ZeroDivisionError)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_floats_that_have_no_integer(value: float) -> None:
    def kernel(A, x, y):
        for row in A.tiles():
            y[row] = int(x[row])

    with pytest.raises(BadValue, match="cannot convert float"):
        _run(kernel, tiles(1), f32(value), i32(0))


@pytest.mark.parametrize("count", [-1, 32])
def test_shifts_beyond_the_word(count: int) -> None:
    def kernel(A, a, s, y):
        for row in A.tiles():
            y[row] = a[row] << s[row]

    with pytest.raises(BadValue, match=rf"shift count: expected 0\.\.31, got {count}"):
        _run(kernel, tiles(1), i32(1), i32(count), i32(0))


def test_a_tile_without_an_id_of_its_own() -> None:
    """What the compiler refuses, the reference refuses too when it is run by itself."""

    def kernel(S, y):
        for v in S.tiles():
            for k in S.atoms(v + 1):
                y[k] = 1

    S = ev.subset(rows([1], [2], [3]), i32(2, 0))
    with pytest.raises(RunError, match="renames its tiles"):
        run(kernel, ev.kernel(kernel).source, {"S": S, "y": f32(0, 0, 0)})


def test_nothing_warns() -> None:
    """NumPy's warnings about overflow and division belong to the language: pytest makes them errors."""

    def kernel(A, x, y):
        for row in A.tiles():
            y[row] = x[row] / 0 + x[row] * 1e38 * 1e38

    with np.errstate(all="raise"):
        _run(kernel, tiles(2), f32(1, 0), f32(0, 0))


def test_the_kernel_itself_is_left_alone() -> None:
    def kernel(A, y):
        for row in A.tiles():
            y[row] = sum(A.value(k) for k in A.atoms(row))

    before = copy.copy(kernel.__globals__)
    y = f32(0, 0)
    _run(kernel, rows([1, 2], [3]), y)
    assert y.tolist() == [3, 3]
    assert kernel.__globals__ == before
    assert math.exp(0) == 1.0
    assert sum([1, 2]) == 3


def test_captured_values_are_read_at_each_run() -> None:
    factor = 2

    def kernel(A, y):
        for row in A.tiles():
            y[row] = factor * (row + 1)

    y = f64(0, 0)
    source = ev.kernel(kernel).source
    run(kernel, source, {"A": tiles(2), "y": y})
    factor = 3
    z = f64(0, 0)
    run(kernel, source, {"A": tiles(2), "y": z})
    assert (y.tolist(), z.tolist()) == ([2, 4], [3, 6])


def test_atoms_may_be_walked_twice() -> None:
    def kernel(A, y):
        for row in A.tiles():
            atoms = A.atoms(row)
            y[row] = sum(A.value(k) for k in atoms) - sum(1 for k in atoms)

    y = f32(0, 0)
    _run(kernel, rows([1, 2], [3]), y)
    assert y.tolist() == [1, 2]


def test_errors_cross_processes() -> None:
    def kernel(A, x, y):
        for row in A.tiles():
            y[row] = x[row + 1]

    with pytest.raises(OutOfBounds) as caught:
        _run(kernel, tiles(1), f32(1), f32(0))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_the_target() -> None:
    target = PythonTarget()
    assert target.name == "python"
    target.require()


def test_reductions_to_an_atom_are_for_kernels() -> None:
    with pytest.raises(
        ev.InputError,
        match=r"a generator over A.atoms\(tile\), or over B.tiles\(item\), in a kernel",
    ):
        ev.argmax((v for v in (1, 2)), default=-1)
    with pytest.raises(ev.InputError, match="got list"):
        ev.first([True], default=-1)


@pytest.mark.parametrize("given", [None, i32(0, 0)])
def test_a_name_that_is_assigned_under_an_if_that_is_decided(given) -> None:
    def kernel(A, x, y, ids):
        for row in A.tiles():
            if x[row] > 0:
                y[row] = 1
                if ids is not None:
                    at = row
                    ids[at] = 7

    y = i32(0, 0)
    _run(kernel, tiles(2), f32(1, -1), y, given)
    assert y.tolist() == [1, 0]
    assert given is None or given.tolist() == [7, 0]
