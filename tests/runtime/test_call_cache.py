"""The cache of calls. Any change that affects the launches must make a call prepare them again."""

from __future__ import annotations

import functools
import gc
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import evenly as ev
from evenly import targets
from evenly.layouts import Csr, Ell, Uniform
from evenly.layouts.each import Each
from evenly.layouts.frontier import Frontier
from evenly.runtime.call_cache import MOST, CallCache
from evenly.runtime.frontiers import Watched
from tests import kernels


class ndarray:  # the name is what interop goes by
    """A CuPy array, with the attributes that are read."""

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


def prepared() -> None:
    """Launches, with the attributes that matter here."""


def cached(*arguments: Any, stream: Any = lambda: 7) -> CallCache:
    made = CallCache(arguments, "cuda:0", (stream,))
    made.keep(made.read(*arguments), prepared, "cuda:0")
    return made


def test_the_same_call_is_found_again() -> None:
    held = cached(A, X, Y)
    assert held.repeat(A, X, Y)
    assert held.repeat(A, ndarray(1, (5,)), ndarray(2, (4,)))  # by value


def test_a_layout_is_known_by_itself() -> None:
    """A layout is frozen, so its fields need not be compared. Another one counts as new, even at the same address."""
    mine = csr()
    held = cached(mine, X, Y)
    assert held.repeat(mine, X, Y)
    assert not held.repeat(csr(), X, Y)
    del mine
    gc.collect()
    for _ in range(100):
        assert not held.repeat(csr(), X, Y)


def test_a_tensor_in_a_layout_is_looked_at() -> None:
    """Its memory can be replaced."""
    indices = ndarray(1100, (9,), np.int32)
    layout = Csr(ndarray(1000, (5,), np.int32), indices, Tensor(), 5)
    held = cached(layout, X)
    assert held.repeat(layout, X)
    layout.values.pointer = 6
    assert not held.repeat(layout, X)


def test_layouts_of_one_class_may_hold_arrays_of_several_libraries() -> None:
    """Code for the arrays of one library is not used for those of another, and tensors are compared."""
    tensors = Csr(ndarray(1000, (5,), np.int32), ndarray(1100, (9,), np.int32), Tensor(), 5)
    assert cached(tensors, X).read(A, X) is None
    held = cached(A, X)
    assert not held.remember((tensors, X), prepared, "cuda:0")
    assert not held.repeat(tensors, X)


def test_layouts_of_one_class_may_be_of_several_layouts() -> None:
    one, other = (
        Uniform(A, 3),
        Uniform(Ell(ndarray(1, (8,), np.int32), ndarray(2, (8,)), 4, 5, 2), 3),
    )
    held = cached(one, X)
    assert held.repeat(one, X)
    assert held.read(other, X) is None


@pytest.mark.parametrize(
    "call",
    [
        (csr(), X, Y),
        (A, ndarray(9, (5,)), Y),
        (A, ndarray(1, (6,)), Y),
        (A, ndarray(1, (5,), np.float64), Y),
        (A, X, ndarray(2, (4, 1))),
        (A, X, ndarray(2, (2, 2))),
    ],
)
def test_a_call_that_differs_is_not(call: tuple[Any, ...]) -> None:
    held = cached(A, X, Y)
    assert not held.repeat(*call)


def test_other_python_types_and_foreign_arrays_cannot_be_told() -> None:
    held = cached(A, X, Y)
    assert held.read(A, X, 1.0) is None
    assert held.read(A, np.ones(5), Y) is None
    assert CallCache((Foreign(),), "cpu").read(Foreign()) is None


class Foreign:
    def __dlpack__(self) -> Any:
        raise AssertionError


# ---- NumPy's arrays --------------------------------------------------------------------------------
def told_apart(change: Callable[[np.ndarray], Any]) -> bool:
    x = np.arange(6, dtype=np.float32)
    held = CallCache((x,), "cpu")
    held.keep(held.read(x), prepared, "cpu")
    assert held.repeat(x)
    changed = change(x)
    return not held.repeat(x if changed is None else changed)


