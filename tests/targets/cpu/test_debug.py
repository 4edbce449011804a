"""debug=True: what is out of bounds, or divides by zero, is named with its file and line."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from tests.language.cases import CASES
from tests.targets.cpu.programs import WORKERS, compiled, csr_of, run

import evenly as ev
from evenly.errors import InputError

OFFSETS = np.array([0, 2, 2, 5])


def gather(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[A.column(k) + 1] for k in A.atoms(row))  # gather


def scatter(A, x, y):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(y, A.column(k) - 1, x[0])  # scatter


def second_axis(A, x, y):
    for row in A.tiles():
        y[row] = x[0, row]  # second axis


def divide(A, x, y):
    for row in A.tiles():
        y[row] = sum(int(A.value(k)) // x[row] for k in A.atoms(row))  # divide


def remainder(A, x, y):
    for row in A.tiles():
        y[row] = row % x[row]  # remainder


def shift(A, x, y):
    for row in A.tiles():
        y[row] = x[row] << (x[row] + 39)  # shift


def guarded(A, x, y):
    for row in A.tiles():
        y[row] = x[row] if row < len(x) else 7.0


def failing(function: Any, schedule: Any, workers: int, **given: Any) -> str:
    executable = compiled(function, given, schedule, debug=True)
    with pytest.raises(InputError) as caught:
        run(executable, given, workers)
    return str(caught.value)


def line_of(text: str) -> str:
    """The text of the line that a message points at."""
    place = text.split(": ", 1)[0]
    file, line = place.rsplit(":", 1)
    return linecache.getline(file, int(line))


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize(
    "schedule", [ev.ThreadMapped(), ev.MergePath(), ev.WorkOriented()], ids=repr
)
def test_reads_out_of_bounds(schedule: Any, workers: int) -> None:
    A = csr_of(OFFSETS, columns=4)
    A.indices[:] = [0, 1, 2, 3, 0]
    text = failing(
        gather, schedule, workers, A=A, x=np.ones(4, np.float32), y=np.zeros(3, np.float32)
    )
    assert "x: expected an index from 0 to 3, got x[4]" in text
    assert "# gather" in line_of(text)


@ev.kernel
def ahead(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k + 9) for k in A.atoms(row))  # ahead


@ev.kernel
def astray(F, y):
    F.push(9)  # astray
    for u in F.tiles():
        y[u] = 1.0


def test_what_evenly_reads_is_where_the_kernel_asks_for_it() -> None:
    """Not in a file of evenly's layouts."""
    A = ev.csr((np.ones(5), np.zeros(5, np.int32), OFFSETS), shape=(3, 1))
    for kernel, layout in ((ahead, A), (astray, ev.frontier(A))):
        with pytest.raises(InputError) as caught:
            kernel.on("cpu", debug=True)(layout, np.zeros(3))
        assert f"# {kernel.name}" in line_of(str(caught.value))


def test_atomics_below_zero() -> None:
    A = csr_of(OFFSETS, columns=4)
    A.indices[:] = [1, 2, 3, 3, 0]
    text = failing(scatter, ev.MergePath(), 2, A=A, x=np.ones(1), y=np.zeros(3))
    assert "y: expected an index from 0 to 2, got y[-1]" in text
    assert "# scatter" in line_of(text)


def test_each_axis_by_itself() -> None:
    text = failing(
        second_axis, ev.ThreadMapped(), 1, A=csr_of(OFFSETS), x=np.ones((9, 2)), y=np.zeros(3)
    )
    assert "expected an index from 0 to 1, got x[2]" in text
    assert "# second axis" in line_of(text)


def test_an_empty_array_has_no_index() -> None:
    text = failing(
        second_axis, ev.ThreadMapped(), 1, A=csr_of(OFFSETS), x=np.ones((0, 2)), y=np.zeros(3)
    )
    assert "no index, for it is empty" in text


@pytest.mark.parametrize("function", [divide, remainder])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_division_by_zero(function: Any, dtype: Any) -> None:
    given = {"A": csr_of(OFFSETS), "x": np.array([1, 1, 0], dtype), "y": np.zeros(3)}
    text = failing(function, ev.ThreadMapped(), 2, **given)
    assert "expected a divisor that is not zero, got 0" in text
    assert f"# {function.__name__}" in line_of(text)


def test_shift_counts() -> None:
    given = {"A": csr_of(OFFSETS), "x": np.ones(3, np.int32), "y": np.zeros(3, np.int64)}
    text = failing(shift, ev.ThreadMapped(), 1, **given)
    assert "expected a shift count from 0 to 31, got 40" in text


def test_float_division_by_zero_is_no_error() -> None:
    def quotient(A, x, y):
        for row in A.tiles():
            y[row] = row / x[row]

    given = {"A": csr_of(OFFSETS), "x": np.zeros(3), "y": np.zeros(3)}
    run(compiled(quotient, given, ev.ThreadMapped(), debug=True), given)
    np.testing.assert_array_equal(given["y"], [np.nan, np.inf, np.inf])


def test_what_is_not_evaluated_is_not_checked() -> None:
    given = {"A": csr_of(OFFSETS), "x": np.ones(2), "y": np.zeros(3)}
    run(compiled(guarded, given, ev.ThreadMapped(), debug=True), given)
    np.testing.assert_array_equal(given["y"], [1, 1, 7])


def test_an_executable_runs_again_after_an_error() -> None:
    given = {"A": csr_of(OFFSETS), "x": np.array([1, 0, 1]), "y": np.zeros(3)}
    executable = compiled(remainder, given, ev.ThreadMapped(), debug=True)
    with pytest.raises(InputError):
        run(executable, given, 2)
    given["x"][1] = 5
    run(executable, given, 2)
    np.testing.assert_array_equal(given["y"], [0, 1, 0])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_checks_change_nothing_else(case: Any) -> None:
    arguments = case.arguments()
    ev.kernel(case.function)[ev.ThreadMapped()].on("cpu", debug=True)(*arguments.values())
    case.check(arguments)
