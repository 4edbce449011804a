"""Prepared launches, one by one and as a graph, with a driver that only takes notes."""

from __future__ import annotations

import ctypes
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evenly.targets.cuda import capture, graph, prepared

Launched = list[tuple[int, int]]  # thread, kernel
GRAPH = -1  # in place of a kernel
STREAM = 7  # one that may be captured


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
    monkeypatch.setattr(driver, "cuGraphLaunch", lambda handle, _: launch(handle))
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda _: pytest.fail("asked of stream 0"))
    monkeypatch.setattr(prepared, "make_current", lambda device: None)
    monkeypatch.setattr(prepared, "retain", lambda stream, kept: None)
    monkeypatch.setattr(graph, "are_quicker", lambda: True)
    monkeypatch.setattr(graph, "_graph_of", lambda items: GRAPH)
    monkeypatch.setattr(graph, "destroy", lambda handle: None)
    return notes


def made(
    kernels: tuple[int, ...], turn: Any, stream: int = 0, cooperative: tuple[int, ...] = ()
) -> prepared.Prepared:
    launches: Any = [
        SimpleNamespace(
            kernel=SimpleNamespace(handle=k),
            grid=(1, 1, 1),
            block=(32, 1, 1),
            arguments=(k, np.float32(1.5)),
            memory=((), []),
            cooperative=k in cooperative,
        )
        for k in kernels
    ]
    return prepared.Prepared(launches, "device", SimpleNamespace(handle=stream), turn)


def test_launches_on_arrays_that_lie_elsewhere(launched: Launched) -> None:
    from evenly.targets.cuda.executable import Launch
    from evenly.targets.gpu.emit.parameters import Parameter

    parameters = [
        Parameter("array", "float*", ("y",)),
        Parameter("array", "int*", ("A", "offsets")),
        Parameter("scalar", "int", ("n",)),
        Parameter("array", "float*", ("x",)),
        Parameter("buffer", "float*", ("x",)),
    ]
    code: Any = SimpleNamespace(parameters=parameters)
    kernel, arguments = SimpleNamespace(handle=3), (100, 200, np.int32(5), 300, 400)
    kept = ("scratch",), ["y and x"]
    launch = Launch(code, b"", kernel, (1, 1, 1), (32, 1, 1), arguments, memory=kept)
    given = "device", SimpleNamespace(handle=0), threading.Lock(), ["x", "y"]
    first = prepared.Movable([launch], *given)
    for call, wanted in (
        (first, arguments),
        (first.moved((301, 101)), (101, 200, 5, 301, 400)),
        (first.moved((302, 102)).moved((303, 103)), (103, 200, 5, 303, 400)),
        (first, arguments),
    ):
        call()
        ((values, _, _),) = call._arguments
        assert tuple(values[0:10:2]) == wanted
        assert call._kept == [(("scratch",), kernel)]
        (item,) = call.items
        assert type(item) is tuple
        assert ctypes.c_void_p.from_address(item[-2]).value == ctypes.addressof(values)
    assert [k for _, k in launched] == [3] * 4


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


def kernels(launched: Launched) -> list[int]:
    found = [kernel for _, kernel in launched]
    launched.clear()
    return found


def graphed(kernels: tuple[int, ...], stream: int = 0) -> Any:
    return graph.graphed(made(kernels, threading.Lock(), stream))


def test_a_bound_call_is_launched_as_a_graph(launched: Launched) -> None:
    call = graphed((1, 2))
    call()
    call()
    assert kernels(launched) == [GRAPH, GRAPH]


def test_no_graph_is_launched_while_the_stream_is_captured(
    launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda.bindings import driver

    status = [driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE]
    error = [driver.CUresult.CUDA_SUCCESS]
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda _: (error[0], status[0]))
    call = graphed((1,), STREAM)
    call()
    assert not call.captured
    status[0] = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    call()
    assert call.captured
    status[0] = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    call()
    error[0] = driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    call()
    assert kernels(launched) == [GRAPH, 1, GRAPH, 1]


def test_a_graph_that_launches_are_captured_into_keeps_their_memory(
    launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda.bindings import driver

    kept: list[Any] = []
    status = [driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE]
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda _: (0, status[0]))
    monkeypatch.setattr(
        prepared, "retain", lambda stream, what: kept.append((int(stream), len(what)))
    )
    calls = [made((1, 2), threading.Lock(), STREAM), graphed((1, 2), STREAM)]
    for call in calls:
        call()
    assert not kept
    status[0] = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    for call in calls:
        call()
    assert kept == [(STREAM, 2)] * 2


