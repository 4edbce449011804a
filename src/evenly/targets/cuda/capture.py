"""Handle streams that are being captured into a CUDA graph, during which some calls are not allowed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

LEGACY = (0, 1)  # handles of the default stream, which is never captured


def may_be_captured(stream: int) -> bool:
    """Whether the stream with this handle can ever be captured."""
    return stream not in LEGACY


@contextmanager
def outside_captures() -> Iterator[None]:
    """Allow calls that CUDA considers unsafe while any thread captures, but that do not affect what is captured.

    Without this, such a call would fail, and end the capture with an error. It may happen at any time, since the
    garbage collector frees memory at any time.
    """
    from cuda.bindings import driver

    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    error, mode = driver.cuThreadExchangeStreamCaptureMode(relaxed)
    try:
        yield
    finally:
        if not error:  # there is an error after a fork, where CUDA does not work
            driver.cuThreadExchangeStreamCaptureMode(mode)
