"""Device memory that outlives the stream on which it was first used.

It is allocated and freed by cuMemAlloc and cuMemFree. Freeing waits for the device, so it is safe while work is in
flight on any stream, even on one that its owner has destroyed.

Both may happen while a stream is captured: a call's first launch on that stream is often inside the capture. CUDA
refuses them there, since they may wait for the device, unless the thread says that it knows (`outside_captures`). They
touch no stream, so nothing of them is captured.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from evenly.errors import InternalError

from .capture import outside_captures
from .retained import let_go


class DeviceMemory:
    """`size` bytes on the current device, freed with the last reference. `handle` is their address.

    zero: whether to fill them with zeros, before any stream can use them.
    """

    __slots__ = ("__weakref__", "handle", "size")

    def __init__(self, size: int, zero: bool = False) -> None:
        from cuda.bindings import driver

        let_go()
        with outside_captures():
            error, pointer = driver.cuMemAlloc(size)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise InternalError(
                f"{size:,} bytes of scratch memory could not be had on the device: {error.name}"
            )
        self.handle, self.size = int(pointer), size
        # At exit the context may already be destroyed, and the memory with it.
        weakref.finalize(self, _free, pointer).atexit = False
        if zero:
            _zero(pointer, size)

    def clear(self, stream: int) -> None:
        """Fill the memory with zeros, in the order of the stream with this handle."""
        from cuda.bindings import driver

        (error,) = driver.cuMemsetD8Async(self.handle, 0, self.size, driver.CUstream(stream))
        _check_zeros(error)

    def read(self, count: int, start: int = 0) -> bytes:
        """Copy `count` bytes from `start` on to the host. This waits for the device."""
        from cuda.bindings import driver

        out = bytearray(count)
        there = np.frombuffer(out, np.uint8).ctypes.data
        (error,) = driver.cuMemcpyDtoH(there, self.handle + start, count)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise InternalError(f"a copy from the device failed: {error.name}")
        return bytes(out)


def _zero(pointer: Any, size: int) -> None:
    """Fill memory with zeros, and wait until it is.

    On a stream of its own: the default stream would wait for one that is being captured, which ends the capture, and a
    captured memset would not have run before the capture ends.
    """
    from cuda.bindings import driver

    flag = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
    with outside_captures():
        error, stream = driver.cuStreamCreate(int(flag))
        if not error:
            (error,) = driver.cuMemsetD8Async(pointer, 0, size, stream)
            (failed,) = driver.cuStreamSynchronize(stream)
            driver.cuStreamDestroy(stream)
            error = error or failed
    _check_zeros(error)


def _check_zeros(error: Any) -> None:
    if error:
        raise InternalError(f"scratch memory could not be filled with zeros: {error.name}")


def _free(pointer: Any) -> None:
    from cuda.bindings import driver

    with outside_captures():
        driver.cuMemFree(pointer)
