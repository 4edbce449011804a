"""The caller's current stream: CuPy's, PyTorch's, or the default one."""

from __future__ import annotations

import sys
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


def _cupy(device_id: int) -> int:
    import cupy

    return int(cupy.cuda.get_current_stream(device_id).ptr)


def _torch(device_id: int) -> int:
    import torch

    return int(torch.cuda.current_stream(device_id).cuda_stream)


_CURRENT = {"cupy": _cupy, "torch": _torch}
