"""Describe arrays of any other library, through DLPack and `__cuda_array_interface__`.

Nothing here synchronises streams. Work on another stream than the kernel's must be
finished before the kernel reads what it wrote.

Sources: DLPack (data-apis.org/array-api), Numba's CUDA array interface, version 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evenly.errors import InputError, UnavailableError
from evenly.interop.array_view import ArrayView

CPU_DEVICES = frozenset({1, 3})  # kDLCPU, kDLCUDAHost
CUDA_DEVICES = frozenset({2, 13})  # kDLCUDA, kDLCUDAManaged


def from_dlpack(obj: Any, name: str) -> ArrayView:
    """Describe an array through `__dlpack__`, read by NumPy on the CPU and by cuda.core on a GPU."""
    try:
        device_type, _ = obj.__dlpack_device__()
    except AttributeError:
        hint = "an object with __dlpack__ needs __dlpack_device__ too"
        raise InputError(name, expected="an array", given=type(obj).__name__, hint=hint) from None
    if int(device_type) in CPU_DEVICES:
        array = _taken(lambda: np.from_dlpack(obj), name)
        pointer = array.__array_interface__["data"][0]
        flags = array.flags
        return ArrayView(
            pointer,
            array.shape,
            array.dtype,
            "cpu",
            0,
            not flags.writeable,
            flags.c_contiguous,
            array,
        )
    if int(device_type) not in CUDA_DEVICES:
        given = f"DLPack device type {int(device_type)}"
        raise InputError(name, expected="an array on cpu or cuda", given=given)
    try:
        from cuda.core.utils import StridedMemoryView
    except ImportError:
        raise UnavailableError(
            f"{name} (a DLPack array on a GPU)",
            "cuda-core is missing",
            "pip install 'evenly[cu13]'",
        ) from None
    found = StridedMemoryView.from_dlpack(obj, stream_ptr=-1)
    dtype = np.dtype(_taken(lambda: found.dtype, name))
    strides = found.strides
    if strides is not None:
        strides = tuple(s * dtype.itemsize for s in strides)
    return ArrayView(
        int(found.ptr),
        tuple(found.shape),
        dtype,
        "cuda",
        int(found.device_id),
        bool(found.readonly),
        is_c_contiguous(tuple(found.shape), strides, dtype.itemsize),
        found,
    )


def _taken(take: Callable[[], Any], name: str) -> Any:
    """Return `take()`. Raises InputError if NumPy has no dtype for the elements."""
    try:
        return take()
    except (BufferError, RuntimeError, TypeError) as error:  # libraries differ in what they raise
        given = (str(error).splitlines() or [type(error).__name__])[0]
        hint = "of bfloat16, PyTorch's tensors and arrays of ml_dtypes.bfloat16 are known"
        expected = "elements that NumPy has a type for"
        raise InputError(name, expected=expected, given=given, hint=hint) from None


def from_cuda(obj: Any, name: str) -> ArrayView:
    """Describe an array through `__cuda_array_interface__`."""
    described = obj.__cuda_array_interface__
    if described.get("mask") is not None:
        raise InputError(name, expected="an array without a mask", given="a masked one")
    shape = tuple(described["shape"])
    dtype = np.dtype(described["typestr"])
    pointer, readonly = described["data"]
    device_id = 0
    if hasattr(obj, "__dlpack_device__"):
        device_id = int(obj.__dlpack_device__()[1])
    contiguous = is_c_contiguous(shape, described.get("strides"), dtype.itemsize)
    return ArrayView(
        int(pointer or 0), shape, dtype, "cuda", device_id, bool(readonly), contiguous, obj
    )


def is_c_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int) -> bool:
    """Whether `strides` (in bytes; None means C order) are those of a C-contiguous array.

    >>> is_c_contiguous((2, 3), (24, 8), 8), is_c_contiguous((2, 3), (8, 16), 8)
    (True, False)
    """
    if strides is None or 0 in shape:
        return True
    step = itemsize
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != step:
            return False
        step *= length
    return True
