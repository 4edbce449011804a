"""Vectors in and out of algorithms: of every library, strided, and back as the caller's own kind."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly import kit
from evenly.interop.device_array import DeviceArray
from evenly.interop.narrow import narrowed, widened
from evenly.interop.vectors import as_integers, contiguous, entry, from_numpy, numbers, store
from tests.interop import fakes


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", fakes.torch_module())


@pytest.mark.usefixtures("torch")
def test_tensors_in_give_tensors_out() -> None:
    keys, values = fakes.tensor(np.array([3, 1, 2], np.int32)), fakes.tensor(np.arange(3.0))
    sorted_, moved = ev.sort_by_key(keys, values)
    assert (type(sorted_), type(moved)) == (fakes.Tensor, fakes.Tensor)
    assert (sorted_.array.tolist(), moved.array.tolist()) == ([1, 2, 3], [1, 2, 0])
    sums = ev.prefix_sum(keys, include_initial=True)
    assert (type(sums), sums.array.tolist()) == (fakes.Tensor, [0, 3, 4, 6])
    groups = ev.group_by(keys)
    assert [type(x) for x in groups] == [fakes.Tensor] * 3
    half = fakes.tensor(narrowed(np.array([1.0, 2.0, 4.0])))
    assert widened(ev.prefix_sum(half).array.view(half.array.dtype)).tolist() == [1, 3, 7]


def test_arrays_of_other_libraries_give_numpys() -> None:
    keys = fakes.Foreign(np.array([3, 1, 2]))
    sorted_, order = ev.sort_by_key(keys)
    assert (type(sorted_), sorted_.tolist(), order.tolist()) == (np.ndarray, [1, 2, 3], [1, 2, 0])
    found = ev.index_add(fakes.Foreign(np.zeros(4)), keys, fakes.Foreign(np.ones(3)))
    assert (type(found), found.tolist()) == (np.ndarray, [0, 1, 1, 1])


def test_arrays_on_a_gpu_become_what_has_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    found: Any = kit.vector(fakes.OnCuda(np.arange(4.0)), "x")
    assert (type(found), len(found)) == (DeviceArray, 4)
    with pytest.raises(ev.InputError, match="^x: expected a contiguous array, got a strided one$"):
        contiguous(fakes.OnCuda(np.arange(4.0)[::2]), "x")


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64", "complex64", "float16"])
def test_bits_are_integers_of_the_same_memory(dtype: str) -> None:
    x = np.zeros(3, dtype)
    bits = as_integers(x)
    assert (bits.dtype.kind in "iu", bits.itemsize) == (True, x.itemsize)
    assert np.shares_memory(x, bits)
    there = as_integers(fakes.OnCuda(x))
    assert (there.dtype, there.pointer) == (bits.dtype, x.ctypes.data)


def test_numbers_of_16_bits_and_back() -> None:
    x = narrowed(np.array([1.0, 2.5]))
    assert numbers(x).tolist() == [1.0, 2.5]
    out = np.empty_like(x)
    store(np.array([1.0, 1 + 2.0**-8 + 2.0**-20]), out)
    assert widened(out).tolist() == [1.0, 1 + 2.0**-7]
    assert from_numpy(x, x) is x


def test_one_element_is_read() -> None:
    assert entry(np.array([5, 2**40]), 1) == 2**40


def test_arrays_of_two_devices_are_refused() -> None:
    here, there = np.ones(3), fakes.OnCuda(np.ones(3))
    said = "^values: expected an array beside keys, on cpu, got one on cuda:0$"
    with pytest.raises(ev.InputError, match=said):
        ev.sort_by_key(here, there)
    said = "^out: expected an array beside x, on cpu, got one on cuda:0$"
    with pytest.raises(ev.InputError, match=said):
        ev.prefix_sum(here, out=there)
