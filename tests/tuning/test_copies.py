"""Copies on a stand-in for a GPU: when they are made and restored. tests/gpu/test_tuning.py tests them on a GPU."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from evenly.arguments import Binding
from evenly.targets.cuda import copies
from evenly.targets.cuda.copies import CudaCopies
from tests.interop.fakes import OnCuda
from tests.timing.fake_core import Gpu, kernel


class Memory:
    """A DeviceArray whose copies take a stream's time."""

    def __init__(self, found) -> None:
        self.found = found

    def copy_from(self, other, stream) -> None:
        assert (other.found.shape, other.found.dtype) == (self.found.shape, self.found.dtype)
        stream.add(SimpleNamespace(name="copy", us=5.0))


@pytest.fixture
def gpu(monkeypatch):
    made = Gpu()
    device = made.Device()
    device.default_stream = device.create_stream()

    def sync() -> None:
        made.seen.append("sync")

    device.sync = sync
    monkeypatch.setitem(sys.modules, "cuda.core", made)
    monkeypatch.setattr(copies, "device_at", lambda binding: device)
    monkeypatch.setattr(copies, "DeviceArray", Memory)
    monkeypatch.setattr(
        copies,
        "device_empty",
        lambda shape, dtype, number: Memory(SimpleNamespace(shape=shape, dtype=dtype, on=number)),
    )
    return made


def binding():
    return Binding({"n": 3, "x": OnCuda(np.ones(4)), "y": OnCuda(np.zeros(3, np.float32))})


def test_outputs_are_copied_once_the_device_is_done(gpu) -> None:
    given = binding()
    made = CudaCopies(given, ["y"], restored=False)
    assert gpu.seen == ["sync", "copy", "sync"]
    assert list(made.arguments) == ["n", "x", "y"]  # in the kernel's order
    assert made.arguments["x"] is given.arguments["x"]
    assert made.arguments["y"] is made.copies["y"]
    assert made.copies["y"].found == SimpleNamespace(shape=(3,), dtype=np.dtype("f4"), on=0)


def test_a_kernel_that_reads_what_it_writes_finds_it_restored(gpu) -> None:
    plan = SimpleNamespace(launches=[kernel("main", 50.0)], repeats=False)
    clock = CudaCopies(binding(), ["y"], restored=True).clock(plan)
    del gpu.seen[:]
    assert clock.warm() == pytest.approx(50.0)
    assert gpu.seen[:4] == ["copy", "main", "copy", "main"]


def test_one_that_does_not_is_launched_alone(gpu) -> None:
    plan = SimpleNamespace(launches=[kernel("main", 50.0)], repeats=False)
    clock = CudaCopies(binding(), ["y"], restored=False).clock(plan)
    del gpu.seen[:]
    assert clock.warm() == pytest.approx(50.0)
    assert set(gpu.seen) == {"main"}
