"""Describe any array that a user may pass (`view`), and allocate new ones of the same kind (`empty`, `zeros`).

Every call runs `view` on each argument, so it reads the cheapest attributes of each library.
It never imports a library: whoever passes an array of CuPy or PyTorch has imported it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from evenly.errors import InputError
from evenly.interop import dlpack
from evenly.interop.array_view import ArrayView
from evenly.interop.device_array import DeviceArray, device_empty
from evenly.language.types import BFLOAT16, from_dtype, name_of

FOREIGN_BYTES = "its bytes are in foreign order: .astype(dtype.newbyteorder('='))"


# "device": `ev.DeviceArray`. "dlpack": anything else that speaks DLPack or `__cuda_array_interface__`.
Kind = Literal["numpy", "cupy", "torch", "device", "dlpack"]


def kind(obj: object) -> Kind | None:
    """Whose array it is; None for what is no array."""
    cls = type(obj)
    if cls is np.ndarray:
        return "numpy"
    known = _KINDS.get(cls)
    if known is None:
        known = _KINDS[cls] = _kind(obj)
    return known or None


_KINDS: dict[type, Kind | Literal[""]] = {}  # a cache by class; "" for classes that are not arrays


def _kind(obj: object) -> Kind | Literal[""]:
    if isinstance(obj, np.ndarray):
        return "" if isinstance(obj, np.ma.MaskedArray) else "numpy"
    for cls in type(obj).__mro__:
        root = cls.__module__.partition(".")[0]
        if root == "cupy" and cls.__name__ == "ndarray":
            return "cupy"
        if root == "torch" and cls.__name__ == "Tensor":
            return "torch"
        if cls is DeviceArray:
            return "device"
    if isinstance(obj, (type, np.generic)):
        return ""
    if hasattr(type(obj), "__cuda_array_interface__") or hasattr(type(obj), "__dlpack__"):
        return "dlpack"
    return ""


def is_array(obj: object) -> bool:
    """Whether `obj` is an array. (`view` may still refuse its dtype or byte order.)"""
    return kind(obj) is not None


def view(obj: Any, name: str = "array") -> ArrayView:
    """Describe the array `obj` without copying it.

    name: what the user calls it, for error messages.

    Raises InputError if `obj` is not an array, its elements are not numbers, or its bytes
    are not in the machine's order.
    """
    reader = _READERS.get(kind(obj))
    if reader is None:
        raise not_an_array(obj, name)
    return reader(obj, name)


def not_an_array(obj: object, name: str, expected: str = "an array") -> InputError:
    """Make the error for an `obj` that should have been an array, with a hint that fits its type."""
    hint = ""
    if isinstance(obj, (list, tuple, range)):
        hint = "make an array of it with numpy.asarray(..., dtype=...)"
    elif isinstance(obj, np.ma.MaskedArray):
        hint = "fill the masked array first: .filled(0)"
    elif isinstance(obj, (int, float, complex, np.generic)):
        hint = "a number is no array: numpy.full(shape, number) makes one"
    elif hasattr(obj, "to_numpy"):  # pandas and its like
        hint = "its array is .to_numpy()"
    elif isinstance(obj, (str, os.PathLike)):
        hint = "read the file first: scipy.io.mmread(path) gives a sparse matrix"
    return InputError(name, expected=expected, given=type(obj).__name__, hint=hint)


def conversion(dtype: np.dtype[Any], name: str = "") -> str:
    """Return a hint for a `dtype` that kernels do not support: convert to the nearest one that holds its values."""
    if not dtype.isnative:
        return FOREIGN_BYTES
    if dtype.kind in "iub":
        wanted = "int64" if dtype.kind == "u" and dtype.itemsize >= 4 else "int32"
    else:
        wanted = {
            "f": "float64",
            "c": "complex128",
            "O": "float64",
            "M": "int64",
            "m": "int64",
        }.get(dtype.kind, "")
    return f"{name}.astype(numpy.{wanted})" if wanted else ""


def _where_numpy_puts_addresses() -> Callable[[Any], int]:
    """Return a function that reads the address of a NumPy array's memory.

    NumPy's own attributes build a dictionary or an object first, which takes ten times as long; a whole call takes a
    few microseconds. The address is the first field after the object's head (NumPy's C API, `PyArrayObject_fields`).
    If a probe does not find it there, `__array_interface__` is used.
    """
    head, field = object.__basicsize__, ctypes.c_size_t.from_address

    def read(array: Any) -> int:
        return field(id(array) + head).value

    def ask(array: Any) -> int:
        found: int = array.__array_interface__["data"][0]
        return found

    if sys.implementation.name != "cpython":
        return ask
    probes = (np.zeros(3, np.int8), np.zeros((2, 3)), np.zeros(5)[1:])
    return read if all(read(p) == ask(p) for p in probes) else ask


address = _where_numpy_puts_addresses()


def _view_numpy(obj: Any, name: str) -> ArrayView:
    dtype = obj.dtype
    if not _is_numbers(dtype):
        raise _bad_type(name, dtype)
    flags = obj.flags
    return ArrayView(
        address(obj),
        obj.shape,
        dtype,
        "cpu",
        0,
        not flags.writeable,
        flags.c_contiguous,
        obj,
    )


def _view_cupy(obj: Any, name: str) -> ArrayView:
    data = obj.data
    return ArrayView(
        data.ptr, obj.shape, obj.dtype, "cuda", data.device_id, False, obj.flags.c_contiguous, obj
    )


def has_no_gradient(tensor: Any, name: str) -> None:
    """Raise InputError for a PyTorch tensor that requires a gradient, unless gradients are switched off."""
    if tensor.requires_grad and sys.modules["torch"].is_grad_enabled():
        raise InputError(
            name,
            expected="a tensor that requires no gradient, since kernels carry none on",
            given="one that requires a gradient",
            hint="pass its .detach(), or call under torch.no_grad()",
        )


def _view_torch(obj: Any, name: str) -> ArrayView:
    has_no_gradient(obj, name)
    device = obj.device
    if device.type not in ("cpu", "cuda"):
        raise InputError(name, expected="a tensor on cpu or cuda", given=f"one on {device}")
    for what, view in (("conj", "a conjugate view"), ("neg", "a negative view")):
        if getattr(
            obj, f"is_{what}"
        )():  # its memory holds the values before conjugation or negation
            expected = "a tensor whose memory holds its numbers"
            raise InputError(name, expected=expected, given=view, hint=f"{name}.resolve_{what}()")
    pointer, shape = obj.data_ptr(), tuple(obj.shape)
    if pointer == 0 and 0 not in shape:  # PyTorch makes such zeros where it differentiates forward
        expected, given = "a tensor with memory", "one of zeros without"
        raise InputError(name, expected=expected, given=given, hint=f"{name}.clone()")
    return ArrayView(
        pointer,
        shape,
        torch_dtype(obj, name),
        device.type,
        device.index or 0,
        False,
        obj.is_contiguous(),
        obj,
    )


def _view_device(obj: Any, name: str) -> ArrayView:
    found: ArrayView = obj.view()
    return found


def _view_foreign(obj: Any, name: str) -> ArrayView:
    interface = getattr(obj, "__cuda_array_interface__", None)
    found = dlpack.from_dlpack(obj, name) if interface is None else dlpack.from_cuda(obj, name)
    if not _is_numbers(found.dtype):
        raise _bad_type(name, found.dtype)
    return found


_READERS: dict[Kind | None, Callable[[Any, str], ArrayView]] = {
    "numpy": _view_numpy,
    "cupy": _view_cupy,
    "torch": _view_torch,
    "device": _view_device,
    "dlpack": _view_foreign,
}


def _is_numbers(dtype: np.dtype[Any]) -> bool:
    """Whether elements are numbers in the machine's byte order."""
    return dtype.isnative and (dtype.kind in "biufc" or from_dtype(dtype) is BFLOAT16)


