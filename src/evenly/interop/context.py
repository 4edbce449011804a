"""The context of a device, kept for as long as the process runs."""

from __future__ import annotations

import functools
from typing import Any


def make_current(device: Any) -> None:
    """Makes a device of cuda.core's the calling thread's, whose context stays from then on."""
    device.set_current()
    _keep(device.device_id)


@functools.cache
def _keep(device_id: int) -> None:
    """Retains the primary context of a device, once.

    cuda.core releases it when the thread ends that made the device current. If nobody else has it then, it is
    destroyed, and with it what lasts from call to call: kernels, scratch memory, arrays, and whatever other libraries
    know of it.
    """
    from cuda.bindings import driver

    _, device = driver.cuDeviceGet(device_id)
    driver.cuDevicePrimaryCtxRetain(device)
