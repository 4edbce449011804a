"""ev.ragged.top_k: long lists in parts, as on a GPU."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.arrays.sort_by_key import _order
from evenly.runtime.bound import Bound
from tests.algorithms.cases import keys
from tests.algorithms.conftest import by_kernels
from tests.batteries import layout_batteries
from tests.emitting import emitted

top_k: Any = importlib.import_module("evenly.algorithms.ragged.top_k")
K = 3


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of arrays on a GPU, with parts of 16 elements."""
    by_kernels(monkeypatch)
    monkeypatch.setattr(top_k, "PART", 16)


def check(found: Any, x: np.ndarray, offsets: np.ndarray, largest: bool) -> None:
    values, positions = found
    for t, (a, b) in enumerate(itertools.pairwise(offsets)):
        order = a + _order(x[a:b], largest)[:K]
        missing = K - len(order)
        assert positions[t].tolist() == [*order.tolist(), *[-1] * missing]
        assert values[t].tobytes() == np.array([*x[order], *[7] * missing], x.dtype).tobytes()


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize(("dtype", "largest"), [("float32", True), ("int64", False)])
def test_lists_in_parts(
    dtype: str, largest: bool, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bound, "_target", lambda self, binding: target)
    offsets = np.cumsum([0, 0, 1, 15, 16, 17, 3, 70, 200, 0, *[1] * 40]).astype(np.int32)
    x = keys(dtype, int(offsets[-1]))
    check(ev.ragged.top_k(x, K, offsets, largest=largest, padding_value=7), x, offsets, largest)


@pytest.mark.usefixtures("in_parts")
@pytest.mark.simt
def test_nasty_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bound, "_target", lambda self, binding: "simt")
    for name in "no tiles", "no atoms", "one tile has everything":
        offsets = layout_batteries()[name]
        x = keys("float32", int(offsets[-1]))
        check(ev.ragged.top_k(x, K, offsets, padding_value=7), x, offsets, True)


@pytest.mark.usefixtures("in_parts")
def test_a_plan_of_parts_reads_values_again() -> None:
    offsets = np.cumsum([0, 50, 0, *[1] * 40])
    x = keys("float64", int(offsets[-1]))
    planned = ev.ragged.top_k.plan(x, K, offsets, padding_value=7)
    check(planned(), x, offsets, True)
    x[:] = keys("float64", len(x), 1)
    check(planned(), x, offsets, True)


@pytest.mark.usefixtures("in_parts")
def test_lists_of_which_parts_would_leave_everything_are_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Places for as many elements of each part as it has would take more memory than the lists."""
    monkeypatch.setattr(top_k, "parts_of", None)
    x, offsets = keys("float32", 50), np.array([0, 50])
    values, positions = ev.ragged.top_k(x, 16, offsets)
    order = _order(x, True)[:16]
    assert positions.tolist() == [order.tolist()]
    assert values[0].tobytes() == x[order].tobytes()


@pytest.mark.usefixtures("in_parts")
def test_nvrtc_compiles_lists_in_parts() -> None:
    pytest.importorskip("cuda.core")
    from evenly.targets.cuda import compile as compiling

    x, offsets = np.zeros(90, np.float32), np.cumsum([0, 50, 0, *[1] * 40]).astype(np.int32)
    planned = ev.ragged.top_k.plan(x, K, offsets)
    codes = emitted(planned.plan.kernel, planned.arguments, top_k.OF_PARTS)
    selecting = [c for c in codes if "ev::negate" in c.source or "highest" in c.source]
    assert len(selecting) >= 2
    for code in selecting:
        found = compiling.resources(code.source, code.name, "sm_90")
        assert (found["spills"], found["stack"]) == (0, 0)
        assert found["registers"] <= 64
