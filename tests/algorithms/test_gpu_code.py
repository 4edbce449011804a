"""The kernels under sorting, sums, groups, selections, conversions and graphs: as GPU code, on `simt` and by NVRTC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenly as ev
from evenly.gpus.numbers import numbers as numbers_of_gpu
from evenly.layouts.contract import is_layout
from evenly.runtime.bound import Bound
from evenly.runtime.kernel import Kernel
from tests.algorithms.cases import FLOATS, REAL, keys, numbers
from tests.algorithms.conftest import by_kernels
from tests.batteries import array
from tests.emitting import emitted

SCANS = ev.NonzeroSplit(
    *numbers_of_gpu()["streams"]["one"]
)  # what auto chooses for scans of many atoms
MANY = 700  # elements: several blocks, the last one not full
INDEX = np.random.default_rng(0).integers(0, 90, MANY).astype(np.int32)
MATRIX = ev.coo((numbers("float64", MANY), INDEX, INDEX[::-1].copy()), shape=(90, 95))

WORK: dict[str, Callable[[], Any]] = {
    "sort floats": lambda: ev.sort_by_key(keys("float32", MANY), descending=True),
    "sort doubles": lambda: ev.sort_by_key(keys("float64", MANY), numbers("complex128", MANY)),
    "sort halves": lambda: ev.sort_by_key(keys("bfloat16", MANY)),
    "sort nothing": lambda: ev.sort_by_key(keys("float32", 0)),
    "sums of integers": lambda: ev.prefix_sum(numbers("int32", MANY), include_initial=True),
    "sums of bool": lambda: ev.prefix_sum(numbers("bool", MANY), dtype=np.int32),
    "sums of halves": lambda: ev.prefix_sum(numbers("float16", MANY)),
    "sums of nothing": lambda: ev.prefix_sum(numbers("int32", 0), include_initial=True),
    "groups": lambda: ev.group_by(keys("float32", MANY)),
    "numbered groups": lambda: ev.group_by(INDEX, 100),
    "unique": lambda: ev.unique(INDEX, return_index=True, return_inverse=True, return_counts=True),
    "compact": lambda: ev.compact(INDEX > 30, (INDEX, numbers("complex64", MANY))),
    "positions": lambda: ev.compact(INDEX > 30),
    "index_add": lambda: ev.index_add(np.ones(90), INDEX, numbers("float64", MANY)),
    "index_add of rows": lambda: ev.index_add(
        np.ones((90, 3)), INDEX, numbers("float64", 3 * MANY).reshape(MANY, 3)
    ),
    "to CSR": lambda: MATRIX.tocsr(),
    "to CSC and back": lambda: MATRIX.tocsr().tocsc().tocoo(),
    "graph": lambda: ev.csgraph_from_edges(INDEX, INDEX[::-1].copy()),
    "graph of sums": lambda: ev.csgraph_from_edges(INDEX, INDEX[::-1] // 30, duplicates="sum"),
}


def parts(found: Any) -> list[Any]:
    if is_layout(found):
        return [getattr(found, field) for field in type(found).__fields__]
    return list(found) if isinstance(found, tuple) else [found]


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys of any type with few values, indices below 6, and values."""
    dtype = draw(st.sampled_from(REAL))
    plain = [0, 1] if dtype == "bool" else [-2, 0, 1, 2]
    few = FLOATS if "float" in dtype else plain
    drawn = draw(st.lists(st.sampled_from(few), max_size=70))
    index = np.array([draw(st.integers(0, 5)) for _ in drawn], np.int64)
    return array(dtype, np.array(drawn)), index, np.arange(len(drawn), dtype=np.float32)


@given(problems(), st.booleans())
def test_both_ways_agree(problem: tuple[np.ndarray, np.ndarray, np.ndarray], down: bool) -> None:
    keys, index, values = problem

    def work() -> Any:
        yield from parts(ev.sort_by_key(keys, values, descending=down))
        yield from parts(ev.group_by(keys))
        yield from parts(ev.unique(keys, return_index=True, return_inverse=True))
        yield from parts(ev.group_by(index, 7))
        yield ev.compact(index > 2, values)
        yield ev.index_add(np.ones(6, np.float32), index, values)
        yield from parts(ev.csgraph_from_edges(index, index[::-1].copy(), duplicates="sum"))
        yield from parts(ev.coo((values, index, index), shape=(6, 9)).tocsc())

    expected = [np.asarray(x) for x in work()]
    with pytest.MonkeyPatch.context() as patch:
        by_kernels(patch)
        found = [np.asarray(x) for x in work()]
    for mine, theirs in zip(expected, found, strict=True):
        assert (mine.dtype, mine.tobytes()) == (theirs.dtype, theirs.tobytes())


@pytest.mark.simt
@pytest.mark.parametrize("name", WORK)
def test_it_runs_on_simt(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = parts(WORK[name]())
    by_kernels(monkeypatch)
    monkeypatch.setattr(Bound, "_target", lambda self, binding: "simt")
    for mine, theirs in zip(expected, parts(WORK[name]()), strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.parametrize("name", WORK)
def test_nvrtc_compiles_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.core")
    from evenly.targets.cuda import compile as compiling

    by_kernels(monkeypatch)
    run, run_by_auto, calls = Bound.__call__, Kernel.__call__, []

    def record(self: Any, *args: Any) -> None:
        calls.append((self.kernel, args, self.schedule))
        run(self, *args)

    def record_scan(self: Any, *args: Any) -> None:
        calls.append((self, args, SCANS))
        run_by_auto(self, *args)

    monkeypatch.setattr(Bound, "__call__", record)
    monkeypatch.setattr(Kernel, "__call__", record_scan)
    WORK[name]()
    assert calls
    for kernel, args, schedule in calls:
        for code in emitted(kernel, args, schedule):
            assert compiling.cubin(code.source, code.name, "sm_90")
