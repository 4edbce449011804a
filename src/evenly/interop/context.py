"""Keep the CUDA context of a device alive for as long as the process runs."""

from __future__ import annotations

import functools
from typing import Any


def make_current(device: Any) -> None:
    """Make a cuda.core device current in the calling thread, and keep its context from then on."""
    device.set_current()
    _keep(device.device_id)


@functools.cache
def _keep(device_id: int) -> None:
    """Retain the primary context of a device, once.

    cuda.core releases the context when the thread that made the device current ends. If that was the last reference,
    the context is destroyed, along with everything that lives in it: loaded kernels, scratch memory, arrays, and the
    state of other libraries.
    """
    from cuda.bindings import driver

    _, device = driver.cuDeviceGet(device_id)
    driver.cuDevicePrimaryCtxRetain(device)
