"""Prepared launches, by a driver that only takes notes."""

from __future__ import annotations

import ctypes
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evenly.targets.cuda import prepared

Launched = list[tuple[int, int]]  # thread, kernel


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Launched:
    driver = pytest.importorskip("cuda.bindings.driver")
    notes: Launched = []

    def launch(function: Any, *_: Any) -> tuple[int]:
        notes.append((threading.get_ident(), int(function)))
        time.sleep(0.001)  # lets other threads go on
        return (0,)

    devices = SimpleNamespace(Device=SimpleNamespace(get_all_devices=lambda: [0]))
    monkeypatch.setattr(prepared, "require", lambda: devices)
    monkeypatch.setattr(driver, "cuLaunchKernel", launch)
    return notes


def made(kernels: tuple[int, ...], turn: Any) -> prepared.Prepared:
    launches: Any = [
        SimpleNamespace(
            kernel=SimpleNamespace(handle=k),
            grid=(1, 1, 1),
            block=(32, 1, 1),
            arguments=(k, np.float32(1.5)),
            memory=((), []),
        )
        for k in kernels
    ]
    return prepared.Prepared(launches, None, SimpleNamespace(handle=0), turn)


def test_nothing_comes_between_launches_that_share_memory(launched: Launched) -> None:
    turn = threading.Lock()
    calls = [made((1, 2, 3), turn), made((4, 5), turn)]
    threads = [
        threading.Thread(target=lambda c=c: [c() for _ in range(5)])
        for c in calls
        for _ in range(2)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(launched) == 2 * 5 * (3 + 2)
    while launched:
        thread, first = launched[0]
        run = [1, 2, 3] if first == 1 else [4, 5]
        assert launched[: len(run)] == [(thread, k) for k in run]
        del launched[: len(run)]


def test_arguments_stand_where_the_driver_looks() -> None:
    values, addresses, start = prepared.packed(
        (2**40 + 1, np.float32(1.5), np.int32(-3), np.complex128(1 - 2j), np.bool_(True))
    )
    assert ctypes.addressof(addresses) == start
    at = [ctypes.c_void_p.from_address(start + 8 * i).value for i in range(5)]
    assert at == [ctypes.addressof(values) + 16 * i for i in range(5)]
    assert ctypes.c_int64.from_address(at[0]).value == 2**40 + 1
    assert ctypes.c_float.from_address(at[1]).value == 1.5
    assert ctypes.c_int32.from_address(at[2]).value == -3
    assert list((ctypes.c_double * 2).from_address(at[3])) == [1, -2]
    assert ctypes.c_bool.from_address(at[4]).value is True
