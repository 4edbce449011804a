"""Sorting, sums, groups, selections, conversions and graphs on a GPU, against the same on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.device_array import DeviceArray
from evenly.interop.transfer import to_cuda, to_numpy
from evenly.language.types import BFLOAT16, FLOAT16, from_dtype
from evenly.layouts.contract import is_layout
from tests.algorithms.cases import REAL, keys, numbers
from tests.batteries import matrices, readable

pytestmark = pytest.mark.gpu
LENGTHS = (0, 1, 33, 70_000)


def torch_tensor(host: np.ndarray) -> Any:
    return pytest.importorskip("torch").from_numpy(host.copy()).cuda()


def cupy_array(host: np.ndarray) -> Any:
    return pytest.importorskip("cupy").asarray(host)


KINDS = {"cupy": cupy_array, "torch": torch_tensor, "device": DeviceArray.from_numpy}


def back(found: Any) -> list[np.ndarray]:
    """The arrays of a result, in CPU memory."""
    if isinstance(found, tuple):
        return [array for one in found for array in back(one)]
    if is_layout(found):
        return [array for f in type(found).__fields__ for array in back(getattr(found, f))]
    return [] if found is None else [np.asarray(found) if np.isscalar(found) else to_numpy(found)]


def agree(run: Callable[..., Any], *arrays: np.ndarray, put: Callable[..., Any] = to_cuda) -> None:
    """The same bits here and there, and there once more."""
    there = [put(a) for a in arrays]
    expected, first, second = back(run(*arrays)), back(run(*there)), back(run(*there))
    for mine, theirs, again in zip(expected, first, second, strict=True):
        assert (theirs.dtype, theirs.shape) == (mine.dtype, mine.shape)
        assert bits(theirs) == bits(mine)
        assert again.tobytes() == theirs.tobytes()


def bits(x: np.ndarray) -> bytes:
    """The bytes of an array. Every NaN of 16 bits counts as one, since it passes through float32."""
    if from_dtype(x.dtype) in (FLOAT16, BFLOAT16):
        return bytes(np.where(np.isnan(readable(x)), 0x7FFF, x.view(np.uint16)))
    return x.tobytes()


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("length", LENGTHS)
def test_keys_of_every_type(dtype: str, length: int) -> None:
    x = keys(dtype, length)
    values = numbers("float32", length), numbers("complex128", length)
    agree(lambda x: ev.sort_by_key(x), x)
    agree(lambda x: ev.sort_by_key(x, descending=True), x)
    agree(lambda x, a: ev.sort_by_key(x, a), x, values[0])
    agree(lambda x, a, b: ev.sort_by_key(x, (a, b), descending=True), x, *values)
    agree(lambda x: ev.group_by(x), x)
    agree(lambda x: ev.unique(x, return_index=True, return_inverse=True, return_counts=True), x)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", LENGTHS)
def test_arrays_of_every_library(kind: str, length: int) -> None:
    put = KINDS[kind]
    x, source = numbers("int32", length), numbers("float32", length)
    index = np.random.default_rng(1).integers(0, 50, length).astype(np.int32)
    agree(lambda x: ev.prefix_sum(x), x, put=put)
    agree(lambda x: ev.prefix_sum(x, include_initial=True, dtype=np.int32), x, put=put)
    agree(
        lambda i, s: ev.index_add(ev.kit.zeros(s, (50,), np.float32), i, s), index, source, put=put
    )
    agree(lambda i: ev.group_by(i, 60), index, put=put)
    agree(lambda k, s: ev.compact(k, (s, k)), x > 0, source, put=put)
    agree(lambda k: ev.compact(k), x > 0, put=put)
    out = ev.sort_by_key(put(x))[0]
    assert type(out) is type(put(x))


def test_float_sums_have_the_same_bits_on_every_run() -> None:
    x = np.random.default_rng(2).normal(size=3_000_000).astype(np.float32)
    there = to_cuda(x)
    first = to_numpy(ev.prefix_sum(there))
    np.testing.assert_allclose(first, np.cumsum(x, dtype=np.float64), rtol=1e-3, atol=1e-2)
    for _ in range(20):
        assert to_numpy(ev.prefix_sum(there)).tobytes() == first.tobytes()


@pytest.mark.parametrize("name", ["stencil", "power law", "duplicates", "wide", "nothing (0 x 0)"])
def test_conversions(name: str) -> None:
    matrix = matrices(np.float64)[name]
    for given in (ev.csr(matrix), ev.csc(matrix), ev.coo(matrix)):
        there = given.to("cuda")
        for format in ("csr", "csc", "coo"):
            mine, theirs = (getattr(A, f"to{format}")() for A in (given, there))
            for a, b in zip(back(mine), back(theirs), strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("duplicates", ["keep", "sum"])
@pytest.mark.parametrize("kind", KINDS)
def test_graphs(kind: str, duplicates: str) -> None:
    rng = np.random.default_rng(4)
    src, dst = (np.minimum(rng.pareto(1.0, 20_000), 499).astype(np.int32) for _ in range(2))
    weights = numbers("float32", 20_000)
    options: dict[str, Any] = {"duplicates": duplicates}
    agree(
        lambda s, d, w: ev.csgraph_from_edges(s, d, w, **options),
        src,
        dst,
        weights,
        put=KINDS[kind],
    )
    agree(lambda s, d: ev.csgraph_from_edges(s, d, **options), src, dst, put=KINDS[kind])


def test_the_callers_stream_and_strided_arrays() -> None:
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        x = cupy.arange(1_000_000, dtype=cupy.int32)[::-2] % 1000
        order = ev.sort_by_key(x)[1]
        places = ev.prefix_sum(x, dtype=np.int64)
    stream.synchronize()
    host = (np.arange(1_000_000, dtype=np.int32) % 1000)[::-2]
    np.testing.assert_array_equal(order.get(), np.argsort(x.get(), kind="stable"))
    np.testing.assert_array_equal(places.get(), np.cumsum(x.get()))
    np.testing.assert_array_equal(np.sort(x.get()), np.sort(host))


def test_arrays_of_two_devices_are_refused() -> None:
    x = np.ones(3, np.int32)
    with pytest.raises(
        ev.InputError, match="^values: expected an array beside keys, on cuda:0, got one on cpu"
    ):
        ev.sort_by_key(to_cuda(x), x)
