"""Streams that somebody captures into a CUDA graph, and what may not be done meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

LEGACY = (0, 1)  # handles of the default stream, which is never captured


def may_be_captured(stream: int) -> bool:
    """Whether the stream of that handle can ever be captured."""
    return stream not in LEGACY


@contextmanager
def outside_captures() -> Iterator[None]:
    """For calls that CUDA holds for unsafe while any thread captures, which have nothing to do with what is captured.

    Otherwise they fail, and end the capture with an error; and what is collected as garbage is freed at any time.
    """
    from cuda.bindings import driver

    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    error, mode = driver.cuThreadExchangeStreamCaptureMode(relaxed)
    try:
        yield
    finally:
        if not error:  # as after a fork, where nothing of CUDA works
            driver.cuThreadExchangeStreamCaptureMode(mode)
