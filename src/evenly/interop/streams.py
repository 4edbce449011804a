"""The caller's current stream: CuPy's, PyTorch's, or the default one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from evenly.interop.arrays import kind


def current(arrays: list[Any], device_id: int) -> int:
    """The handle of the stream that the owner of these arrays works on now, as an integer.

    The first array that comes from CuPy or PyTorch decides; where none does, the library
    that is imported and has set a stream of its own; else the default stream.
    """
    kinds = [kind(a) for a in arrays]
    for name in kinds:
        if name in _CURRENT:
            return _CURRENT[name](device_id)
    return _CURRENT["cupy"](device_id) if "cupy" in sys.modules else 0


def reader(arrays: list[Any], device_id: int) -> Callable[[], int]:
    """A function that tells `current(arrays, device_id)`, made for being called often.

    It keeps none of the arrays.
    """
    kinds = [kind(a) for a in arrays]
    for name in kinds:
        if name in _READERS:
            return _READERS[name](device_id)
    return lambda: current([], device_id)


def _cupy_reader(device_id: int) -> Callable[[], int]:
    import cupy

    get = cupy.cuda.get_current_stream
    return lambda: int(get(device_id).ptr)


def _torch_reader(device_id: int) -> Callable[[], int]:
    import torch

    get = torch._C._cuda_getCurrentRawStream  # what its own compiler's launchers ask
    return lambda: int(get(device_id))


def _cupy(device_id: int) -> int:
    import cupy

    return int(cupy.cuda.get_current_stream(device_id).ptr)


def _torch(device_id: int) -> int:
    import torch

    return int(torch.cuda.current_stream(device_id).cuda_stream)


_READERS = {"cupy": _cupy_reader, "torch": _torch_reader}
_CURRENT = {"cupy": _cupy, "torch": _torch}
