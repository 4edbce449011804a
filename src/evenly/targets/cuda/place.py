"""Where a call's arguments are."""

from __future__ import annotations

from typing import Any

from evenly.arguments import Binding
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


def shared_memory(device_id: int) -> int:
    """Bytes of shared memory that a multiprocessor of a device can have."""
    return int(require().Device(device_id).properties.max_shared_memory_per_multiprocessor)
