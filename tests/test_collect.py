"""Outputs of unknown size: kernels that emit, and what `collect` returns, against Python's lists."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.language.diagnostics import LanguageError
from tests.batteries import matrices
from tests.kernels import ENGINES, SCHEDULES
from tests.test_properties import matrices as any_matrix

MATRICES = matrices(np.float32)


@ev.kernel
def positive(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            if A.value(k) > 0:
                out.emit(A.column(k), A.value(k))


@ev.kernel
def repeated(A, seen, out):
    """Several elements an atom, other stores, and elements before, between and after two passes."""
    for row in A.tiles():
        out.emit(-1, 0.5)
        for k in A.atoms(row):
            seen[k] = 1
            for i in range(A.column(k) % 3):
                out.emit(i, A.value(k))
            if A.value(k) < 0:
                out.emit(-2, 0.0)
        if row % 2 == 0:
            out.emit(-3, 0.0)
        total = sum(A.value(k) for k in A.atoms(row))
        for k in A.atoms(row):
            if A.value(k) * 2 > total:
                out.emit(A.column(k), total)


def lists_of(A: Any, one: Any) -> tuple[list[int], list[Any]]:
    """The offsets and the elements of what `one` yields for each row of a CSR layout."""
    found = [list(one(row, A)) for row in range(A.num_tiles)]
    return [0, *itertools.accumulate(map(len, found))], list(itertools.chain.from_iterable(found))


def positives(row: int, A: Any) -> Any:
    for k in range(A.offsets[row], A.offsets[row + 1]):
        if A.values[k] > 0:
            yield A.indices[k], A.values[k]


def repeats(row: int, A: Any) -> Any:
    atoms = range(A.offsets[row], A.offsets[row + 1])
    yield -1, 0.5
    for k in atoms:
        yield from ((i, A.values[k]) for i in range(A.indices[k] % 3))
        if A.values[k] < 0:
            yield -2, 0.0
    if row % 2 == 0:
        yield -3, 0.0
    total = sum(A.values[k] for k in atoms)
    for k in atoms:
        if A.values[k] * 2 > total:
            yield A.indices[k], total


def agree(matrix: Any, schedule: Any, target: str, **options: Any) -> None:
    A = ev.csr(matrix)
    seen = np.zeros(A.num_atoms, np.int32)
    for kernel, more, plain in ((positive, (), positives), (repeated, (seen,), repeats)):
        offsets, elements = lists_of(A, plain)
        bound = kernel[schedule].on(target, **options)
        found, columns, values = bound.collect(A, *more, out=(np.int32, np.float32))
        assert found.offsets.tolist() == offsets
        assert columns.tolist() == [c for c, _ in elements]
        np.testing.assert_array_equal(values, np.array([v for _, v in elements], np.float32))
        assert found.num_atoms == len(elements)
    assert seen.all()


@pytest.mark.parametrize("name", MATRICES)
def test_the_reference_collects_python_lists(name: str) -> None:
    agree(MATRICES[name], "auto", "python")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_cpu_collects_python_lists(schedule: str) -> None:
    for matrix in MATRICES.values():
        agree(matrix, SCHEDULES[schedule], "cpu")


@pytest.mark.simt
@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_simt_collects_python_lists(schedule: Any) -> None:
    for seed, name in enumerate(["power law", "one tile has everything", "no tiles", "no atoms"]):
        if name in MATRICES:
            agree(MATRICES[name], schedule, "simt", seed=seed)


@given(matrix=any_matrix(), schedule=st.sampled_from(sorted(SCHEDULES)))
def test_any_matrix(matrix: Any, schedule: str) -> None:
    agree(matrix, SCHEDULES[schedule], "cpu")


@pytest.mark.simt
@settings(max_examples=10)
@given(
    matrix=any_matrix(), schedule=st.sampled_from(range(len(ENGINES))), seed=st.integers(0, 2**40)
)
def test_any_matrix_and_any_order_of_threads(matrix: Any, schedule: int, seed: int) -> None:
    agree(matrix, ENGINES[schedule], "simt", seed=seed)


# ---- calls ---------------------------------------------------------------------------------------
A = sp.csr_array(np.array([[1.0, 0, -2], [0, 0, 3], [4, 5, 0]], np.float32))


@ev.kernel
def columns_of(A, edges):
    for row in A.tiles():
        for k in A.atoms(row):
            edges.emit(A.column(k))


def test_one_type_alone_and_other_names() -> None:
    lists, columns = columns_of.collect(A, np.int64)
    assert (lists.offsets.tolist(), columns.tolist(), columns.dtype) == (
        [0, 2, 3, 5],
        [0, 2, 2, 0, 1],
        np.int64,
    )
    again, other = columns_of["merge_path"].collect(A=A, edges=[np.int32])
    assert (again.offsets.tolist(), other.dtype) == ([0, 2, 3, 5], np.int32)


def test_lists_stand_in_the_order_of_the_walk() -> None:
    lists, columns = columns_of.collect(ev.subset(ev.csr(A), np.array([2, 0], np.int32)), np.int32)
    assert (lists.offsets.tolist(), columns.tolist()) == ([0, 2, 4], [0, 1, 0, 2])


@ev.kernel
def tiles_alone(A, out):
    for row in A.tiles():
        if row % 2 == 0:
            out.emit(row)


def test_tiles_may_emit_without_a_pass() -> None:
    for target in ("python", "cpu"):
        for schedule in ("auto", "thread_mapped", "merge_path"):
            _, rows = tiles_alone[schedule].on(target).collect(A, out=np.int32)
            assert rows.tolist() == [0, 2]


def test_floats_of_16_bits() -> None:
    for target in ("python", "cpu"):
        _, _, values = positive.on(target).collect(A, out=(np.int32, np.float16))
        assert (values.dtype, values.tolist()) == (np.float16, [1, 3, 4, 5])


def test_a_collected_layout_is_ragged_for_other_kernels() -> None:
    @ev.kernel
    def sums(L, values, y):
        for tile in L.tiles():
            y[tile] = sum(values[k] for k in L.atoms(tile))

    lists, _, values = positive.collect(A, out=(np.int32, np.float32))
    y = np.zeros(3)
    sums(lists, values, y)
    assert y.tolist() == [1, 3, 9]


# ---- what is refused -----------------------------------------------------------------------------
def refused(kernel: Any, message: str, *arguments: Any, hint: str = "", **named: Any) -> None:
    with pytest.raises(LanguageError) as caught:
        kernel.collect(*arguments, **named)
    assert (caught.value.message, caught.value.hint) == (message, hint)


@ev.kernel
def by_a_store(A, y, out):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))
    for row in A.tiles():
        total = sum(y[A.column(k)] for k in A.atoms(row))
        for k in A.atoms(row):
            if total > 0:
                out.emit(k)


@ev.kernel
def by_an_atomic(A, z, out):
    for row in A.tiles():
        for k in A.atoms(row):
            if ev.atomic_add(z, A.column(k), 1) == 0:
                out.emit(k)


@ev.kernel
def by_a_scan(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            if ev.rank(A.value(k) > 0) < 2:
                out.emit(k)


@ev.kernel
def twice(A, out):
    for _row in A.tiles():
        out.emit(1)
    for _row in A.tiles():
        out.emit(2)


@ev.kernel
def in_lanes(A, out):
    for _row in A.tiles():
        for j in ev.lanes(2):
            out.emit(j)


@ev.kernel
def outside(A, out):
    out.emit(1)
    for _row in A.tiles():
        pass


@ev.kernel
def never(A, out):
    for _row in A.tiles():
        pass


@ev.kernel
def reads_its_list(A, out):
    for row in A.tiles():
        if out.num_atoms == 0:
            out.emit(row)


@ev.kernel
def constants(A, out):
    for _row in A.tiles():
        out.emit(0x9E3779B97F4A7C15, 250)


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_constants_of_64_bits_are_emitted_as_they_are_stored(target: str) -> None:
    _, large, small = constants.on(target).collect(A, (np.uint64, np.uint8))
    assert large.tolist() == [0x9E3779B97F4A7C15] * A.shape[0]
    assert small.tolist() == [250] * A.shape[0]


def test_what_is_emitted_is_not_read_in_the_same_kernel() -> None:
    refused(
        reads_its_list,
        "out.num_atoms in a kernel that emits to out",
        A,
        np.int32,
        hint="kernels have emit; another kernel may read the lists",
    )


def test_refusals() -> None:
    effects = "out.emit depends on what the kernel stores, or on what an atomic returns: the run that counts does neither"
    own = "emit in a kernel of its own, after the one that stores"
    refused(by_a_store, effects, A, np.zeros(3), np.int32, hint=own)
    refused(by_an_atomic, effects, A, np.zeros(3, np.int32), np.int32, hint=own)
    scan = "an emit that depends on a scan in the same loop over atoms"
    stored = "scan in a kernel of its own, and store the result for this one"
    refused(by_a_scan, scan, A, np.int32, hint=stored)
    refused(
        twice,
        "out.emit in two loops over tiles",
        A,
        np.int32,
        hint="collect twice, with two kernels",
    )
    refused(
        in_lanes,
        "out.emit in a loop over lanes: lanes have no order",
        A,
        np.int32,
        hint="use range()",
    )
    refused(
        outside,
        "out.emit outside the loops over tiles",
        A,
        np.int32,
        hint="each tile has a list of its own",
    )
    refused(
        positive,
        "out.emit takes 1 value, got 2",
        A,
        np.int32,
        hint="one for each type of collect(..., out=...)",
    )
    refused(
        positive,
        "a float32 stored into out.column_1 of int32",
        A,
        (np.int32, np.int32),
        hint="convert it: int(x) truncates",
    )


def test_wrong_calls() -> None:
    with pytest.raises(
        ev.InputError, match=r"positive.collect: expected one argument that is a tuple of types"
    ):
        positive.collect(A, np.zeros(3))
    with pytest.raises(ev.InputError, match="out: expected types of"):
        positive.collect(A, (np.int32, np.dtype("U3")))
    with pytest.raises(ev.InputError, match=r"expected a kernel that calls out.emit"):
        never.collect(A, np.int32)
