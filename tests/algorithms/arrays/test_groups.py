"""ev.group_by, ev.unique and ev.index_add against NumPy and plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from tests.algorithms.cases import LENGTHS, NUMBERS, REAL, keys, numbers, same
from tests.batteries import array, readable

pytestmark = pytest.mark.usefixtures("way")


def groups_of(x: np.ndarray) -> list[list[int]]:
    """The positions of equal elements, NaN equal to NaN, in the order of the elements."""
    found: dict[Any, list[int]] = {}
    for i, v in enumerate(readable(x).tolist()):
        found.setdefault("nan" if v != v else v + 0.0, []).append(i)
    return [found[v] for v in sorted(found, key=lambda v: (v == "nan", 0 if v == "nan" else v))]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [t for t in REAL if t != "int64"])  # whose ends no float holds
def test_groups_of_equal_keys(dtype: str, length: int) -> None:
    x = keys(dtype, length)
    expected = groups_of(x)
    found = ev.group_by(x)
    lengths = [len(g) for g in expected]
    same(found.offsets, np.cumsum([0, *lengths]).astype(np.int32))
    same(found.order, np.array([i for g in expected for i in g], np.int32))
    same(found.keys, x[[g[0] for g in expected]])
    assert ev.ragged(found.offsets).num_tiles == len(expected)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", REAL)
def test_distinct_elements(dtype: str, length: int) -> None:
    x = keys(dtype, length)
    distinct, index, inverse, counts = ev.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    theirs = np.unique(readable(x), return_index=True, return_inverse=True, return_counts=True)
    same(distinct, x[theirs[1]])
    same(index, theirs[1].astype(np.int32))
    same(inverse, theirs[2].astype(np.int32))
    same(counts, theirs[3].astype(np.int32))
    same(ev.unique(x), distinct)
    alone, often = ev.unique(x, return_counts=True)
    same(alone, distinct)
    same(often, counts)


@pytest.mark.parametrize("groups", [1, 2, 7, 5000])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_numbered_groups_may_be_empty(dtype: str, length: int, groups: int) -> None:
    x = np.random.default_rng(length).integers(0, groups, length).astype(dtype)
    found = ev.group_by(x, groups)
    assert found.keys is None
    counts = np.bincount(x, minlength=groups)
    same(found.offsets, np.append(0, np.cumsum(counts)).astype(np.int32))
    same(found.order, np.argsort(x, kind="stable").astype(np.int32))


def test_no_groups() -> None:
    found = ev.group_by(np.zeros(0, np.int32), 0)
    assert (found.offsets.tolist(), found.order.tolist()) == ([0], [])


@pytest.mark.parametrize("rows", [1, 5, 3000])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_sums_at_indices(dtype: str, length: int, rows: int) -> None:
    index = np.random.default_rng(length).integers(0, rows, length).astype(np.int32)
    x, source = numbers(dtype, rows, seed=1), numbers(dtype, length)
    wide = readable(x).astype("float32") if "float16" in dtype else x.copy()
    np.add.at(wide, index, readable(source))
    expected, before = array(dtype, wide) if "float16" in dtype else wide, x.copy()
    same(ev.index_add(x, index, source), expected)
    same(x, before)
    out = np.empty_like(x)
    assert ev.index_add(x, index, source, out=out) is out
    same(out, expected)


@pytest.mark.parametrize("width", [0, 1, 5, 40])
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64"])
def test_rows_are_added_too(dtype: str, width: int) -> None:
    index = np.random.default_rng(2).integers(0, 20, 300)
    x = numbers(dtype, 20 * width).reshape(20, width)
    source = numbers(dtype, 300 * width).reshape(300, width)
    expected = x.copy()
    np.add.at(expected, index, source)
    same(ev.index_add(x, index, source), expected)
    same(ev.index_add(x, index, np.asfortranarray(source)), expected)


def test_sums_at_indices_have_the_same_bits_on_every_run() -> None:
    rng = np.random.default_rng(3)
    index, source = np.minimum(rng.pareto(1.0, 9000), 99).astype(np.int64), rng.normal(size=9000)
    first = ev.index_add(np.zeros(100), index, source)
    same(ev.index_add(np.zeros(100), index, source), first)
    np.testing.assert_allclose(first, np.bincount(index, source, 100), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ev.group_by(np.ones(3), 4),
         "keys: expected integers, got dtype float64"),
        (lambda: ev.group_by(np.array([0, 4]), 4), "keys: expected indices in 0..3, got keys[1]=4"),
        (lambda: ev.group_by(np.array([0]), -1),
         "num_groups: expected an integer of at least 0, got -1"),
        (lambda: ev.group_by(np.array([0]), 2.0),
         "num_groups: expected an integer of at least 0, got 2.0"),
        (lambda: ev.unique(np.ones(3, complex)),
         "x: expected real numbers, got complex ones; hint: sort by its real parts or by its abs"),
        (lambda: ev.index_add(np.ones(3), np.array([0, -1]), np.ones(2)),
         "index: expected indices in 0..2, got index[1]=-1"),
        (lambda: ev.index_add(np.ones(3), np.array([0.0]), np.ones(1)),
         "index: expected integers, got dtype float64"),
        (lambda: ev.index_add(np.ones(3), np.array([0]), np.ones(2)),
         "source: expected a vector of 1, as many as index has, got shape (2,)"),
        (lambda: ev.index_add(np.ones((3, 2)), np.array([0]), np.ones((1, 3))),
         "source: expected an array of shape (1, 2), as many as index has, got shape (1, 3)"),
        (lambda: ev.index_add(np.ones((3, 2, 1)), np.array([0]), np.ones((1, 2, 1))),
         "x: expected an array of 1 to 2 axes, got shape (3, 2, 1)"),
        (lambda: ev.index_add(np.ones(3, np.int32), np.array([0]), np.ones(1)),
         "x: expected a type that holds sums of float64, got int32"),
        (lambda: ev.index_add(np.ones(3), np.array([0]), np.ones(1), out=np.ones(3, np.int32)),
         "out: expected a type that holds sums of float64, got int32"),
        (lambda: ev.index_add(np.ones(3, bool), np.array([0]), np.ones(1, bool)),
         "x: expected a type that holds sums of bool, got bool"),
    ],
)  # fmt: skip
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value) == said


def test_more_groups_than_fit_into_memory() -> None:
    with pytest.raises(ev.InputError, match="into memory, got 4,611,686,018,427,387,90"):
        ev.group_by(np.array([0]), 2**62)
