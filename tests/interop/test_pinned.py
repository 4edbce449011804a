"""Small copies to CPU memory that the host asks for, with a driver whose copies arrive when their event is waited for."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evenly.errors import InputError, InternalError
from evenly.interop import pinned
from evenly.interop.array_view import ArrayView


class Driver:
    """Copies wait in a queue until an event behind them is waited for."""

    CU_MEMHOSTALLOC_PORTABLE = 1
    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)

    def __init__(self) -> None:
        self.memory: list[Any] = []
        self.queue: list[Any] = []
        self.fails = ""

    def cuCtxGetDevice(self) -> Any:
        return 0, 0

    def cuMemHostAlloc(self, size: int, flags: int) -> Any:
        self.memory.append(ctypes.create_string_buffer(size))
        return 0, ctypes.addressof(self.memory[-1])

    def cuEventCreate(self, flags: int) -> Any:
        return 0, object()

    def cuMemcpyDtoHAsync(self, there: int, here: int, nbytes: int, stream: int) -> Any:
        self.queue.append((stream, lambda: ctypes.memmove(there, here, nbytes)))
        return (self.fails and SimpleNamespace(name=self.fails),)

    def cuEventRecord(self, event: Any, stream: int) -> Any:
        self.queue.append((stream, event))
        return (0,)

    def cuEventSynchronize(self, event: Any) -> Any:
        while self.queue:
            _, item = self.queue.pop(0)
            if item is event:
                break
            if callable(item):
                item()
        return (0,)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    pytest.importorskip("cuda.bindings.driver")
    made = Driver()
    monkeypatch.setattr("cuda.bindings.driver", made)
    pinned.free.cache_clear()
    yield made
    pinned.free.cache_clear()


def seen(x: np.ndarray, contiguous: bool = True) -> ArrayView:
    return ArrayView(x.ctypes.data, x.shape, x.dtype, "cuda", 0, False, contiguous, x)


def test_a_copy_is_what_the_array_was_when_it_was_asked_for(driver: Driver) -> None:
    x, y = np.arange(6).reshape(2, 3), np.array([1.5, 2.5], np.float32)
    first, second = pinned.begin(seen(x), 7), pinned.begin(seen(y), 7)
    assert second().tolist() == [1.5, 2.5]
    assert first().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert {stream for stream, _ in driver.queue} <= {7}


def test_memory_is_used_again_but_not_while_a_copy_may_be_there(driver: Driver) -> None:
    x = np.arange(3)
    found = pinned.begin(seen(x), 0)()
    x += 1
    waits = [pinned.begin(seen(x), 0) for _ in "12"]
    assert len(driver.memory) == 2
    assert found.tolist() == [0, 1, 2]
    assert [wait().tolist() for wait in waits] == [[1, 2, 3]] * 2
    pinned.begin(seen(x), 0)()
    assert len(driver.memory) == 2


def test_what_cannot_be_copied(driver: Driver) -> None:
    for wrong in seen(np.zeros(600)), seen(np.zeros(6), contiguous=False):
        with pytest.raises(InternalError, match="a contiguous array of at most 4,096 bytes"):
            pinned.begin(wrong, 0)
    driver.fails = "CUDA_ERROR_OTHER"
    with pytest.raises(InternalError, match="a copy from the device failed: CUDA_ERROR_OTHER"):
        pinned.begin(seen(np.zeros(6)), 0)
    driver.fails = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
    with pytest.raises(InputError, match="stream: expected one that is not being captured"):
        pinned.begin(seen(np.zeros(6)), 0)
