"""Small copies to CPU memory that the host need not wait for at once: into pinned memory, with an event behind them."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from evenly.errors import InputError, InternalError
from evenly.interop.array_view import ArrayView
from evenly.interop.context import make_current

SIZE = 4096  # bytes of a copy


class Answer:
    """Pinned memory of SIZE bytes on the host, and an event of the current device. Neither is ever freed."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.address = int(checked(driver.cuMemHostAlloc(SIZE, driver.CU_MEMHOSTALLOC_PORTABLE)))
        untimed = driver.CUevent_flags.CU_EVENT_DISABLE_TIMING
        self.event = checked(driver.cuEventCreate(int(untimed)))


@functools.cache
def free(device_id: int) -> list[Answer]:
    """Those of a device that no copy uses."""
    return []


def begin(found: ArrayView, stream: int) -> Callable[[], np.ndarray[Any, Any]]:
    """Copy an array on a stream. Return a function that waits for the copy, and returns it, once."""
    from cuda.bindings import driver

    if found.nbytes > SIZE or not found.contiguous:
        raise InternalError(f"a contiguous array of at most {SIZE:,} bytes can be asked for")
    error, current = driver.cuCtxGetDevice()  # quicker than to make it current
    if error or int(current) != found.device_id:
        make_current(importlib.import_module("cuda.core").Device(found.device_id))
    spare = free(found.device_id)
    answer = spare.pop() if spare else Answer()
    checked(driver.cuMemcpyDtoHAsync(answer.address, found.pointer, found.nbytes, stream))
    checked(driver.cuEventRecord(answer.event, stream))

    def wait() -> np.ndarray[Any, Any]:
        checked(driver.cuEventSynchronize(answer.event))
        host = np.frombuffer(ctypes.string_at(answer.address, found.nbytes), found.dtype)
        spare.append(answer)
        return host.reshape(found.shape)

    return wait


def checked(made: tuple[Any, ...]) -> Any:
    """Return what a function of the driver returned, without the error.

    Raises InputError if that is not allowed while a stream is captured, InternalError for any other error.
    """
    error, *results = made
    if error and "CAPTURE" in error.name:
        raise InputError(
            "stream",
            expected="one that is not being captured, since the host waits for what it reads",
            given="one that is",
        )
    if error:
        raise InternalError(f"a copy from the device failed: {error.name}")
    return results[0] if results else None
