"""Where a call's arguments are."""

from __future__ import annotations

import functools
from typing import Any

from evenly.arguments import Binding
from evenly.gpus.gpu import Gpu
from evenly.interop.context import make_current

from .compile import require


def current_device(device_id: int | None) -> Any:
    """A device of cuda.core's, made current; None: the one that is. Its context stays."""
    device = require().Device(device_id)
    make_current(device)
    return device


def device_at(binding: Binding) -> Any:
    """The device that the arguments are on, made current; where there are no arrays, the current one."""
    views = (binding.view(path) for _, path in binding.array_paths)
    return current_device(next((v.device_id for v in views), None))


@functools.cache
def gpu_of(device_id: int) -> Gpu:
    """What decides how work is divided on a device."""
    held = require().Device(device_id).properties
    return Gpu(
        int(held.multiprocessor_count),
        int(held.max_threads_per_multiprocessor),
        int(held.max_blocks_per_multiprocessor),
        int(held.max_shared_memory_per_multiprocessor),
    )
