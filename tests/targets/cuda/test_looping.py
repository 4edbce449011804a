"""Loops of launches: the kernels that set conditions, the order of launches, and the graph, without a GPU."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices
from tests.emitting import emitted, typed
from tests.kernels import SCHEDULES
from tests.runtime.test_frontiers import breadth_first
from tests.runtime.test_rounds import bellman_ford

import evenly as ev
from evenly.errors import InternalError
from evenly.language.phases import Loop, Phases, Repeat
from evenly.language.types import BOOL
from evenly.targets.cuda import compile as compiling
from evenly.targets.cuda import conditional, looping
from evenly.targets.gpu.emit.unit import Unit
from evenly.targets.gpu.kernels import emit

pytest.importorskip("cuda.core")

OUTER, INNER = (ev.language.ir.Array(n, BOOL, 1, ("$", n)) for n in ("outer", "inner"))
# Phases 0 to 6; 1 to 5 are repeated, and in them 3 and 4.
NESTED = Phases("f", (None,) * 7, (), frozenset(), (Repeat(3, 5, INNER), Repeat(1, 6, OUTER)))  # type: ignore[arg-type]
PLACES = {OUTER: 256, INNER: 512}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_nvrtc_compiles_kernels_with_rounds(schedule: str) -> None:
    matrix = matrices(np.float32)["stencil"]
    args = ev.csr(matrix), np.zeros(matrix.shape[0], np.float32), np.zeros(1, np.int32)
    codes = emitted(bellman_ford, args, SCHEDULES[schedule])
    for code in codes:
        assert compiling.cubin(code.source, code.name, "sm_90")
    assert any("ev::another_round(rounds, " in code.source for code in codes)
    phases, _ = typed(bellman_ford, args, SCHEDULES[schedule])
    assert len(phases.repeats) == 1


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_nvrtc_compiles_kernels_that_push(schedule: str, wide: bool, unique: bool) -> None:
    matrix = matrices(np.float32)["stencil"]
    size = matrix.shape[0]
    F = ev.frontier(ev.csr(matrix), unique=unique)
    args = F, np.zeros(size, np.int32), 0, np.zeros(1, np.int32)
    phases, layouts = typed(breadth_first, args, SCHEDULES[schedule])
    unit = Unit(phases.name, SCHEDULES[schedule], layouts, phases.outputs, wide)
    for phase in emit(phases, unit):
        for code in phase.all_kernels:
            assert compiling.cubin(code.source, code.name, "sm_90")


def test_phases_nest() -> None:
    assert [p if isinstance(p, int) else p.condition.name for p in NESTED.nested] == [0, "outer", 6]
    held = iter([True, False, True, True, False, False])  # outer, inner, outer, inner, inner, outer
    asked: list[str] = []

    def holds(condition: Any) -> bool:
        asked.append(condition.name)
        return next(held)

    assert list(NESTED.order(holds)) == [0, 1, 2, 5, 1, 2, 3, 4, 5, 6]
    assert asked == ["outer", "inner", "outer", "inner", "inner", "outer"]


class Driver:
    """A driver that takes notes of the graphs that are made with it."""

    CUDA_VERSION = 13_000
    CUkernel = staticmethod(lambda handle: handle)
    CUgraphNodeType = SimpleNamespace(CU_GRAPH_NODE_TYPE_CONDITIONAL="conditional")
    CUgraphConditionalNodeType = SimpleNamespace(CU_GRAPH_COND_TYPE_WHILE="while")
    CUstreamUpdateCaptureDependencies_flags = SimpleNamespace(CU_STREAM_SET_CAPTURE_DEPENDENCIES=1)
    CUDA_KERNEL_NODE_PARAMS = SimpleNamespace

    def __init__(self, before: tuple[str, ...] = ()) -> None:
        self.notes: list[str] = []
        self.before, self.handles, self.bodies = before, 0, 0

    @staticmethod
    def CUgraphNodeParams() -> Any:
        return SimpleNamespace(conditional=SimpleNamespace())

    def cuCtxGetCurrent(self) -> tuple[int, str]:
        return 0, "context"

    def cuGraphCreate(self, flags: int) -> tuple[int, str]:
        return 0, "graph"

    def cuGraphDestroy(self, graph: str) -> tuple[int]:
        return (0,)

    def cuGraphInstantiate(self, graph: str, flags: int) -> tuple[int, str]:
        return 0, f"executable {graph}"

    def cuGraphConditionalHandleCreate(self, graph: str, *_: Any) -> tuple[int, int]:
        self.handles += 1
        return 0, self.handles

    def cuGraphAddKernelNode(
        self, graph: str, before: Any, count: int, node: Any
    ) -> tuple[int, str]:
        assert len(before or ()) == count
        self.notes.append(f"{graph}: {after(before)}k{node.kern}{given(node.kernelParams)}")
        return 0, f"k{node.kern}"

    def cuGraphAddNode(
        self, graph: str, before: Any, edges: None, count: int, node: Any
    ) -> tuple[int, str]:
        assert len(before or ()) == count
        self.bodies += 1
        node.conditional.phGraph_out = [f"body{self.bodies}"]
        self.notes.append(f"{graph}: {after(before)}while c{node.conditional.handle}")
        return 0, f"while{self.bodies}"

    def cuStreamGetCaptureInfo(self, stream: Any) -> tuple[Any, ...]:
        return 0, 1, 7, "captured", self.before, None, len(self.before)

    def cuStreamUpdateCaptureDependencies(self, stream: Any, last: Any, *_: Any) -> tuple[int]:
        self.notes.append(f"{stream} goes on after {last[0]}")
        return (0,)


def after(before: list[str] | None) -> str:
    return f"{before[0]} -> " if before else ""


def given(addresses: int) -> str:
    """The handle of a condition that a kernel gets, as the driver would read it. 0: the one that was packed."""
    if addresses == 0:
        return ""
    place = ctypes.cast(addresses, ctypes.POINTER(ctypes.c_void_p))[0]
    return f" sets c{ctypes.cast(place, ctypes.POINTER(ctypes.c_uint64))[0]}"


def node(number: int, decides: Any = None) -> conditional.Node:
    item = (number, 1, 1, 1, 32, 1, 1, 0, "stream", 0, 0)
    return conditional.Node(item, (np.uint64(0),), -1 if decides is None else 0, decides)


# Phase 0 decides first whether there is an outer round, 2 whether there is an inner one; 4 and 5 are the last of them.
NODES = {0: [node(0), node(1, OUTER)], 1: [node(2)], 2: [node(3, INNER)], 3: [node(4)], 4: [node(5, INNER)], 5: [node(6, OUTER)], 6: [node(7)]}  # fmt: skip


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    import cuda.bindings

    made = Driver()
    monkeypatch.setattr(cuda.bindings, "driver", made)
    monkeypatch.setattr(conditional, "outside_captures", contextlib.nullcontext)
    return made


def test_the_graph_has_a_conditional_node_for_each_loop(driver: Driver) -> None:
    assert conditional.graph_of(NODES, NESTED.nested) == "executable graph"
    rounds = ["body2: k4", "body2: k4 -> k5 sets c2"] + ["body2: k5 -> k4", "body2: k4 -> k5 sets c2"] * (conditional.AT_ONCE - 1)  # fmt: skip
    assert driver.notes == [
        "graph: k0", "graph: k0 -> k1 sets c1", "graph: k1 -> while c1",
        "body1: k2", "body1: k2 -> k3 sets c2", "body1: k3 -> while c2",
        *rounds,
        "body1: while2 -> k6 sets c1",
        "graph: while1 -> k7",
    ]  # fmt: skip


def test_a_loop_becomes_part_of_a_graph_that_is_captured(driver: Driver) -> None:
    driver.before = ("before",)
    conditional.capture("stream", NODES, NESTED.nested)
    assert driver.notes[:3] == ["captured: before -> k0", "captured: k0 -> k1 sets c1", "captured: k1 -> while c1"]  # fmt: skip
    assert driver.notes[-2:] == ["captured: while1 -> k7", "stream goes on after k7"]


def test_an_error_of_the_driver_is_said(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(name="CUDA_ERROR_NOT_SUPPORTED")
    monkeypatch.setattr(driver, "cuGraphAddNode", lambda *_: (failed, None))
    with pytest.raises(InternalError, match="with loops could not be made: CUDA_ERROR_NOT_SUPPORTED"):  # fmt: skip
        conditional.graph_of(NODES, NESTED.nested)


def test_rounds_run_at_once_only_where_all_kernels_look_at_the_condition() -> None:
    """Those of a loop that has no loops in it do."""
    outer = next(part for part in NESTED.nested if isinstance(part, Loop))
    inner = next(part for part in outer.body if isinstance(part, Loop))
    assert (conditional.rounds_of(outer), conditional.rounds_of(inner)) == (1, conditional.AT_ONCE)
    running = [NESTED.running(n) for n in range(7)]
    assert running == [None, None, None, INNER, INNER, None, None]


class Memory:
    """Device memory in which each condition holds so many times."""

    def __init__(self, times: dict[int, int]) -> None:
        self.times = times

    def read(self, count: int, start: int) -> bytes:
        self.times[start] -= 1
        return b"\x01" if self.times[start] >= 0 else b"\0"


def loop(monkeypatch: pytest.MonkeyPatch, handle: int, possible: bool, capturing: int = 0) -> Any:
    from cuda.bindings import driver

    launched: list[Any] = []
    monkeypatch.setattr(looping, "make_current", lambda device: None)
    monkeypatch.setattr(looping, "are_possible", lambda: possible)
    monkeypatch.setattr(looping, "destroy", lambda graph: None)
    monkeypatch.setattr(looping, "graph_of", lambda nodes, parts: SimpleNamespace())
    monkeypatch.setattr(
        looping, "capture", lambda stream, *_: launched.append(f"captured {stream}")
    )
    monkeypatch.setattr(driver, "cuGraphLaunch", lambda *_: (launched.append("graph"), (0,))[1])
    prepared = SimpleNamespace(
        device=None, stream=handle, turn=threading.Lock(), launch=launched.extend, captured=bool(capturing),
        retain=lambda: launched.append("retained"),
    )  # fmt: skip
    stream: Any = SimpleNamespace(sync=lambda: None)
    memory: Any = Memory({256: 2, 512: 1})
    nodes = {n: [conditional.Node(letter, (), -1, None)] for n, letter in enumerate("abcdefg")}  # type: ignore[arg-type]
    made = looping.Looping(prepared, nodes, NESTED, stream, memory, PLACES)  # type: ignore[arg-type]
    return made, launched


def test_the_host_reads_the_conditions_where_there_is_no_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call, launched = loop(monkeypatch, 7, False)
    call()
    assert "".join(launched) == "abcdefbcfg"
    assert not call.on_device


def test_a_graph_is_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    call, launched = loop(monkeypatch, 0, True)
    call()
    assert launched == ["graph"] and call.on_device


def test_a_stream_that_is_captured_gets_the_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    call, launched = loop(monkeypatch, 7, True, capturing=1)
    call()
    assert launched == ["retained", "captured 7"]


def test_a_stream_that_is_captured_is_refused_by_old_drivers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call, launched = loop(monkeypatch, 7, False, capturing=1)
    with pytest.raises(ev.InputError) as caught:
        call()
    assert not launched
    assert str(caught.value) == (
        "stream: expected one that is not being captured, for a kernel with a while around loops over tiles, "
        "got one that is; hint: launch it before or after the graph: loops in graphs need a driver of CUDA 12.4 or newer"
    )
