"""The handles of CUDA streams: of one that a user passes, and of the current one of CuPy, PyTorch or CUDA."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from evenly.errors import InputError
from evenly.interop.arrays import kind


def handle_of(stream: Any) -> int:
    """Return the handle of a stream. It may be an integer, or an object of cuda.core, CuPy, PyTorch or Numba.

    Raises InputError for anything else.
    """
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    if hasattr(stream, "__cuda_stream__"):  # cuda.core's; once an attribute
        found = stream.__cuda_stream__
        return int((found() if callable(found) else found)[1])
    for name in "ptr", "cuda_stream", "handle":  # CuPy's, PyTorch's, Numba's
        if hasattr(stream, name):
            handle = getattr(stream, name)
            return int(getattr(handle, "value", handle) or 0)
    raise InputError(
        "stream",
        expected="a stream of CuPy, PyTorch or cuda.core, or its handle",
        given=type(stream).__name__,
    )


def current(arrays: list[Any], device_id: int) -> int:
    """Return the handle of the current stream of the library that owns these arrays.

    The first array of CuPy or PyTorch decides. If there is none, it is CuPy's current stream if
    CuPy is imported, else the default stream (0).
    """
    return reader(arrays, device_id)()


def reader(arrays: list[Any], device_id: int) -> Callable[[], int]:
    """Return a fast function that returns `current(arrays, device_id)`. It keeps no reference to the arrays."""
    for array in arrays:
        name = kind(array)
        if name in _READERS:
            return _READERS[name](device_id)
    return lambda: _cupy(device_id)() if sys.modules.get("cupy") else 0


def _cupy(device_id: int) -> Callable[[], int]:
    import cupy

    get = cupy.cuda.get_current_stream
    return lambda: int(get(device_id).ptr)


def _torch(device_id: int) -> Callable[[], int]:
    import torch

    get = torch._C._cuda_getCurrentRawStream  # what PyTorch's compiled code calls
    return lambda: int(get(device_id))


_READERS = {"cupy": _cupy, "torch": _torch}
