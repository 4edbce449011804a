"""Lengths and columns are measured by one call on a GPU, where a choice needs both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.arguments import Binding
from evenly.choosing import look as looking
from evenly.choosing.auto import choose
from evenly.choosing.look import forget, look
from evenly.choosing.reuse import Reuse, reuse, sample_of
from evenly.choosing.reuse import known as reuse_is_known
from evenly.choosing.statistics import statistics
from evenly.choosing.task import Task
from evenly.interop.generators import rmat
from evenly.runtime import looking as kernels
from evenly.runtime.bound import Bound
from evenly.runtime.looking import both_of, lengths_of, reuse_of
from evenly.tuning import winners
from evenly.tuning.recall import recall
from tests.emitting import emitted

from .structures import anywhere, nearby, unequal


@pytest.mark.parametrize("target", ["cpu", "python", "simt"])
def test_one_kernel_measures_what_two_measure(target: str) -> None:
    for layout in (ev.csr(rmat(8)), nearby(unequal(40, 5)), anywhere(np.array([0, 3, 0, 70]))):
        sample = sample_of(layout)
        assert sample is not None
        both = both_of(layout, sample, 8, target)
        assert both == (lengths_of(layout, target), reuse_of(layout, sample, 8, target))


@ev.layout
class Range:
    """Some rows of a matrix, from `first` on."""

    base: ev.Layout
    first: int
    rows: int

    @property
    def num_tiles(self):
        return self.rows

    @property
    def num_atoms(self):
        return self.base.num_atoms

    def begin(self, tile):
        return self.base.begin(self.first + tile)

    def end(self, tile):
        return self.base.end(self.first + tile)

    def column(self, atom):
        return self.base.column(atom)


def test_a_layout_without_tiles_of_one_with_columns() -> None:
    layout = Range(ev.csr(rmat(8)), 5, 0)
    sample = sample_of(layout)
    assert sample is not None
    lengths, columns = both_of(layout, sample, 8, "cpu")
    assert (lengths.squares, lengths.greatest, lengths.empty) == (0, 0, 0)
    assert columns == reuse_of(layout, sample, 8, "cpu")


def test_a_look_is_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each launch takes the host longer than the GPU."""
    seen, once = [], Bound.once

    def noted(self: Bound, *args: Any) -> None:
        seen.append(emitted(self.kernel, args, self.schedule))
        once(self, *args)

    monkeypatch.setattr(Bound, "once", noted)
    for A in (ev.csr(rmat(8)), anywhere(np.full(70_000, 2))):
        sample = sample_of(A)
        assert sample is not None
        both_of(A, sample, 8, "cpu")
        lengths_of(A, "cpu")
        reuse_of(A, sample, 8, "cpu")
    assert [len(kernels) for kernels in seen] == 6 * [1]


def test_while_a_stream_is_captured_nothing_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy to the host would end the capture."""
    A = ev.csr(rmat(8))
    refused: list[Any] = []

    def refuse(array: Any, what: str, hint: str) -> None:
        refused.append(array)
        raise ev.InputError("stream", expected=f"no capture while {what}", given="one", hint=hint)

    monkeypatch.setattr(kernels, "outside_captures", refuse)
    monkeypatch.setattr(kernels, "device_of", lambda layout: "cuda")
    monkeypatch.setattr(Bound, "once", None)
    with pytest.raises(ev.InputError, match="no capture while tiles are measured for `auto`"):
        lengths_of(A)
    assert refused[0] is A.offsets


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The layouts that are measured, as if they were on a GPU."""
    found: list[Any] = []

    def both(layout: Any, sample: Any, together: int) -> Any:
        found.append((layout, together))
        return lengths_of(layout, "cpu"), Reuse(0.25, 0.125)

    monkeypatch.setattr(looking, "by_gpu", lambda layout: True)
    monkeypatch.setattr(looking, "both_on_gpu", both)
    return found


def test_both_are_known_from_then_on(calls: list[Any]) -> None:
    A = ev.csr(rmat(8))
    look(A, 4)
    look(A, 4)
    assert calls == [(A, 8)]
    assert reuse(A, 4) == Reuse(0.25, 0.125)
    assert statistics(A).greatest == np.diff(A.offsets).max()


def test_what_is_known_of_either_is_not_measured_again(calls: list[Any]) -> None:
    first, second = ev.csr(rmat(8)), ev.csr(rmat(8))
    statistics(first)
    reuse(second, 4)
    look(first, 4)
    look(second, 4)
    assert calls == []


def test_layouts_without_columns_and_frontiers_are_left_to_others(calls: list[Any]) -> None:
    A = ev.csr(rmat(8))
    for layout in (ev.ragged(A.offsets), ev.frontier(A)):
        look(layout, 4)
    assert calls == []


def test_both_are_forgotten_when_a_plan_is_made(calls: list[Any]) -> None:
    """Offsets and columns may have been changed in place since the last one."""
    A = ev.csr(rmat(8))
    look(A, 4)
    forget([A, 3.0])
    look(A, 4)
    assert len(calls) == 2
    x = np.ones(A.num_columns)
    products.plan(A, x, np.empty(A.num_tiles), target="cpu")
    assert not reuse_is_known(A, 4)


def test_where_winners_are_remembered_a_plan_still_looks_once(calls, monkeypatch) -> None:
    """What is on file is found by lengths, before anything is chosen."""
    monkeypatch.setattr(winners, "remembered", lambda: {"a structure": {}})
    A = ev.csr(rmat(8))
    program = products.program(Binding({"A": A, "x": A.values, "y": A.values}).specs())
    about = program, Binding({"A": A}), "cuda"
    assert recall(*about, Task()) is None
    assert calls == [(A, 8)]
    choose(A, "cuda")
    assert len(calls) == 1


@ev.kernel
def products(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