def test_a_graph_that_cannot_be_launched_is_launched_one_by_one(
    launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda.bindings import driver

    error = driver.CUresult.CUDA_ERROR_INVALID_CONTEXT
    monkeypatch.setattr(driver, "cuGraphLaunch", lambda *_: (error,))
    graphed((1, 2))()
    assert kernels(launched) == [1, 2]


def test_cooperative_launches_have_a_function_and_an_attribute_of_their_own(
    launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda.bindings import driver

    together: list[tuple[int, int]] = []
    nodes: list[int] = []
    set_apart: list[tuple[int, int]] = []

    def launch(function: Any, *given: Any) -> tuple[int]:
        together.append((int(function), len(given)))
        return (0,)

    def attribute(node: int, which: Any, value: Any) -> tuple[int]:
        set_apart.append((node, value.cooperative))
        return (0,)

    monkeypatch.setattr(driver, "cuLaunchCooperativeKernel", launch)
    monkeypatch.setattr(driver, "cuGraphKernelNodeSetAttribute", attribute)
    monkeypatch.setattr(
        driver, "cuGraphAddKernelNode", lambda *_: nodes.append(len(nodes)) or (0, len(nodes) - 1)
    )
    calls = made((1, 2, 3), threading.Lock(), cooperative=(2,))
    calls()
    assert [k for _, k in launched] == [1, 3]
    assert together == [(2, 9)]  # no `extra`
    assert graph.add_kernels(calls.items, "graph", []) == [2]
    assert set_apart == [(1, 1)]


@pytest.mark.parametrize("quicker", [True, False])
def test_where_there_is_no_graph_launches_stay_as_they_are(
    quicker: bool, launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "are_quicker", lambda: quicker)
    monkeypatch.setattr(graph, "_graph_of", lambda items: None if quicker else pytest.fail("made"))
    assert isinstance(graphed((1, 2)), prepared.Prepared)


def test_a_call_without_launches_has_no_graph(launched: Launched) -> None:
    call = graphed(())
    call()
    assert isinstance(call, prepared.Prepared) and not launched


def test_a_thread_without_a_context_gets_one(
    launched: Launched, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda.bindings import driver

    current: list[Any] = []
    results = [(driver.CUresult.CUDA_ERROR_INVALID_CONTEXT,), (0,)]
    monkeypatch.setattr(driver, "cuLaunchKernel", lambda *_: results.pop(0))
    monkeypatch.setattr(prepared, "make_current", current.append)
    made((1,), threading.Lock())()
    assert current == ["device"] and not results


@pytest.mark.parametrize(("version", "makes"), [(12_050, False), (12_060, True), (13_000, True)])
def test_older_drivers_start_graphs_no_sooner(
    version: int, makes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = pytest.importorskip("cuda.bindings.driver")
    monkeypatch.setattr(graph, "are_quicker", graph.are_quicker.__wrapped__)  # whatever ran before
    monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: (0, version))
    assert graph.are_quicker() == makes


@pytest.mark.parametrize("works", [True, False])
def test_the_mode_of_captures_is_as_before(works: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing of CUDA works, after a fork say, there is no mode, and what is collected raises nothing."""
    driver = pytest.importorskip("cuda.bindings.driver")
    modes = ["before"]

    def exchange(mode: Any) -> tuple[Any, Any]:
        modes.append(mode)
        return (0, modes[-2]) if works else (driver.CUresult.CUDA_ERROR_NOT_INITIALIZED, None)

    monkeypatch.setattr(driver, "cuThreadExchangeStreamCaptureMode", exchange)
    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    with capture.outside_captures():
        assert modes == ["before", relaxed]
    assert modes == ["before", relaxed, "before"][: 3 if works else 2]


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


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("kind", ["int", "uint"])
def test_integers_are_packed_as_their_bytes(kind: str, bits: int) -> None:
    limits = np.iinfo(f"{kind}{bits}")
    for value in map(limits.dtype.type, (limits.min, limits.max, 5)):
        values, addresses, _ = prepared.packed((1, value))
        assert addresses[1] - ctypes.addressof(values) == 16
        assert ctypes.string_at(addresses[1], bits // 8) == value.tobytes()
