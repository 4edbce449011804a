"""What decides a call's launches: any change of it must send the call the long way."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from evenly.layouts import Csr
from evenly.runtime.recent import MOST, Recent


class ndarray:  # the name is what interop goes by
    """A CuPy array, as far as it is read."""

    __module__ = "cupy"

    def __init__(self, pointer: int, shape: tuple[int, ...], dtype: Any = np.float32) -> None:
        self.data = types.SimpleNamespace(ptr=pointer, device_id=0)
        self.dtype = np.dtype(dtype)
        self.shape = shape
        self.flags = types.SimpleNamespace(c_contiguous=True)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))
    strides = property(
        lambda self: tuple(
            int(np.prod(self.shape[i + 1 :])) * self.dtype.itemsize for i in range(self.ndim)
        )
    )

    def __len__(self) -> int:
        return self.shape[0]


def csr(pointer: int = 1000, rows: int = 4, nnz: int = 9) -> Csr:
    return Csr(
        offsets=ndarray(pointer, (rows + 1,), np.int32),
        indices=ndarray(pointer + 100, (nnz,), np.int32),
        values=ndarray(pointer + 200, (nnz,)),
        num_columns=5,
    )


A, X, Y = csr(), ndarray(1, (5,)), ndarray(2, (4,))


def recent(*arguments: Any, stream: Any = lambda: 7) -> Recent:
    made = Recent(arguments, "cuda:0", (stream,))
    made.keep(made.read(*arguments), "prepared", "cuda:0")
    return made


def test_the_same_call_is_found_again() -> None:
    held = recent(A, X, Y)
    assert held.find(held.read(A, X, Y)) == "prepared"
    assert held.find(held.read(csr(), ndarray(1, (5,)), ndarray(2, (4,)))) == "prepared"  # by value


@pytest.mark.parametrize(
    "call",
    [
        (csr(1008), X, Y),
        (csr(rows=3), X, Y),
        (csr(nnz=8), X, Y),
        (A, ndarray(9, (5,)), Y),
        (A, ndarray(1, (6,)), Y),
        (A, ndarray(1, (5,), np.float64), Y),
        (A, X, ndarray(2, (4, 1))),
        (A, X, ndarray(2, (2, 2))),
    ],
)
def test_a_call_that_differs_is_not(call: tuple[Any, ...]) -> None:
    held = recent(A, X, Y)
    signature = held.read(*call)
    assert signature is None or held.find(signature) is None


def test_other_python_types_and_foreign_arrays_cannot_be_told() -> None:
    held = recent(A, X, Y)
    assert held.read(A, X, 1.0) is None
    assert held.read(A, np.ones(5), Y) is None
    assert Recent((A, np.ones(5)), "cpu").read(A, np.ones(5)) is None


def test_numbers_and_the_stream_decide() -> None:
    streams = [1]
    held = recent(A, 2.5, stream=lambda: streams[0])
    assert held.find(held.read(A, 2.5)) == "prepared"
    assert held.find(held.read(A, 2.6)) is None
    streams[0] = 2
    assert held.find(held.read(A, 2.5)) is None


def test_another_device_is_not_remembered() -> None:
    held = Recent((A, X), "cuda:0")
    held.keep(held.read(A, X), "prepared", "cuda:1")
    assert held.find(held.read(A, X)) is None


def test_only_the_last_calls_are_kept() -> None:
    held = Recent((X,), "cuda:0")
    for i in range(MOST + 1):
        held.keep(held.read(ndarray(i, (5,))), i, "cuda:0")
    assert held.find(held.read(ndarray(0, (5,)))) is None
    assert held.find(held.read(ndarray(MOST, (5,)))) == MOST


class Tensor:
    """torch.Tensor: sparse ones have no address, and a lazy view that of what it is a view of."""

    layout, dtype, shape, ndim = "torch.strided", np.complex64, (3,), 1

    def __init__(
        self, sparse: bool = False, conjugate: bool = False, negative: bool = False
    ) -> None:
        self.sparse, self.conjugate, self.negative = sparse, conjugate, negative

    def data_ptr(self) -> int:
        if self.sparse:
            raise RuntimeError("no storage")
        return 5

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def is_conj(self) -> bool:
        return self.conjugate

    def is_neg(self) -> bool:
        return self.negative


Tensor.__module__ = "torch"


def test_a_lazy_view_is_another_argument() -> None:
    held = Recent((Tensor(),), "cuda:0")
    held.keep(held.read(Tensor()), "prepared", "cuda:0")
    assert held.find(held.read(Tensor())) == "prepared"
    assert held.find(held.read(Tensor(conjugate=True))) is None
    assert held.find(held.read(Tensor(negative=True))) is None


@pytest.mark.parametrize(
    ("number", "other"), [(1j, -1j), (1.5, 2.5), (0.0, -0.0), (0j, complex(0, -0.0))]
)
def test_numbers_are_told_apart(number: complex, other: complex) -> None:
    held = Recent((number,), "cuda:0")
    held.keep(held.read(number), "prepared", "cuda:0")
    assert held.find(held.read(number)) == "prepared"
    assert held.find(held.read(other)) is None


def test_an_array_without_an_address_goes_the_long_way() -> None:
    """A sparse tensor has the Python type of a dense one."""
    held = Recent((Tensor(False),), "cuda:0")
    assert held.read(Tensor(False)) is not None
    assert held.read(Tensor(True)) is None