def test_numpys_arrays_are_told_apart() -> None:
    assert told_apart(lambda x: x[1:])
    assert told_apart(lambda x: x[:5])
    assert told_apart(lambda x: x[::2])
    assert told_apart(lambda x: x[::-1])
    assert told_apart(lambda x: x.copy())
    assert told_apart(lambda x: x.reshape(2, 3))
    assert told_apart(lambda x: x.reshape(6, 1))
    assert told_apart(lambda x: x.reshape(1, 6))
    assert told_apart(lambda x: x.view(np.int32))
    assert told_apart(lambda x: x.setflags(write=False))
    assert told_apart(lambda x: x.resize(1000, refcheck=False))
    assert not told_apart(lambda x: x.fill(3))
    assert not told_apart(lambda x: x[:])


# ---- matrices of SciPy -----------------------------------------------------------------------------
def matrix() -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))


def forgets(change: Callable[[Any], Any]) -> bool:
    S = matrix()
    held = CallCache((S,), "cpu")
    held.keep(held.read(S), prepared, "cpu")
    assert held.repeat(S)
    change(S)
    return not held.repeat(S)


def test_a_matrix_of_scipy_is_known_by_its_arrays() -> None:
    assert not forgets(lambda S: S.data.fill(7.0))
    assert not forgets(lambda S: S.indices.fill(1))
    assert forgets(lambda S: setattr(S, "data", S.data.copy()))
    assert forgets(lambda S: setattr(S, "data", np.ones(6)[::2]))
    assert forgets(lambda S: setattr(S, "indices", S.indices.astype(np.int64)))
    assert forgets(lambda S: S.indptr.__setitem__(2, 2))  # one atom fewer
    assert forgets(lambda S: S.resize(2, 2))
    assert forgets(lambda S: (S.data.__setitem__(0, 0.0), S.eliminate_zeros()))


def test_other_kinds_of_arrays_in_it_go_the_long_way() -> None:
    S = matrix()
    held = CallCache((S,), "cpu")
    S.data = [1.0, 2.0, 3.0]
    assert held.read(S) is None
    S.data = np.ma.masked_array(np.ones(3))
    assert held.read(S) is None


def test_a_call_holds_the_arrays_that_it_read_and_a_remembered_one_none() -> None:
    """While native code reads these arrays, another thread may give the matrix others."""
    S = matrix()
    held = CallCache((S,), "cpu")
    data = weakref.ref(S.data)
    signature = held.read(S)
    held.keep(signature, prepared, "cpu")
    S.data = np.ones(3)
    assert data() is not None
    del signature
    assert data() is None


def test_other_formats_go_the_long_way() -> None:
    for S in (matrix().tocoo(), matrix().tocsc(), scipy.sparse.csr_array(np.ones(3))):
        assert CallCache((S,), "cpu").read(S) is None


def test_numbers_and_the_stream_decide() -> None:
    streams = [1]
    held = cached(A, 2.5, stream=lambda: streams[0])
    assert held.repeat(A, 2.5)
    assert not held.repeat(A, 2.6)
    streams[0] = 2
    assert not held.repeat(A, 2.5)


def test_another_device_is_not_remembered() -> None:
    held = CallCache((A, X), "cuda:0")
    held.keep(held.read(A, X), prepared, "cuda:1")
    assert not held.repeat(A, X)


def test_only_the_last_calls_are_kept() -> None:
    held = CallCache((X,), "cuda:0")
    ran: list[int] = []
    for i in range(MOST + 1):
        held.keep(held.read(ndarray(i, (5,))), functools.partial(ran.append, i), "cuda:0")
    assert not held.repeat(ndarray(0, (5,)))
    assert held.repeat(ndarray(MOST, (5,)))
    assert ran == [MOST]


class Tensor:
    """torch.Tensor: sparse ones have no address, and a lazy view that of what it is a view of."""

    layout, dtype, shape, ndim = "torch.strided", "torch.complex64", (3,), 1
    requires_grad = False
    device = types.SimpleNamespace(type="cuda", index=0)

    def __init__(
        self, sparse: bool = False, conjugate: bool = False, negative: bool = False
    ) -> None:
        self.sparse, self.conjugate, self.negative = sparse, conjugate, negative
        self.pointer, self.where = 5, 0

    def data_ptr(self) -> int:
        if self.sparse:
            raise RuntimeError("no storage")
        return self.pointer

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def is_contiguous(self) -> bool:
        return True

    def get_device(self) -> int:
        return self.where

    def is_conj(self) -> bool:
        return self.conjugate

    def is_neg(self) -> bool:
        return self.negative


