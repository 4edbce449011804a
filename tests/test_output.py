"""Outputs that kernels append to: the same set of elements under every schedule on every target, and none lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.language.diagnostics import LanguageError
from evenly.targets.cuda.compile import cubin
from tests.batteries import matrices
from tests.emitting import emitted
from tests.kernels import ENGINES, SCHEDULES
from tests.test_properties import matrices as any_matrix

MATRICES = matrices(np.float32)
TYPES = (np.int64, np.float32)


@ev.kernel
def found(A, out, sums):
    """Appends of atoms and of tiles, under conditions that a whole team of threads has in common, and others."""
    out.append(-1, 0.5)
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            total += A.value(k)
            if A.value(k) > 0:
                out.append(A.column(k), A.value(k))
            for i in range(A.column(k) % 3):
                out.append(i, 2.0)
        if row % 2 == 0:
            out.append(row, -1.0)
        sums[row] = total


def expected(A: Any) -> list[tuple[int, float]]:
    elements = [(-1, 0.5)]
    for row in range(A.num_tiles):
        for k in range(A.offsets[row], A.offsets[row + 1]):
            if A.values[k] > 0:
                elements.append((int(A.indices[k]), float(A.values[k])))
            elements += [(i, 2.0) for i in range(A.indices[k] % 3)]
        if row % 2 == 0:
            elements.append((row, -1.0))
    return sorted(elements)


def agree(matrix: Any, schedule: Any, target: str, **options: Any) -> None:
    A = ev.csr(matrix)
    wanted = expected(A)
    out = ev.output(TYPES, capacity=len(wanted))
    for _ in range(2):
        found[schedule].on(target, **options)(A, out, np.zeros(A.num_tiles, np.float32))
        columns = out.columns
        assert [c.dtype for c in columns] == [np.int64, np.float32]
        assert sorted(zip(*(c.tolist() for c in columns), strict=True)) == wanted
        out.clear()
        assert len(out) == 0


@pytest.mark.parametrize("target", ["python", "cpu"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_appends_the_same_elements(schedule: str, target: str) -> None:
    few = ["power law", "one tile has everything", "no tiles", "no atoms"]
    for name in MATRICES if target == "cpu" else [n for n in few if n in MATRICES]:
        agree(MATRICES[name], SCHEDULES[schedule], target)


@pytest.mark.simt
@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_simt_appends_the_same_elements(schedule: Any) -> None:
    agree(MATRICES["power law"], schedule, "simt", seeds=range(2))


@settings(max_examples=10)
@given(matrix=any_matrix(), schedule=st.sampled_from(sorted(SCHEDULES)))
def test_any_matrix(matrix: Any, schedule: str) -> None:
    agree(matrix, SCHEDULES[schedule], "cpu")


def test_nvrtc_compiles_it() -> None:
    A = ev.csr(MATRICES["power law"])
    args = A, ev.output(TYPES, capacity=9), np.zeros(A.num_tiles, np.float32)
    for schedule in (ev.MergePath(), ev.GroupMapped(8)):
        for code in emitted(found, args, schedule):
            assert cubin(code.source, code.name, "sm_90")


# ---- room ----------------------------------------------------------------------------------------
M = sp.csr_array(np.array([[1.0, 0, -2], [0, 0, 3], [4, 5, 0]], np.float32))


@ev.kernel
def columns_of(A, leaves):
    for row in A.tiles():
        for k in A.atoms(row):
            leaves.append(A.column(k))


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_no_element_is_lost_unnoticed(target: str) -> None:
    leaves = ev.output(np.int32, capacity=4)
    columns_of.on(target)(M, leaves)
    message = (
        r"output: expected at most 4 elements, got 5; hint: ev.output\(..., capacity=5\) has room"
    )
    for ask in (lambda: len(leaves), lambda: leaves.columns):
        with pytest.raises(ev.InputError, match=message):
            ask()
    leaves.clear()
    assert leaves.columns[0].tolist() == []


def test_calls_append_one_after_another() -> None:
    leaves = ev.output(np.int32, capacity=20)
    plan = columns_of.plan(M, leaves)
    columns_of(M, leaves)
    plan(M, leaves)
    with plan.bind(M, leaves) as call:
        call()
    assert len(leaves) == 15
    assert sorted(leaves.columns[0].tolist()) == sorted([0, 2, 2, 0, 1] * 3)
    with pytest.raises(ev.InputError, match="one that appends to the output leaves"):
        plan.tune()


def test_a_capacity_of_none_counts() -> None:
    leaves = ev.output(np.float16, capacity=0)
    columns_of(sp.csr_array((3, 3), dtype=np.float32), leaves)
    assert leaves.columns[0].dtype == np.float16 and len(leaves) == 0


@ev.kernel
def counts_and_emits(A, leaves, out):
    for row in A.tiles():
        leaves.append(row)
        for k in A.atoms(row):
            out.emit(A.column(k))
            leaves.append(A.column(k))


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_appends_beside_emit_are_made_once(target: str) -> None:
    leaves = ev.output(np.int32, capacity=8)
    _, columns = counts_and_emits.on(target).collect(M, leaves, np.int32)
    assert columns.tolist() == [0, 2, 2, 0, 1]
    assert sorted(leaves.columns[0].tolist()) == [0, 0, 0, 1, 1, 2, 2, 2]


@ev.kernel
def levels(F, level, leaves):
    level[0] = 0
    F.push(0)
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                v = F.column(e)
                if ev.atomic_cas(level, v, -1, depth) == -1:
                    F.push(v)
                    leaves.append(v, depth)


@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
def test_rounds_append(target: str) -> None:
    ring = sp.csr_array((np.ones(7, np.float32), (np.arange(7), (np.arange(7) + 1) % 7)))
    leaves = ev.output((np.int32, np.int32), capacity=7)
    levels.on(target)(ev.frontier(ev.csr(ring)), np.full(7, -1, np.int32), leaves)
    assert sorted(zip(*(c.tolist() for c in leaves.columns), strict=True)) == [
        (i, i) for i in range(1, 7)
    ]


# ---- what is refused -----------------------------------------------------------------------------
@ev.kernel
def walks(A, out):
    for t in out.tiles():
        out.append(t)


@ev.kernel
def by_name(A, out):
    for row in A.tiles():
        out.append(x=row)


@ev.kernel
def without_collect(A, out):
    for row in A.tiles():
        out.emit(row)


@ev.kernel
def to_an_array(A, out):
    for row in A.tiles():
        out.append(row)


def refused(kernel: Any, out: Any, message: str, hint: str) -> None:
    with pytest.raises(LanguageError) as caught:
        kernel(M, out)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_refusals() -> None:
    one, two = (ev.output(t, capacity=3) for t in (np.int32, TYPES))
    refused(
        walks,
        one,
        "out.tiles in a kernel: out is an output",
        "kernels have out.append; another kernel may take out.columns",
    )
    refused(by_name, one, "out.append takes no argument x", "values by place, one a column")
    refused(
        to_an_array,
        two,
        "out.append takes 2 values, got 1",
        "one for each type of ev.output(types, ...)",
    )
    refused(
        to_an_array,
        np.zeros(3),
        "out.append of an array",
        "out = ev.output(types, capacity=n) can be appended to",
    )
    refused(
        without_collect,
        np.zeros(3),
        "out.emit of an array",
        "kernel.collect(..., out=(numpy.int32, ...)) returns what a kernel emits",
    )


@pytest.mark.parametrize(
    ("types", "capacity", "message"),
    [
        ("U3", 4, "types: expected types of"),
        ((), 4, "types: expected types of"),
        (np.int32, -1, "capacity: expected an integer of at least 0, got -1"),
        (np.int32, 2.5, "capacity: expected an integer of at least 0, got 2.5"),
    ],
)
def test_wrong_outputs(types: Any, capacity: Any, message: str) -> None:
    with pytest.raises(ev.InputError, match=message):
        ev.output(types, capacity=capacity)


@pytest.mark.gpu
def test_a_gpu_appends_the_same_elements() -> None:
    A = ev.csr(MATRICES["power law"])
    wanted = expected(A)
    G = A.to("cuda")
    for schedule in ("auto", *SCHEDULES):
        out = ev.output(TYPES, capacity=len(wanted), like=G)
        sums = ev.kit.zeros(out.appended, (A.num_tiles,), np.float32)
        found[SCHEDULES.get(schedule, schedule)](G, out, sums)
        columns = [ev.kit.to_numpy(c).tolist() for c in out.columns]
        assert sorted(zip(*columns, strict=True)) == wanted
        out.clear()
        assert len(out) == 0
