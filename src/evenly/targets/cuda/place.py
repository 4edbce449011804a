"""Find the device that holds the arguments of a call."""

from __future__ import annotations

import functools
from typing import Any

from evenly.arguments import Binding
from evenly.gpus.gpu import Gpu
from evenly.interop.context import make_current

from .compile import require


def current_device(device_id: int | None) -> Any:
    """Make a device current, and return it as a cuda.core device. None: the current one. Its context is kept alive."""
    device = require().Device(device_id)
    make_current(device)
    return device


def device_at(binding: Binding) -> Any:
    """Make the device that holds the arguments current, and return it. Without arrays, it is the current one."""
    views = (binding.view(path) for _, path in binding.array_paths)
    return current_device(next((v.device_id for v in views), None))


@functools.cache
def gpu_of(device_id: int) -> Gpu:
    """Return the properties of a device that determine how work is divided on it, and how fast it is."""
    device = require().Device(device_id)
    held = device.properties
    return Gpu(
        int(held.multiprocessor_count),
        int(held.max_threads_per_multiprocessor),
        int(held.max_blocks_per_multiprocessor),
        int(held.max_shared_memory_per_multiprocessor),
        str(device.name),
        int(held.l2_cache_size),
        # Memory moves data twice a cycle. The clock is in kHz, the bus in bits.
        2 * int(held.memory_clock_rate) * int(held.global_memory_bus_width) // 8 // 1000,
        int(held.clock_rate) // 1000,
    )