Tensor.__module__ = "torch"


def test_a_lazy_view_is_another_argument() -> None:
    held = CallCache((Tensor(),), "cuda:0")
    held.keep(held.read(Tensor()), prepared, "cuda:0")
    assert held.repeat(Tensor())
    assert not held.repeat(Tensor(conjugate=True))
    assert not held.repeat(Tensor(negative=True))


def test_an_array_on_a_gpu_that_may_not_be_written_is_another_argument() -> None:
    from evenly.interop.array_view import ArrayView

    def array(readonly: bool) -> ev.DeviceArray:
        memory = 64, (4,), np.dtype(np.float32), "cuda", 0, readonly, True, None
        return ev.DeviceArray(ArrayView(*memory))

    held = CallCache((array(False),), "cuda:0")
    held.keep(held.read(array(False)), prepared, "cuda:0")
    assert held.repeat(array(False))
    assert not held.repeat(array(True))


def test_a_tensor_on_another_device_is_another_argument() -> None:
    """Also where its address does not matter."""
    held = CallCache((Tensor(),), "cuda:0")
    there = Tensor()
    there.where = -1
    assert held.read(Tensor())[0] == held.read(there)[0]
    assert held.read(Tensor())[1] != held.read(there)[1]


@pytest.mark.parametrize(
    ("number", "other"), [(1j, -1j), (1.5, 2.5), (0.0, -0.0), (0j, complex(0, -0.0))]
)
def test_numbers_are_told_apart(number: complex, other: complex) -> None:
    held = CallCache((number,), "cuda:0")
    held.keep(held.read(number), prepared, "cuda:0")
    assert held.repeat(number)
    assert not held.repeat(other)


def test_a_number_is_what_it_is_not_how_it_is_shown() -> None:
    class Rounded(float):
        __repr__ = lambda self: f"{float(self):.1f}"  # noqa: E731

    held = CallCache((Rounded(1.01),), "cpu")
    held.keep(held.read(Rounded(1.01)), prepared, "cpu")
    assert not held.repeat(Rounded(1.04))


def test_an_array_without_an_address_goes_the_long_way() -> None:
    """A sparse tensor has the same Python type as a dense one."""
    held = CallCache((Tensor(False),), "cuda:0")
    assert held.read(Tensor(False)) is not None
    assert held.read(Tensor(True)) is None


# ---- layouts that are made anew --------------------------------------------------------------------
def remembered(*arguments: Any, run: Any = prepared, by_memory: bool = False) -> CallCache:
    made = CallCache(arguments, "cuda:0", by_memory=by_memory)
    assert made.remember(arguments, run, "cuda:0")
    return made


def anew(base: Csr, pointer: int = 50, places: int = 10, **other: Any) -> Frontier:
    """A frontier as algorithms make it at each call, over memory of a pool."""
    names = "selected", "offsets", "walked", "pushed", "marks"
    fields = {name: ndarray(pointer + i, (places,), np.int32) for i, name in enumerate(names)}
    numbers = {"places": places, "most_atoms": 9, "unique": 1, "checked": 1}
    return Frontier(base, **{**fields, **numbers, **other})


def test_a_frontier_made_anew_is_known_by_its_memory() -> None:
    held = remembered(anew(A), Each(4), X)
    assert not held.repeat(anew(A), Each(4), X)
    assert held.repeat_alike(anew(A), Each(4), X)
    for other in (
        (anew(A, 51), Each(4), X),
        (anew(A, places=12), Each(4), X),
        (anew(A, most_atoms=8), Each(4), X),
        (anew(A), Each(5), X),
        (anew(A), Each(4), ndarray(2, (5,))),
        (anew(csr()), Each(4), X),  # other arrays of a graph, at the same addresses
    ):
        assert not held.repeat_alike(*other)


