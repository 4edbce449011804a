"""One description of any array, and new arrays of the caller's own kind."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from evenly.errors import InputError, UnavailableError
from evenly.interop import arrays
from evenly.interop.arrays import as_numpy, empty, is_array, kind, view, zeros
from evenly.interop.device_array import DeviceArray
from evenly.interop.dlpack import is_c_contiguous
from evenly.interop.narrow import narrowed, widened
from evenly.interop.transfer import to_numpy
from evenly.language.types import BFLOAT16
from evenly.layouts.fields import as_field
from tests.interop import fakes

ARRAY = np.arange(6.0).reshape(2, 3)


def everything():
    return {
        "numpy": ARRAY,
        "cupy": fakes.ndarray(ARRAY),
        "torch": fakes.tensor(ARRAY),
        "device": DeviceArray(view(fakes.OnCuda(ARRAY))),
        "dlpack": fakes.Foreign(ARRAY),
    }


@pytest.mark.parametrize("whose", list(everything()))
def test_every_kind_of_array_is_described_alike(whose):
    array = everything()[whose]
    found = view(array, "x")
    assert kind(array) == whose
    assert is_array(array)
    assert (found.pointer, found.shape, found.dtype) == (ARRAY.ctypes.data, (2, 3), ARRAY.dtype)
    assert (found.contiguous, found.size, found.nbytes) == (True, 6, 48)
    assert found.device == ("cuda" if whose in ("cupy", "device") else "cpu")
    assert arrays.dtype_of(array) == np.float64


def test_the_device_is_named():
    assert view(fakes.tensor(ARRAY, "cuda")).device_id == 1
    assert view(fakes.ndarray(ARRAY)).device_id == 2
    with pytest.raises(InputError, match="^x: expected a tensor on cpu or cuda, got one on mps$"):
        view(fakes.tensor(ARRAY, "mps"), "x")


def test_read_only_and_strided_arrays_are_told():
    fixed = ARRAY.copy()
    fixed.flags.writeable = False
    assert view(fixed).readonly
    assert not view(ARRAY).readonly
    assert not view(ARRAY.T).contiguous
    assert not view(fakes.OnCuda(ARRAY.T)).contiguous
    assert view(fakes.OnCuda(ARRAY, data=(4096, True))).readonly


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3), None, True),
        ((2, 3), (24, 8), True),
        ((2, 3), (8, 16), False),
        ((1, 3), (999, 8), True),
        ((0, 3), (1, 1), True),
        ((3,), (16,), False),
        ((), (), True),
    ],
)
def test_c_order_is_recognised(shape, strides, expected):
    assert is_c_contiguous(shape, strides, 8) is expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [1.0, 2.0],
            "x: expected an array, got list; "
            "hint: make an array of it with numpy.asarray(..., dtype=...)",
        ),
        (3.0, "x: expected an array, got float; hint: a number is no array: "),
        (np.float32(3), "x: expected an array, got float32; hint: a number is no array: "),
        (None, "x: expected an array, got NoneType"),
        ("x", "x: expected an array, got str"),
        (np.ma.array([1.0]), "x: expected an array, got MaskedArray; hint: fill the masked array"),
        (np.array(["a"]), "x: expected an array of numbers, got dtype <U1"),
        (
            np.array([None]),
            "x: expected an array of numbers, got dtype object; hint: x.astype(numpy.float64)",
        ),
        (np.zeros(2, ">f4"), "x: expected an array of numbers, got dtype >f4; hint: its bytes"),
        (
            fakes.OnCuda(ARRAY, mask=ARRAY),
            "x: expected an array without a mask, got a masked one",
        ),
    ],
)
def test_what_is_no_array_is_refused(given, message):
    with pytest.raises(InputError) as caught:
        view(given, "x")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_elements_that_numpy_has_no_type_for():
    class Brain(fakes.Foreign):
        def __dlpack__(self, **kwargs):
            raise BufferError("bfloat16 cannot be exported")

    with pytest.raises(InputError) as caught:
        view(Brain(ARRAY), "x")
    assert str(caught.value).startswith(
        "x: expected elements that NumPy has a type for, got bfloat16 cannot be exported; hint: of"
    )


def test_cpu_memory_becomes_numpy_without_a_copy():
    for whose in ("numpy", "torch", "dlpack"):
        assert np.shares_memory(as_numpy(everything()[whose]), ARRAY)
    with pytest.raises(InputError) as caught:
        as_numpy(fakes.ndarray(ARRAY), "x")
    assert str(caught.value) == (
        "x: expected an array in CPU memory, got one on cuda; hint: copy it with .get()"
    )
    np.testing.assert_array_equal(to_numpy(fakes.ndarray(ARRAY)), ARRAY)
    np.testing.assert_array_equal(to_numpy(fakes.tensor(ARRAY, "cuda")), ARRAY)


def test_fields_are_kept_as_their_own_or_as_numpy():
    cupy, torch = fakes.ndarray(ARRAY), fakes.tensor(ARRAY, "cuda")
    assert as_field(cupy, "x", index=False) is cupy
    assert as_field(torch, "x", index=False) is torch
    assert isinstance(as_field(fakes.OnCuda(ARRAY), "x", index=False), DeviceArray)
    for on_cpu in (fakes.tensor(ARRAY), fakes.Foreign(ARRAY)):
        assert np.shares_memory(as_field(on_cpu, "x", index=False), ARRAY)
    with pytest.raises(InputError, match="expected int32 or int64 indices, got dtype float64"):
        as_field(cupy, "x", index=True)


def test_new_arrays_are_of_the_callers_kind(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", fakes.torch_module())
    monkeypatch.setitem(sys.modules, "cupy", fakes.cupy_module())
    for whose, wanted in (("numpy", "numpy"), ("cupy", "cupy"), ("torch", "torch")):
        made = zeros(everything()[whose], (3,), np.int64)
        assert kind(made) == wanted
        assert view(made).shape == (3,)
        assert view(made).dtype == np.int64
        raw = made if whose == "numpy" else made.array
        assert not raw.any()
    sys.modules["cupy"].current = 2  # the device of the array
    assert view(zeros(everything()["cupy"], (3,), np.int64)).shape == (3,)
    assert kind(empty(everything()["dlpack"], 3, "f4")) == "numpy"
    assert kind(empty(fakes.OnCuda(ARRAY), 3, "f4")) == "cupy"


def test_bfloat16_of_pytorch(monkeypatch):
    """NumPy has no bfloat16, and PyTorch does not convert it to NumPy, so the bits are passed."""
    monkeypatch.setitem(sys.modules, "torch", fakes.torch_module())
    numbers = narrowed([1.5, -2.0])
    tensor = fakes.tensor(numbers)
    assert view(tensor).dtype == arrays.dtype_of(tensor) == BFLOAT16.dtype
    assert view(tensor).nbytes == 4
    for array in (as_numpy(tensor), as_field(tensor, "x", index=False)):
        assert np.shares_memory(array, numbers)
        assert widened(array).tolist() == [1.5, -2.0]
    assert widened(to_numpy(fakes.tensor(numbers, "cuda"))).tolist() == [1.5, -2.0]
    made = zeros(tensor, (3,), BFLOAT16.dtype)
    assert made.dtype.name == "bfloat16"
    assert widened(as_numpy(made)).tolist() == [0.0] * 3


@pytest.mark.parametrize(("what", "said"), [("conj", "conjugate"), ("neg", "negative")])
def test_a_lazy_view_of_pytorch_is_refused(what, said):
    tensor = fakes.tensor(ARRAY)
    setattr(tensor, f"is_{what}", lambda: True)
    with pytest.raises(InputError) as caught:
        view(tensor, "x")
    assert str(caught.value) == (
        f"x: expected a tensor whose memory holds its numbers, got a {said} view; "
        f"hint: x.resolve_{what}()"
    )


def test_a_tensor_of_pytorch_without_memory_is_refused(monkeypatch):
    """Zeros of its derivatives have none. That an empty tensor has none does not matter."""
    monkeypatch.setattr(fakes.Tensor, "data_ptr", lambda self: 0)
    assert view(fakes.tensor(np.empty((0, 3), np.float32))).size == 0
    with pytest.raises(InputError) as caught:
        view(fakes.tensor(ARRAY), "x")
    assert str(caught.value) == (
        "x: expected a tensor with memory, got one of zeros without; hint: x.clone()"
    )


def test_without_a_gpu_device_arrays_say_what_is_missing():
    from tests.conftest import gpu_count

    if gpu_count():
        pytest.skip("there is a GPU here")
    with pytest.raises(UnavailableError, match="^DeviceArray: .*; to get it: an NVIDIA driver"):
        DeviceArray.from_numpy(ARRAY)


def test_no_library_is_imported_that_the_caller_did_not_import():
    code = (
        "import sys, numpy as np\n"
        "from evenly.interop import arrays, sparse\n"
        "import evenly.layouts\n"
        "arrays.view(np.zeros(3)); sparse.is_sparse(3)\n"
        "bad = {'torch', 'cupy', 'cuda', 'numba', 'scipy.sparse'} & set(sys.modules)\n"
        "sys.exit(f'imported: {bad}' if bad else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
