"""Load machine code on a device, and set the attributes of its kernels."""

from __future__ import annotations

from typing import Any

from evenly.errors import InternalError

from .compile import require


def load(code: bytes, name: str, device: Any, carveout: int = -1) -> tuple[Any, Any]:
    """Return the kernel of that name, and its module. Keep the module alive: without it the kernel's code is unloaded.

    carveout: the kernel's preferred shared memory carveout in percent; -1: none.
    """
    module = require().ObjectCode.from_cubin(code, name=name)
    kernel = module.get_kernel(name)
    if carveout >= 0:
        _prefer(kernel, carveout, device)
    return kernel, module


def _prefer(kernel: Any, carveout: int, device: Any) -> None:
    from cuda.bindings import driver

    what = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    made = driver.CUkernel(int(kernel.handle))
    (error,) = driver.cuKernelSetAttribute(what, carveout, made, driver.CUdevice(device.device_id))
    if error:
        raise InternalError(f"a kernel's shared memory carveout could not be set: {error.name}")
