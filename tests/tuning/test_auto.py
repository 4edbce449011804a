"""The first rule of `auto`, and what it says of itself."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly.interop.generators import rmat, stencil
from evenly.tuning.auto import consider
from tests.batteries import layout_batteries


def chosen(A, target: str = "cuda", whole: bool = False):
    return consider(A, target, whole).schedule


def test_regular_tiles_get_threads_or_groups() -> None:
    assert chosen(ev.csr(stencil(64))) == ev.ThreadMapped()
    assert chosen(ev.ragged(np.arange(0, 64_000_001, 64)[:1001])) == ev.GroupMapped(8)


def test_a_power_law_is_divided_evenly() -> None:
    assert chosen(ev.csr(rmat(16))) == ev.MergePath()
    assert chosen(ev.csr(rmat(16)), target="cpu") == ev.MergePath()


def test_mostly_empty_tiles_are_divided_by_atoms() -> None:
    sizes = np.zeros(2_000_000, np.int64)
    sizes[::7] = np.random.default_rng(0).integers(0, 40, len(sizes[::7]))
    assert chosen(ev.ragged(np.concatenate([[0], np.cumsum(sizes)]))) == ev.NonzeroSplit()


def test_kernels_that_need_whole_tiles_get_such_a_schedule() -> None:
    for target in ("cpu", "cuda"):
        assert chosen(ev.csr(rmat(16)), target, whole=True).owns_tiles


@pytest.mark.parametrize("name", layout_batteries())
def test_every_layout_gets_an_answer(name: str) -> None:
    for target in ("cpu", "cuda"):
        choice = consider(ev.ragged(layout_batteries()[name]), target, False)
        assert choice.why
        assert len(choice.rejected) >= 4


def test_it_is_a_pure_function_of_the_statistics() -> None:
    A, B = rmat(14, seed=1), rmat(14, seed=1)
    B.data[:] = 7
    assert chosen(ev.csr(A)) == chosen(ev.csr(B))


def test_explain_says_what_it_saw_and_why() -> None:
    report = str(ev.explain(rmat(14), target="cuda"))
    assert "tiles 16,384, atoms" in report
    assert "chosen: MergePath(block=256, items=4)" in report
    assert "because tile lengths vary" in report
    assert "thread_mapped: a thread would walk up to" in report


def test_explain_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ev.InputError, match="A: expected a layout or a sparse matrix, got int"):
        ev.explain(3)
    with pytest.raises(
        ev.InputError, match="target: expected one of auto, cpu, cuda, python, simt, got 'gpu'"
    ):
        ev.explain(ev.ragged(np.array([0, 2])), target="gpu")
