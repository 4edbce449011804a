"""What batches refuse, each in one line that has the item's number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.errors import InputError
from evenly.interop.array_view import ArrayView
from tests.batches import (
    EYE,
    malformed,
)
from tests.batteries import array


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (np.eye(3), ": expected a sparse matrix of SciPy, CuPy or PyTorch, or a CSR, CSC or COO layout, got ndarray"),
        (None, ": expected a sparse matrix of SciPy, CuPy or PyTorch, or a CSR, CSC or COO layout, got NoneType"),
        ((EYE.data, EYE.indices, EYE.indptr), "got tuple; hint: ev.csr(arrays, shape=...) makes a layout of raw arrays"),
        (ev.ell(EYE), ": expected a CSR, CSC or COO layout, got Ell; hint: batch the matrix itself"),
        (malformed("indices", 1, 3), ".indices: expected column indices in 0..2, got indices[1]=3"),
        (malformed("indices", 2, -1), ".indices: expected column indices in 0..2, got indices[2]=-1"),
        (malformed("indptr", 1, 3), ".offsets: expected non-decreasing offsets, got offsets[2]=2 after 3"),
        (malformed("indptr", 1, 2**31 - 1), ".offsets: expected offsets of at most 3, got offsets[1]=2147483647"),
        (malformed("indptr", 1, 2**32 + 1, np.int64), ".offsets: expected offsets of at most 3, got offsets[1]=4294967297"),
        (malformed("indptr", 0, 1), ".offsets: expected offsets that start at 0, got offsets[0]=1"),
        (malformed("indptr", 3, 9), ".offsets: expected a last offset of at most 3, the length of matrices[2].indices"),
        (EYE.astype(np.longdouble), ".values: expected values of "),
    ],
)  # fmt: skip
def test_a_wrong_item_is_named(item: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        ev.batch([EYE, EYE, item, EYE])
    assert str(error.value).startswith("matrices[2]")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("given", [EYE, ev.csr(EYE), np.eye(3), 3])
def test_it_takes_a_list(given: Any) -> None:
    with pytest.raises(InputError, match=r"matrices: expected a list of matrices, got \w+"):
        ev.batch(given)


def test_layouts_that_nothing_has_checked_are() -> None:
    A = ev.csr(EYE)
    longer = type(A)(A.offsets, A.indices, np.ones(4), 3)
    with pytest.raises(InputError, match=r"matrices\[1\]\.values: expected 3 values, .* got 4"):
        ev.batch([A, longer])
    for offsets, said in ([0, 1, 2, 4], "a last offset of 3"), ([1, 1, 2, 3], r"offsets\[0\]=0"):
        unsound = type(A)(np.array(offsets), A.indices, A.values, 3)
        with pytest.raises(InputError, match=rf"matrices\[1\]\.offsets: expected {said}"):
            ev.batch([A, unsound])


def test_too_many_columns_are_refused() -> None:
    wide = ev.csr((EYE.data, EYE.indices, EYE.indptr), shape=(3, 2**62))
    with pytest.raises(
        InputError, match=r"matrices: expected fewer than 2\*\*63 columns in all, got 9,223,"
    ):
        ev.batch([wide, wide])


def test_values_without_a_common_type_are_refused() -> None:
    narrow = ev.csr((array("bfloat16", EYE.data), EYE.indices, EYE.indptr), shape=(3, 3))
    assert ev.batch([narrow, narrow]).values.dtype == narrow.values.dtype
    with pytest.raises(InputError, match=r"matrices\[1\]\.values: .* that float64 can be combined"):
        ev.batch([EYE, narrow])


def test_wrong_values_and_vectors_are_refused() -> None:
    B = ev.batch([EYE, EYE])
    for values, said in (
        (np.zeros(5), "values: expected 6 values, one a nonzero, got shape (5,)"),
        ([0] * 6, "values: expected 6 values, one a nonzero, got list"),
    ):
        with pytest.raises(InputError) as error:
            B.with_values(values)
        assert str(error.value) == said
    with pytest.raises(
        InputError, match=r"y: expected an array of 6, the rows of the batch, got shape \(5,\)"
    ):
        B.split(np.zeros(5))
    with pytest.raises(
        InputError, match="by: expected 'rows', 'columns' or 'nonzeros', got 'items'"
    ):
        B.split(np.zeros(6), by="items")


def test_kernels_have_no_host_methods() -> None:
    @ev.kernel
    def wrong(B, y):
        for row in B.tiles():
            y[row] = B.split(y)

    with pytest.raises(ev.LanguageError, match="Batch.split is for the host, not for kernels"):
        wrong.on("cpu")(ev.batch([EYE]), np.zeros(3))


def elsewhere(device: int) -> Any:
    """A matrix of which only the addresses exist, on a GPU."""

    def fake(length: int, dtype: Any) -> Any:
        return ev.DeviceArray(
            ArrayView(4096, (length,), np.dtype(dtype), "cuda", device, False, True, None)
        )

    arrays = fake(3, np.float64), fake(3, np.int32), fake(4, np.int32)
    return ev.csr(arrays, shape=(3, 3), check=False)


def test_several_devices_are_refused_by_name() -> None:
    for items, said in (
        ([EYE, elsewhere(0)], "[1]: expected a matrix beside matrices[0], on cpu, got one on cuda:0"),
        ([elsewhere(0), elsewhere(0), elsewhere(1)], "[2]: expected a matrix beside matrices[0], on cuda:0, got one on cuda:1"),
    ):  # fmt: skip
        with pytest.raises(InputError) as error:
            ev.batch(items)
        hint = "; hint: move one: layout.to('cuda'), layout.to('cpu')"
        assert str(error.value) == f"matrices{said}{hint}"
    with pytest.raises(
        InputError, match=r"matrices\.values: expected an array beside matrices\.offsets on cuda"
    ):
        ev.batch(elsewhere(0), np.ones((2, 3)))
