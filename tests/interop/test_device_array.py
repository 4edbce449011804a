"""The minimal GPU array: its description here, its memory on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.interop.arrays import view, zeros
from evenly.interop.device_array import DeviceArray, device_empty
from evenly.interop.transfer import to_cuda, to_numpy
from evenly.layouts import check, csr, ell
from tests import batteries
from tests.interop import fakes

ARRAY = np.arange(6.0).reshape(2, 3)


def wrapped():
    return DeviceArray(view(fakes.OnCuda(ARRAY)))


def test_it_describes_the_memory_it_wraps():
    array = wrapped()
    assert (array.shape, array.ndim, array.size, array.nbytes) == ((2, 3), 2, 6, 48)
    assert len(array) == 2
    assert array.__cuda_array_interface__["data"] == (ARRAY.ctypes.data, False)
    assert array.__cuda_array_interface__["typestr"] == "<f8"
    assert array.__dlpack_device__() == (2, 0)
    assert repr(array) == "DeviceArray(shape=(2, 3), dtype=float64, device_id=0)"
    assert array.reshape(-1 * -6).shape == (6,)
    assert view(array.reshape(3, 2)).shape == (3, 2)


@pytest.mark.parametrize(
    "shape", [-1, (-1,), (-1, 2), (3, -1), (1, -1, 3), (6, -1), (2, 3, -1), (np.int64(-1), 6)]
)
@pytest.mark.parametrize("of", [ARRAY, np.zeros((0, 6))])
def test_a_length_of_minus_one_follows_from_the_size_as_in_numpy(of, shape):
    reshaped = DeviceArray(view(fakes.OnCuda(of))).reshape(shape)
    assert reshaped.shape == of.reshape(shape).shape
    assert reshaped.pointer == of.ctypes.data


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wrapped()[0], "DeviceArray: expected whole arrays, got a subscript; hint: copy"),
        (lambda: np.asarray(wrapped()), "DeviceArray: expected an explicit copy to the CPU, got"),
        (lambda: wrapped().reshape(5), "shape: expected 6 elements, got shape (5,)"),
        (lambda: wrapped().reshape(4, -1), "shape: expected 6 elements, got shape (4, -1)"),
        (lambda: wrapped().reshape(-1, -1), "shape: expected -1 at most once, got (-1, -1)"),
        (
            lambda: wrapped().reshape(0, -1),
            "shape: expected lengths from which that of -1 follows, got (0, -1)",
        ),
        (lambda: wrapped().reshape(-2, 3), "shape: expected lengths of at least 0, got (-2, 3)"),
        (lambda: wrapped().reshape(-2, -1), "shape: expected lengths of at least 0, got (-2, -1)"),
        (lambda: DeviceArray(view(ARRAY)), "DeviceArray: expected GPU memory, got cpu memory"),
        (
            lambda: DeviceArray(view(fakes.OnCuda(ARRAY.T))),
            "DeviceArray: expected a contiguous array, got a strided one",
        ),
        (lambda: device_empty((-1,), "f4"), "shape: expected lengths of at least 0, got (-1,)"),
        (lambda: device_empty(1.5, "f4"), "shape: expected integers, got 1.5"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(message)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 0, 3)])
def test_there_and_back(shape, dtype):
    host = (np.arange(int(np.prod(shape))).reshape(shape) % 3).astype(dtype)
    array = DeviceArray.from_numpy(host)
    back = array.to_numpy()
    assert (back.shape, back.dtype) == (host.shape, host.dtype)
    np.testing.assert_array_equal(back, host)
    assert not zeros(array, shape, dtype).to_numpy().any()
    np.testing.assert_array_equal(DeviceArray(view(array)).to_numpy(), host)


@pytest.mark.gpu
def test_dlpack_gives_the_same_memory():
    from cuda.core.utils import StridedMemoryView

    array = DeviceArray.from_numpy(ARRAY)
    seen = StridedMemoryView.from_dlpack(array, stream_ptr=-1)
    assert (int(seen.ptr), tuple(seen.shape), seen.dtype) == (array.pointer, (2, 3), np.float64)

    class Other:  # DLPack alone, as of a library that is not known by name
        def __dlpack__(self, **kwargs):
            return array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return array.__dlpack_device__()

    assert view(Other()).pointer == array.pointer
    np.testing.assert_array_equal(to_numpy(Other()), ARRAY)


@pytest.mark.gpu
@pytest.mark.parametrize("make", [csr, ell])
def test_layouts_move_there_and_back(make):
    made = make(batteries.matrices()["power law"])
    there = made.to("cuda")
    assert view(there.values).device == "cuda"
    assert there.to("cuda") is there
    check(there)
    np.testing.assert_array_equal(there.to("cpu").values, made.values)


@pytest.mark.gpu
def test_to_cuda_leaves_what_is_there():
    array = DeviceArray.from_numpy(ARRAY)
    assert to_cuda(array) is array
