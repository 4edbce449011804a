"""Errors of a user's code at run time name the line of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernels import ENGINES

import evenly as ev

pytestmark = pytest.mark.simt

OFFSETS = np.array([0, 2, 2, 5], np.int32)


def csr_of(columns: list[int]) -> Any:
    return ev.csr((np.ones(5, np.float32), np.array(columns, np.int32), OFFSETS), shape=(3, 4))


@ev.kernel
def gather(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[A.column(k) + 1] for k in A.atoms(row))  # gather


@ev.kernel
def scatter(A, x, y):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(y, A.column(k) - 1, x[0])  # scatter


@ev.kernel
def stores(A, x, y):
    for row in A.tiles():
        for k in A.atoms(row):
            y[A.column(k) - 1] = x[0]  # stores


@ev.kernel
def divide(A, x, y):
    for row in A.tiles():
        y[row] = sum(int(A.value(k)) // x[row] for k in A.atoms(row))  # divide


@ev.kernel
def remainder(A, x, y):
    for row in A.tiles():
        y[row] = row % x[row]  # remainder


@ev.kernel
def shift(A, x, y):
    for row in A.tiles():
        y[row] = x[row] << (x[row] + 39)  # shift


@ev.func
def half(v, n):
    return v // n  # half


@ev.kernel
def divides_in_a_function(A, x, y):
    for row in A.tiles():
        y[row] = half(row, x[row])


@ev.kernel
def guarded(A, x, y):
    for row in A.tiles():
        y[row] = x[row] if row < len(x) else 7.0


def failing(kernel: Any, schedule: Any, *args: Any) -> ev.SimtError:
    with pytest.raises(ev.SimtError) as caught:
        kernel[schedule].on("simt")(*args)
    return caught.value


def names_the_line(error: ev.SimtError, line: str) -> bool:
    """Whether the nearest line of Python is the one with this comment, and the message shows it."""
    return error.locations[0].text.rstrip().endswith(f"# {line}") and f"# {line}" in str(error)


@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_reads_out_of_bounds(schedule: Any) -> None:
    A = csr_of([0, 1, 2, 3, 0])
    error = failing(gather, schedule, A, np.ones(4, np.float32), np.zeros(3, np.float32))
    assert error.kind == "bounds"
    assert "x[4]" in str(error)
    assert names_the_line(error, "gather")


@pytest.mark.parametrize("kernel", [scatter, stores])
@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_writes_below_zero(kernel: Any, schedule: Any) -> None:
    error = failing(kernel, schedule, csr_of([1, 2, 3, 3, 0]), np.ones(1), np.zeros(3))
    assert error.kind == "bounds"
    assert "y[-1]" in str(error)
    assert names_the_line(error, kernel.name)


def test_an_empty_array_has_no_index() -> None:
    A = csr_of([0, 1, 2, 3, 0])
    error = failing(gather, ev.MergePath(), A, np.zeros(0, np.float32), np.zeros(3, np.float32))
    assert error.kind == "bounds"
    assert names_the_line(error, "gather")


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("kernel", [divide, remainder])
@pytest.mark.parametrize("schedule", [ev.ThreadMapped(), ev.MergePath()], ids=str)
def test_division_by_zero(kernel: Any, schedule: Any, dtype: Any) -> None:
    A = csr_of([0, 1, 2, 3, 0])
    error = failing(kernel, schedule, A, np.array([1, 1, 0], dtype), np.zeros(3))
    assert error.kind == "undefined"
    assert "zero" in str(error)
    assert names_the_line(error, kernel.name)


def test_shift_counts() -> None:
    args = csr_of([0, 1, 2, 3, 0]), np.ones(3, np.int32), np.zeros(3, np.int64)
    error = failing(shift, ev.ThreadMapped(), *args)
    assert error.kind == "undefined"
    assert "shift" in str(error)
    assert names_the_line(error, "shift")


def test_a_line_of_a_function() -> None:
    args = csr_of([0, 1, 2, 3, 0]), np.array([1, 1, 0]), np.zeros(3, np.int64)
    error = failing(divides_in_a_function, ev.ThreadMapped(), *args)
    assert error.locations[0].text.strip() in (
        "return v // n  # half",
        "y[row] = half(row, x[row])",
    )


def test_float_division_by_zero_is_no_error() -> None:
    @ev.kernel
    def quotient(A, x, y):
        for row in A.tiles():
            y[row] = row / x[row]

    y = np.zeros(3)
    quotient.on("simt")(csr_of([0, 1, 2, 3, 0]), np.zeros(3), y)
    np.testing.assert_array_equal(y, [np.nan, np.inf, np.inf])


def test_what_is_not_evaluated_is_not_checked() -> None:
    y = np.zeros(3)
    guarded.on("simt")(csr_of([0, 1, 2, 3, 0]), np.ones(2), y)
    np.testing.assert_array_equal(y, [1, 1, 7])


def test_it_runs_again_after_an_error() -> None:
    A, x, y = csr_of([0, 1, 2, 3, 0]), np.array([1, 0, 1]), np.zeros(3)
    failing(remainder, ev.ThreadMapped(), A, x, y)
    x[1] = 5
    remainder[ev.ThreadMapped()].on("simt")(A, x, y)
    np.testing.assert_array_equal(y, [0, 1, 0])


def test_blocks_that_take_too_much_shared_memory_are_refused_as_on_a_gpu() -> None:
    """Of 512 threads with 16 values of eight bytes each."""
    A, y = csr_of([0, 1, 2, 3, 0]), np.zeros(3)
    with pytest.raises(
        ev.InputError, match=r"schedule: expected blocks that fit into 49,152 bytes .* in gather_0;"
    ):
        gather[ev.MergePath(512, 16)].on("simt")(A, np.ones(8), y)
