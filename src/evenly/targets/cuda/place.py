"""Where a call's arguments are."""

from __future__ import annotations

from typing import Any

from evenly.arguments import Binding

from .compile import require


def device_at(binding: Binding) -> Any:
    """The device of cuda.core's that the arguments are on, made current; where there are no arrays, the current one."""
    views = (binding.view(path) for _, path in binding.array_paths)
    device = require().Device(next((v.device_id for v in views), None))
    device.set_current()
    return device


def shared_memory(device_id: int) -> int:
    """Bytes of shared memory that a multiprocessor of a device can have."""
    return int(require().Device(device_id).properties.max_shared_memory_per_multiprocessor)
