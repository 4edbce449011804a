"""Work on a stream that Python waits for: Ctrl-C acts meanwhile, and ends tasks on the device.

A call of the driver that waits returns when the work is done, and Python looks at signals after that. So the stream is
asked again and again, at first without a pause, since much work ends soon.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from evenly.interop.context import make_current

SOON = 1e-3  # seconds in which the stream is asked without a pause
PAUSE = 1e-3  # the longest pause between two questions
SHARE = 0.02  # of the time so far that a pause may take
MANY = 1 << 62  # more tasks than any set has room for


class Work:
    """What a call has launched on a stream, and everything before it there."""

    __slots__ = ("_device", "_stream")

    def __init__(self, device: Any, stream: Any) -> None:
        self._device, self._stream = device, stream

    def finish(self) -> None:
        """Wait until it is done, or has failed. Signals are handled meanwhile."""
        make_current(self._device)
        began = time.perf_counter()
        while not self.done():
            waited = time.perf_counter() - began
            if waited > SOON:
                time.sleep(min(SHARE * waited, PAUSE))

    def done(self) -> bool:
        from cuda.bindings import driver

        (status,) = driver.cuStreamQuery(self._stream)
        return bool(status != driver.CUresult.CUDA_ERROR_NOT_READY)

    def stop(self, counters: Sequence[int]) -> None:
        """End loops over tasks after those that are running, and wait for that.

        counters: addresses of what counts the pushed tasks of each set (`TaskSet.pushed`). Where that is more than
        there is room for, no task is begun any more. The end of a round may write there at the same time, so it is told
        again.
        """
        make_current(self._device)
        with _other_stream() as other:
            while not self.done():
                for counter in counters:
                    _store(counter, MANY, other)
                time.sleep(PAUSE)


@contextmanager
def _other_stream() -> Iterator[Any]:
    """Yield a stream that waits for no other one."""
    from cuda.bindings import driver

    _, _, first = driver.cuCtxGetStreamPriorityRange()
    flag = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
    _, stream = driver.cuStreamCreateWithPriority(int(flag), first)
    try:
        yield stream
    finally:
        driver.cuStreamDestroy(stream)


def _store(address: int, value: int, stream: Any) -> None:
    """Store an integer of 64 bits in device memory, by a copy, which needs no processor."""
    from cuda.bindings import driver

    given = ctypes.c_int64(value)
    driver.cuMemcpyHtoDAsync(address, ctypes.addressof(given), 8, stream)
    driver.cuStreamSynchronize(stream)
