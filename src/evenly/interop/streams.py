"""Streams of CUDA: the caller's current one (CuPy's, PyTorch's, or the default one), and one that is given."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from evenly.errors import InputError
from evenly.interop.arrays import kind


def handle_of(stream: Any) -> int:
    """The handle of a stream that a user gives: an integer, or an object of cuda.core, CuPy, PyTorch or Numba.

    Raises InputError for something else.
    """
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    if hasattr(stream, "__cuda_stream__"):  # the protocol of cuda.core, once an attribute
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
    """The handle of the stream that the owner of these arrays works on now, as an integer.

    The first array that comes from CuPy or PyTorch decides; where none does, CuPy's stream if it
    is imported; else the default stream.
    """
    return reader(arrays, device_id)()


def reader(arrays: list[Any], device_id: int) -> Callable[[], int]:
    """A function that tells `current(arrays, device_id)`, made for being called often.

    It keeps none of the arrays.
    """
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

    get = torch._C._cuda_getCurrentRawStream  # what its own compiler's launchers ask
    return lambda: int(get(device_id))


_READERS = {"cupy": _cupy, "torch": _torch}
