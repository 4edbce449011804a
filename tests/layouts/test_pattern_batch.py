"""Batches of one pattern, which is stored once."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.choosing.statistics import statistics
from evenly.errors import InputError
from evenly.layouts import check
from tests.batches import (
    PATTERN,
    SOME,
    of_a_pattern,
    same,
)
from tests.batteries import vector


@pytest.mark.parametrize("count", [0, 1, 3])
def test_one_pattern(count: int) -> None:
    for m in (SOME[PATTERN], *(m for m in SOME if not min(m.shape))):
        B, items = of_a_pattern(m, count)
        check(B)
        same(B, items)
        listed = ev.batch(items)
        x = vector(B.num_columns, np.float64)
        np.testing.assert_array_equal(ev.spmv(B, x), ev.spmv(listed, x))
        assert statistics(B) == statistics(listed)
        assert B.item_statistics == listed.item_statistics
        turned = B.with_values(B.values[::-1].copy().reshape(count, m.nnz))
        np.testing.assert_array_equal(turned.values[::-1], B.values)


def test_its_pattern_and_values_are_not_copied() -> None:
    m = SOME[PATTERN]
    values = np.ones((4, m.nnz))
    B = ev.batch(m, values)
    assert all(np.shares_memory(*pair) for pair in ((B.values, values), (B.offsets, m.indptr)))
    assert np.shares_memory(B[2].values, values[2])
    assert B.to("cpu") is B
    same(
        pickle.loads(pickle.dumps(B)),
        [m.__class__((v, m.indices, m.indptr), shape=m.shape) for v in values],
    )


def test_a_tensor_of_pytorch_is_a_batch() -> None:
    torch = pytest.importorskip("torch")
    one = torch.tensor([[0.0, 2.0, 0.0], [3.0, 0.0, 1.0]])
    alike = torch.stack([one, 2 * one]).to_sparse_csr()
    B = ev.batch(alike, validate=True)
    assert (type(B).__name__, B.num_items, B.values.tolist()) == (
        "PatternBatch",
        2,
        [2, 3, 1, 4, 6, 2],
    )
    different = torch.stack([one, one.roll(1, 1)]).to_sparse_csr()
    C = ev.batch(different, validate=True)
    assert type(C).__name__ == "Batch"
    same(C, [sp.csr_array(m.numpy()) for m in (one, one.roll(1, 1))])
    empty = (torch.zeros(0, n, dtype=torch.int32) for n in (3, 0))
    none = torch.sparse_csr_tensor(*empty, torch.zeros(0, 0), size=(0, 2, 3))
    assert (ev.batch(none).shape, ev.batch(none).num_items) == ((0, 0), 0)
    for tensor, said in (
        (torch.ones(2, 2, 3).to_sparse(), "torch.sparse_csr, got torch.sparse_coo"),
        (torch.ones(2, 2, 2, 3).to_sparse_csr(), "a sparse tensor of three axes, got one of 4"),
    ):
        with pytest.raises(InputError, match=f"matrices: expected {said}"):
            ev.batch(tensor)


@pytest.mark.parametrize(
    ("pattern", "values", "said"),
    [
        (sp.eye_array(3, format="csc"), np.ones((2, 3)), "matrices: expected a CSR matrix, in whose order the values are, got csc_array"),
        (np.eye(3), np.ones((2, 3)), "matrices: expected a CSR matrix, in whose order the values are, got ndarray"),
        ([sp.eye_array(3)], np.ones((2, 3)), "matrices: expected a CSR matrix, in whose order the values are, got list"),
        (sp.eye_array(3, format="csr"), np.ones(3), "values: expected an array of shape (items, 3), a value for each nonzero of each item, got shape (3,)"),
        (sp.eye_array(3, format="csr"), np.ones((2, 4)), "values: expected an array of shape (items, 3), a value for each nonzero of each item, got shape (2, 4)"),
        (sp.eye_array(3, format="csr"), np.ones((3, 2)).T, "values: expected a contiguous array, got a strided one; hint: numpy.ascontiguousarray(...) copies it"),
        (sp.eye_array(3, format="csr"), [[1.0] * 3], "values: expected an array, got list; hint: make an array of it with numpy.asarray(..., dtype=...)"),
    ],
)  # fmt: skip
def test_a_wrong_pattern_or_wrong_values_are_refused(pattern: Any, values: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        ev.batch(pattern, values)
    assert str(error.value) == said


def test_walks_over_other_tiles_pass_the_tile() -> None:
    @ev.kernel
    def next_rows(B, y):
        for row in B.tiles():
            y[row] = sum(B.column(k) for k in B.atoms((row + 1) % B.num_tiles))

    @ev.kernel
    def as_the_hint_says(B, y):
        for row in B.tiles():
            other = (row + 1) % B.num_tiles
            y[row] = sum(B.column(other, k) for k in B.atoms(other))

    B, items = of_a_pattern(SOME[PATTERN], 3)
    y, z = np.zeros(B.num_tiles, np.int64), np.zeros(B.num_tiles, np.int64)
    with pytest.raises(ev.LanguageError, match=r"pass it: B\.column\(tile, k\)"):
        next_rows.on("cpu")(B, y)
    as_the_hint_says.on("cpu")(B, y)
    next_rows.on("cpu")(ev.batch(items), z)
    np.testing.assert_array_equal(y, z)