def _bad_type(name: str, dtype: np.dtype[Any]) -> InputError:
    hint = conversion(dtype, name)
    return InputError(name, expected="an array of numbers", given=f"dtype {dtype}", hint=hint)


_TORCH_TYPES: dict[Any, np.dtype[Any]] = {}


def torch_dtype(obj: Any, name: str = "array") -> np.dtype[Any]:
    """Return the NumPy dtype of a PyTorch tensor. Raises InputError if NumPy has no such dtype."""
    found = _TORCH_TYPES.get(obj.dtype)
    if found is None:
        spelled = str(obj.dtype).removeprefix("torch.")
        try:
            found = BFLOAT16.dtype if spelled == BFLOAT16.name else np.dtype(spelled)
        except TypeError:
            raise InputError(
                name, expected="an element type NumPy knows", given=f"dtype {spelled}"
            ) from None
        _TORCH_TYPES[obj.dtype] = found
    return found


def dtype_of(obj: Any, name: str = "array") -> np.dtype[Any]:
    """Return the NumPy dtype of any array."""
    if kind(obj) == "torch":
        return torch_dtype(obj, name)
    dtype = getattr(obj, "dtype", None)
    return dtype if isinstance(dtype, np.dtype) else view(obj, name).dtype


def as_numpy(obj: Any, name: str = "array") -> np.ndarray[Any, Any]:
    """Return `obj` as a NumPy array over the same memory. Raises InputError if it is on a GPU."""
    whose = kind(obj)
    if whose == "numpy":  # subclasses such as memory maps become plain arrays
        return obj if type(obj) is np.ndarray else np.asarray(obj)
    found = view(obj, name)
    if found.device != "cpu":
        hints = {"cupy": ".get()", "torch": ".cpu()", "device": ".to_numpy()"}
        hint = "copy it with " + hints.get(whose or "", "evenly.interop.transfer.to_numpy(array)")
        raise InputError(name, expected="an array in CPU memory", given="one on cuda", hint=hint)
    if whose == "torch":
        array: np.ndarray[Any, Any]
        if found.dtype == BFLOAT16.dtype:  # PyTorch cannot convert bfloat16 to NumPy: pass the bits
            array = obj.detach().view(sys.modules["torch"].int16).numpy().view(found.dtype)
        else:
            array = obj.detach().numpy()
        return array
    return np.from_dlpack(obj)


def empty(like: Any, shape: Any, dtype: Any) -> Any:
    """Allocate an uninitialised array of the same library and on the same device as the array `like`."""
    whose = kind(like)
    if whose == "cupy":
        cupy = sys.modules["cupy"]
        if like.data.device_id == cupy.cuda.runtime.getDevice():  # to enter it takes twice the time
            return cupy.empty(shape, dtype=dtype)
        with like.device:
            return cupy.empty(shape, dtype=dtype)
    if whose == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, name_of(dtype)), device=like.device)
    found = None if whose == "numpy" else view(like)
    if found is None or found.device == "cpu":
        return np.empty(shape, dtype)
    if whose == "dlpack" and "cupy" in sys.modules:
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(found.device_id):
            return cupy.empty(shape, dtype=dtype)
    return device_empty(shape, dtype, device_id=found.device_id)


def zeros(like: Any, shape: Any, dtype: Any) -> Any:
    """Allocate an array of zeros of the same library and on the same device as the array `like`."""
    if kind(like) == "numpy":
        return np.zeros(shape, dtype)
    made = empty(like, shape, dtype)
    if kind(made) == "torch":
        return made.zero_()
    if kind(made) == "device":
        made.fill_zero()
    else:
        made.fill(0)
    return made
