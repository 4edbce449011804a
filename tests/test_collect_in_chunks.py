"""collect(max_workspace=): tiles counted a chunk at a time give what they give together, within the bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly import collect as collecting
from evenly.arguments import Binding
from evenly.layouts.emitted import counting, filling
from evenly.targets.cuda.compile import cubin
from tests.batteries import matrices
from tests.emitting import emitted
from tests.kernels import ENGINES
from tests.test_collect import columns_of, positive, repeated
from tests.test_properties import matrices as any_matrix

MATRICES = matrices(np.float32)
TYPES = (np.int32, np.float32)


def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    for a, b in zip((one[0].offsets, *one[1:]), (other[0].offsets, *other[1:]), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def agree(matrix: Any, schedule: Any, target: str, chunks: int, **options: Any) -> None:
    """Chunks of about as many tiles that `chunks` are needed, and what the runs themselves need."""
    A = ev.csr(matrix)
    seen = np.zeros(A.num_atoms, np.int32)
    for kernel, more in ((positive, ()), (repeated, (seen,))):
        bound = kernel[schedule].on(target, **options)
        together = bound.collect(A, *more, out=TYPES)
        counts = 8 * (-(-A.num_tiles // chunks) + 1)
        most = counts + least(bound, A, *more) - 16
        same(bound.collect(A, *more, out=TYPES, max_workspace=most), together)


def least(bound: Any, *args: Any) -> int:
    """What the error says that one tile needs."""
    if args[0].num_tiles == 0:
        return 16
    with pytest.raises(ev.InputError) as caught:
        bound.collect(*args, out=TYPES, max_workspace=0)
    return int(str(caught.value).split("at least ")[1].split(" bytes")[0])


@pytest.mark.parametrize("schedule", ["auto", "thread_mapped", "merge_path"])
def test_chunks_give_the_same(schedule: str) -> None:
    for matrix in MATRICES.values():
        agree(matrix, schedule, "cpu", 3)


@pytest.mark.simt
@pytest.mark.parametrize("schedule", ENGINES[::3], ids=str)
def test_simt_gives_the_same(schedule: Any) -> None:
    agree(MATRICES["power law"], schedule, "simt", 2, seed=1)


@settings(max_examples=15)
@given(matrix=any_matrix(), chunks=st.integers(1, 9))
def test_any_matrix(matrix: Any, chunks: int) -> None:
    agree(matrix, "merge_path", "cpu", chunks)


def test_the_counts_stay_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    numbered = collecting._Runs._number

    def watched(self: Any, before: int, offsets: Any) -> int:
        made.append(self.counts.nbytes)
        return numbered(self, before, offsets)

    monkeypatch.setattr(collecting._Runs, "_number", watched)
    A = ev.csr(MATRICES["power law"])
    together = positive["thread_mapped"].collect(A, out=TYPES)
    most = 8 * (A.num_tiles // 5)
    same(positive["thread_mapped"].collect(A, out=TYPES, max_workspace=most), together)
    assert made[0] == 8 * (A.num_tiles + 1) and len(made) >= 6
    assert max(made[1:]) <= most


def test_offsets_of_more_bits_are_made_where_they_are_needed() -> None:
    A = ev.csr(MATRICES["power law"])
    empty = filling(np.zeros(1, np.int32), 0, (np.empty(0, np.int32),))
    binding = Binding({"A": A, "edges": empty})
    for most in (None, 800):
        bound = columns_of["thread_mapped"]
        runs = collecting._Runs(bound, binding, "edges", A.num_tiles, np.zeros(1, np.int64), most)
        assert runs.placed(np.dtype(np.int8)) is None
        offsets, total = runs.placed(np.dtype(np.int64)) or (None, 0)
        assert total == A.num_atoms
        np.testing.assert_array_equal(offsets, A.offsets)


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_wrong_bounds(target: str) -> None:
    A = ev.csr(MATRICES["power law"])
    for wrong in (-1, 2.5, "1"):
        message = f"max_workspace: expected an integer of at least 0, got {wrong!r}"
        with pytest.raises(ev.InputError, match=message):
            positive.on(target).collect(A, TYPES, max_workspace=wrong)


def test_a_bound_below_one_tile() -> None:
    A = ev.csr(MATRICES["power law"])
    with pytest.raises(ev.InputError) as caught:
        positive["thread_mapped"].collect(A, TYPES, max_workspace=15)
    assert str(caught.value) == (
        "max_workspace: expected at least 16 bytes, for the runs and the counts of one tile, got 15; "
        "hint: ev.ThreadMapped() and other schedules that own whole tiles take the least"
    )


@ev.kernel
def bounded(A, max_workspace, out):
    for row in A.tiles():
        if row < max_workspace:
            out.emit(row)


def test_a_parameter_of_this_name_is_passed_by_place() -> None:
    A = ev.csr(MATRICES["power law"])
    _, rows = bounded.collect(A, 3, np.int32)
    assert rows.tolist() == [0, 1, 2]


def test_nvrtc_compiles_it() -> None:
    A = ev.csr(MATRICES["power law"])
    for schedule in (ev.MergePath(), ev.GroupMapped(8)):
        for code in emitted(positive, (A, counting(np.zeros(9, np.int64), 4)), schedule):
            assert cubin(code.source, code.name, "sm_90")


@pytest.mark.gpu
def test_a_gpu_gives_the_same() -> None:
    A = ev.csr(MATRICES["power law"]).to("cuda")
    for schedule in ("auto", ev.GroupMapped(8), ev.MergePath()):
        bound = positive[schedule]
        together = [ev.kit.to_numpy(x) for x in _arrays(bound.collect(A, out=TYPES))]
        most = least(bound, A) + 8 * (A.num_tiles // 4)
        apart = _arrays(bound.collect(A, out=TYPES, max_workspace=most))
        for a, b in zip(together, apart, strict=True):
            np.testing.assert_array_equal(a, ev.kit.to_numpy(b))


def _arrays(found: tuple[Any, ...]) -> tuple[Any, ...]:
    lists, *columns = found
    return lists.offsets, *columns
