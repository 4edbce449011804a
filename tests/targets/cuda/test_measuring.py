"""Calls of kernels with scratch arrays, with a device that only takes notes and says what lengths it is told to say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.emitting import typed
from tests.scratch import distinct

import evenly as ev
from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.gpus.gpu import Gpu
from evenly.targets.cuda import executable as executables
from evenly.targets.cuda import measuring

pytest.importorskip("cuda.core")


class Device:
    """One that computes these lengths, one for each call. launched: the arguments of each launch but those of lengths."""

    device_id = 0

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.launched: list[tuple[Any, ...]] = []
        self.made = 0
        self.capturing = False

    def set_current(self) -> None:
        pass


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    found = Device()

    class Memory:
        def __init__(self, size: int, zero: bool = False) -> None:
            self.handle, self.size = 256 * (1 + found.made), size

        def read(self, count: int, start: int = 0) -> bytes:
            assert start + count <= self.size
            return found.lengths.pop(0).to_bytes(8, "little")

    class Launches:
        def __init__(self, items: list[Any], *_: Any) -> None:
            self.items = items
            found.made += 1

        def __call__(self) -> None:
            found.launched += [i.arguments for i in self.items if "lengths" not in i.name]

    stream = SimpleNamespace(handle=7, sync=lambda: None)
    driver = pytest.importorskip("cuda.bindings.driver")
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda _: (0, int(found.capturing)))
    monkeypatch.setattr(executables, "DeviceMemory", Memory)
    monkeypatch.setattr(executables, "Prepared", Launches)
    monkeypatch.setattr(executables, "Movable", Launches)
    monkeypatch.setattr(measuring, "Prepared", Launches)
    monkeypatch.setattr(executables, "gpu_of", lambda _: Gpu(4))
    cls = executables.CudaExecutable
    monkeypatch.setattr(cls, "place", lambda self, binding, at=None: (found, stream))
    monkeypatch.setattr(cls, "_load", lambda self, kernel, device: (None, b""))
    return found


def made() -> tuple[Any, Binding]:
    A = ev.csr((np.ones(3, np.float32), np.int32([0, 1, 0]), np.int32([0, 2, 2, 3])), shape=(3, 2))
    args = A, 5, np.zeros(3, np.int32)
    schedule = ev.GroupMapped(8, block=64)
    phases, layouts = typed(distinct, args, schedule)
    executable = executables.CudaExecutable(phases, schedule, layouts, False)
    return executable, Binding(distinct.named(args))


def test_each_call_asks_and_memory_follows(device: Device) -> None:
    executable, binding = made()
    assert not executable.remembers  # a cached call would not see that offsets change in place
    for call in (executable.prepare(binding), executable.bind(binding)):
        device.launched.clear()
        device.lengths[:] = [20, 20, 100, 0]
        for n in (3, 3, 13, 0):  # elements for each of 8 threads
            call()
            assert n in device.launched[-1]
        assert len(device.launched) == 4
        assert not device.lengths
    device.lengths[:] = [20]
    (launch,) = executable.launches(binding)
    assert 3 in launch.arguments
    device.lengths[:] = [20, 100]
    small, large = (executable.workspace_bytes(binding) for _ in range(2))
    assert (small, large) == (64 * 3 * 4, 64 * 13 * 4)


def test_launches_are_made_again_only_for_other_lengths(device: Device) -> None:
    executable, binding = made()
    call = executable.prepare(binding)
    device.lengths[:] = [20, 20, 20]
    call()
    made_before = device.made
    call()
    call()
    assert device.made == made_before + 2  # those that compute lengths


def test_max_workspace(device: Device) -> None:
    executable, binding = made()
    device.lengths[:] = [100]
    with pytest.raises(InputError, match="max_workspace: expected at least 3,328 bytes"):
        executable.limited(3327).prepare(binding)()
    device.lengths[:] = [100]
    executable.limited(3328).prepare(binding)()
    assert executable.max_workspace == 1 << 30


def test_a_stream_that_is_captured_is_refused(device: Device) -> None:
    executable, binding = made()
    device.capturing = True
    with pytest.raises(InputError, match="a stream that is not being captured, since the kernel"):
        executable.prepare(binding)()
