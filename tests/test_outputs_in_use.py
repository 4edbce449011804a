"""What outputs of unknown size are for, written as the docs write it: a stream compaction, and a top-k of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from tests.batteries import matrices
from tests.kernels import SCHEDULES
from tests.test_properties import matrices as any_matrix


@ev.kernel
def kept(S, x, out):
    for segment in S.tiles():
        for k in S.atoms(segment):
            if x[k] > 0:
                out.emit(k, x[k])


@ev.kernel
def kept_in_no_order(S, x, out):
    for segment in S.tiles():
        for k in S.atoms(segment):
            if x[k] > 0:
                out.append(k, x[k])


@ev.kernel
def largest(A, out):
    """The three largest values of each row, which differ from each other, in the order of atoms."""
    for row in A.tiles():
        first = max((A.value(k) for k in A.atoms(row)), default=-np.inf)
        second = max((A.value(k) for k in A.atoms(row) if A.value(k) < first), default=-np.inf)
        third = max((A.value(k) for k in A.atoms(row) if A.value(k) < second), default=-np.inf)
        for k in A.atoms(row):
            if A.value(k) >= third:
                out.emit(A.column(k), A.value(k))


def compacted(x: Any, cuts: Any, schedule: Any, target: str, **options: Any) -> None:
    S = ev.ragged(np.array([0, *cuts, len(x)], np.int32))
    wanted = np.flatnonzero(x > 0)
    run = kept[schedule].on(target, **options)
    _, places, values = run.collect(S, x, out=(np.int32, np.float32))
    assert places.tolist() == wanted.tolist()
    assert values.tolist() == x[wanted].tolist()
    out = ev.output((np.int32, np.float32), capacity=len(x))
    kept_in_no_order[schedule].on(target, **options)(S, x, out)
    places, values = out.columns
    order = np.argsort(places)
    assert places[order].tolist() == wanted.tolist()
    assert values[order].tolist() == x[wanted].tolist()


def top(matrix: Any, schedule: Any, target: str, **options: Any) -> None:
    A = ev.csr(matrix)
    A.values[:] = np.random.default_rng(0).permutation(A.num_atoms)
    lists, columns, values = (
        largest[schedule].on(target, **options).collect(A, out=(np.int32, np.float32))
    )
    for row in range(A.num_tiles):
        atoms = slice(A.offsets[row], A.offsets[row + 1])
        order = np.sort(np.argsort(-A.values[atoms])[:3])
        found = slice(lists.offsets[row], lists.offsets[row + 1])
        assert values[found].tolist() == A.values[atoms][order].tolist()
        assert columns[found].tolist() == A.indices[atoms][order].tolist()


@pytest.mark.parametrize("target", ["python", "cpu"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_compaction(schedule: str, target: str) -> None:
    x = np.random.default_rng(1).standard_normal(700).astype(np.float32)
    compacted(x, [0, 1, 300], SCHEDULES[schedule], target)


@settings(max_examples=15)
@given(x=st.lists(st.integers(-3, 3), max_size=200), schedule=st.sampled_from(sorted(SCHEDULES)))
def test_any_compaction(x: list[int], schedule: str) -> None:
    compacted(np.array(x, np.float32), [len(x) // 2], SCHEDULES[schedule], "cpu")


@pytest.mark.simt
@pytest.mark.parametrize("schedule", [ev.GroupMapped(8), ev.MergePath()], ids=str)
def test_simt(schedule: Any) -> None:
    x = np.random.default_rng(1).standard_normal(700).astype(np.float32)
    compacted(x, [0, 1, 300], schedule, "simt", seed=2)
    top(matrices(np.float32)["power law"], schedule, "simt", seed=2)


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_top_k(target: str) -> None:
    found = matrices(np.float32)
    for name in found if target == "cpu" else ["power law", "no atoms"]:
        for schedule in ("auto", "thread_mapped", "merge_path"):
            top(found[name], schedule, target)


@settings(max_examples=10)
@given(matrix=any_matrix(), schedule=st.sampled_from(["thread", "merge"]))
def test_any_top_k(matrix: Any, schedule: str) -> None:
    top(matrix, SCHEDULES[schedule], "cpu")