def test_a_layout_made_anew_over_the_same_arrays_is_the_same() -> None:
    mine = csr()
    held = remembered(mine, X, Y)
    again = Csr(mine.offsets, mine.indices, mine.values, 5)
    assert held.repeat_alike(again, X, Y)
    assert not held.repeat_alike(Csr(mine.offsets, mine.indices, mine.values, 6), X, Y)
    del mine, again
    gc.collect()
    assert not held.repeat_alike(csr(), X, Y)


def test_where_the_schedule_is_given_other_arrays_at_the_same_addresses_are_the_same() -> None:
    held = remembered(csr(), X, Y, by_memory=True)
    gc.collect()
    assert held.repeat_alike(csr(), X, Y)
    assert not held.repeat_alike(csr(), X, ndarray(2, (5,)))
    made = csr()
    longer = ndarray(made.indices.data.ptr, (len(made.indices) + 1,), np.int32)
    assert not held.repeat_alike(Csr(made.offsets, longer, made.values, 5), X, Y)


@ev.kernel
def lengths_of(P, out):
    for tile in P.tiles():
        out[tile] = sum(1 for k in P.atoms(tile))


@pytest.mark.parametrize("schedule", [ev.ThreadMapped(), ev.MergePath(), "auto"])
def test_what_the_arrays_hold_is_read_at_each_call(schedule: Any) -> None:
    """Layouts over one buffer, made anew, as an algorithm makes them from a pool."""
    buffer, out = np.zeros(5, np.int64), np.zeros(4, np.int64)
    for offsets in ([0, 1, 2, 3, 7], [0, 0, 7, 7, 7], [0, 7, 7, 7, 7]):
        buffer[:] = offsets
        P = ev.ragged(buffer[:], num_atoms=7, check=False)
        lengths_of[schedule].on("cpu")(P, out)
        np.testing.assert_array_equal(out, np.diff(offsets))


def test_numbers_of_other_types_are_other_calls() -> None:
    held = remembered(A, 1, 0.0)
    assert held.repeat_alike(A, 1, 0.0)
    for other in ((A, True, 0.0), (A, 1, -0.0), (A, 2, 0.0), (A, 1, 0)):
        assert not held.repeat_alike(*other)


def test_numbers_of_numpy_are_known_by_type_and_bits() -> None:
    held = remembered(A, np.int64(3), np.float32(0.0))
    assert held.repeat(A, np.int64(3), np.float32(0.0))
    assert held.repeat_alike(A, np.int64(3), np.float32(0.0))
    for other in (
        (A, np.int64(4), np.float32(0.0)),
        (A, np.int64(3), np.float32(-0.0)),
        (A, np.int32(3), np.float32(0.0)),
    ):
        assert not held.repeat_alike(*other)
    assert not held.repeat(A, np.int64(4), np.float32(0.0))


def test_what_watches_its_frontier_is_not_taken_for_another() -> None:
    watching = Watched(prepared, [])
    assert not remembered(anew(A), run=watching).repeat_alike(anew(A))
    held = CallCache((A, Foreign()), "cuda:0")
    assert not held.remember((A, Foreign()), prepared, "cuda:0")
    assert not held.repeat_alike(A, Foreign())


@pytest.mark.parametrize("target", ["cpu", "simt"])
def test_a_call_leaves_its_arrays_alone_before_garbage_is_collected(target: str) -> None:
    """PyTorch's compiled graphs count on that: what a cycle keeps seems to be in use."""
    if targets.available()[target]:
        pytest.skip(targets.available()[target])
    A = ev.csr(scipy.sparse.csr_array(np.float32([[1, 2], [0, 3]])))
    gc.collect()
    gc.disable()
    try:
        for width in 1, 3:
            X, Y, Z = (np.ones((2, width), np.float32) for _ in "123")
            kernels.spmm.on(target)(A, X, Y)
            kernels.spmm.plan(A, X, Z, target=target)(A, X, Z)
            kept = [weakref.ref(x) for x in (X, Y, Z)]
            del X, Y, Z
            assert [x() for x in kept] == [None] * 3
    finally:
        gc.enable()
