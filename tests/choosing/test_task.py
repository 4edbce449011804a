"""What `auto` looks at of a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly import schedules as s
from evenly.arguments import spec_of
from evenly.choosing.auto import consider, work_of
from evenly.choosing.statistics import statistics
from evenly.choosing.task import Task, fits, product_of, task_of
from evenly.gpus.numbers import numbers
from evenly.interop.generators import rmat
from evenly.layouts import convert
from tests.kernels import CASES

from .structures import equal_tiles


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def spmv_of_columns(A, x, y):
    for column in A.tiles():
        for k in A.atoms(column):
            ev.atomic_add(y, A.row(k), A.value(k) * x[column])


@ev.kernel
def row_argmax(A, where):
    for row in A.tiles():
        where[row] = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)


@ev.kernel
def deviations(A, x, y):
    for row in A.tiles():
        y[row] = sum(abs(A.value(k) - x[row]) for k in A.atoms(row))


@ev.kernel
def positive(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row) if A.column(k) > row)


@ev.kernel
def many_sums(A, y):
    for row in A.tiles():
        one, two, three = 0j, 0j, 0j
        four, five = 0j, 0j
        for k in A.atoms(row):
            one += A.value(k)
            two += A.value(k) * 2
            three += A.value(k) * 3
            four += A.value(k) * 4
            five += A.value(k) * 5
        y[row] = one + two + three + four + five


@ev.kernel
def padded(A, y):
    for row in A.tiles():
        small = 0.0
        one, two, three = 0j, 0j, 0j
        for k in A.atoms(row):
            small += A.value(k).real
            one += A.value(k)
            two += A.value(k) * 2
            three += A.value(k) * 3
        y[row] = one + two + three + small


def task(kernel, *arguments) -> Task:
    specs = (spec_of(value, "A") for value in arguments)
    return task_of(kernel.program(tuple(specs)))


def test_who_gathers_does_not_stream() -> None:
    A, C = ev.csr(rmat(4)), ev.csc(rmat(4).tocsc())
    x, y = np.ones(16), np.ones(16)
    assert not task(spmv, A, x, y).streams
    assert not task(spmv, ev.ell(rmat(4)), x, y).streams
    assert not task(spmv_of_columns, C, x, y).streams
    assert task(row_argmax, A, np.ones(16, np.int32)).streams
    assert task(deviations, A, x, y).streams


@ev.kernel
def softened(A, out):
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            total += abs(A.value(k))
        for k in A.atoms(row):
            out[k] = A.value(k) / total


@ev.kernel
def running(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            out[k] = ev.scan(A.value(k))


def test_who_stores_at_its_atoms_does_not_gather() -> None:
    A = ev.csr(rmat(4))
    out, x = np.ones(A.num_atoms, np.float32), np.ones(16)
    two, scan = task(softened, A, out), task(running, A, out)
    assert not two.gathers and not two.streams
    assert (two.passes, two.atom_bytes, two.later, two.stored) == (2, 4, 4, 4)
    assert (scan.passes, scan.atom_bytes, scan.later, scan.stored) == (1, 4, 0, 4)
    assert two.kernels == scan.kernels == (1, 2)
    assert task(spmv, A, x, x).kernels == (1, 1)
    assert task(spmv_of_columns, ev.csc(rmat(4).tocsc()), x, x).stored == 0


def test_some_atoms_contribute_what_depends_on_their_tile() -> None:
    """What a tile adds at its end, or where it stores, is no matter of its atoms."""
    A, x = ev.csr(rmat(4)), np.ones(16)
    assert task(deviations, A, x, x).by_tile
    assert task(positive, A, x).by_tile
    assert not task(spmv, A, x, x).by_tile
    assert not task(row_argmax, A, np.ones(16, np.int32)).by_tile
    assert not task(many_sums, A, x.astype(np.complex128)).by_tile


def test_the_width_of_numbers_is_that_of_what_is_summed() -> None:
    A = ev.csr(rmat(4))
    for dtype, width in ((np.float16, 4), (np.float32, 4), (np.float64, 8), (np.complex128, 16)):
        assert task(spmv, A, np.ones(16, dtype), np.ones(16, dtype)).width == max(width, 4)
    wide = task(spmv, ev.csr(rmat(4, dtype=np.float64)), np.ones(16), np.ones(16))
    assert wide.width == 8


def test_bytes_of_an_atom_are_those_that_it_reads_in_order() -> None:
    """Not what it gathers: of the columns and values here, 4 and 8 bytes."""
    x = np.ones(16)
    for dtype, values in ((np.float32, 4), (np.float64, 8)):
        A = ev.csr(rmat(4, dtype=dtype))
        assert task(spmv, A, x, x).atom_bytes == 4 + values
        assert task(deviations, A, x, x).atom_bytes == values
        assert product_of(A).atom_bytes == 4 + values


@pytest.mark.parametrize(("kernel", "nbytes"), [(many_sums, 80), (padded, 64)])
def test_values_that_no_block_can_exchange_are_not_divided(kernel: ev.Kernel, nbytes: int) -> None:
    """What the lanes of large blocks exchange does not fit into shared memory. 56 bytes make a struct of 64."""
    A = ev.csr(rmat(14).astype(np.complex128))
    found = task(kernel, A, np.zeros(A.num_tiles, np.complex128))
    assert found.value_bytes == nbytes
    choice = consider(A, "cuda", found)
    offered = {str(choice.schedule), *(name for name, _ in choice.rejected)}
    shares = [s.by_name(row["schedule"], **row["with"]) for row in numbers()["shares"]]
    able = [made for made in shares if fits(made, found)]
    assert 0 < len(able) < len(shares)
    assert offered & set(map(str, shares)) == set(map(str, able))


def test_an_spmv_is_as_wide_as_the_values_of_its_matrix() -> None:
    for dtype, width in ((np.int32, 4), (np.float32, 4), (np.float64, 8), (np.complex128, 16)):
        A = ev.csr(rmat(4, dtype=np.float32).astype(dtype))
        some = ev.subset(A, np.array([1, 2]))
        assert product_of(A) == Task(width=width, atom_bytes=4 + width)
        assert product_of(some, kept=False) == Task(width=width, atom_bytes=4 + width, kept=False)
    assert product_of(equal_tiles(4, 2)) == Task()


def test_runs_are_for_what_lies_side_by_side() -> None:
    """There are no runs for values at indices of their own, for those of some atoms only, or for passes that store."""
    x = np.ones(16, np.float32)
    for layout, there in ("csr", True), ("ell", False), ("dia", False), ("bcsr", False):
        A = convert(rmat(4), layout)
        assert task(spmv, A, x, x).runs == product_of(A).runs == there
    narrow = ev.batch([rmat(4)])  # 256 adjacent atoms share the column from which theirs count
    for found in task(spmv, narrow, x, x), product_of(narrow):
        assert (found.runs, found.atom_bytes) == (True, narrow.indices.itemsize + 4)
        work = work_of(statistics(narrow), found, narrow)
        assert work.arrays == (narrow.indices.itemsize, 4)
    A = ev.csr(rmat(4))
    assert not task(positive, A, x).runs
    counts = np.zeros(16, np.int32), np.zeros(1, np.int64)
    assert not task(CASES["column_counts"].kernel, A, *counts).runs
