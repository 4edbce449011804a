"""Loops of launches: the kernel that sets a condition, the order of launches, and the graph, without a GPU."""

from __future__ import annotations

import contextlib
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
from evenly.language.phases import Phases, Repeat
from evenly.language.types import BOOL
from evenly.targets.cuda import compile as compiling
from evenly.targets.cuda import looping
from evenly.targets.gpu.emit.unit import Unit
from evenly.targets.gpu.kernels import emit

pytest.importorskip("cuda.core")

OUTER, INNER = (ev.language.ir.Array(n, BOOL, 1, ("$", n)) for n in ("outer", "inner"))
# Phases 0 to 6; 1 to 5 are repeated, and in them 3 and 4.
NESTED = Phases("f", (None,) * 7, (), frozenset(), (Repeat(3, 5, INNER), Repeat(1, 6, OUTER)))  # type: ignore[arg-type]
PLACES = {OUTER: 256, INNER: 512}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_nvrtc_compiles_the_kernel_that_sets_a_condition(arch: str) -> None:
    assert compiling.cubin(looping.SOURCE, looping.NAME, arch)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_nvrtc_compiles_kernels_with_rounds(schedule: str) -> None:
    matrix = matrices(np.float32)["stencil"]
    args = ev.csr(matrix), np.zeros(matrix.shape[0], np.float32), np.zeros(1, np.int32)
    for code in emitted(bellman_ford, args, SCHEDULES[schedule]):
        assert compiling.cubin(code.source, code.name, "sm_90")
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


class Builder:
    """A graph builder that takes notes."""

    def __init__(self, notes: list[str], depth: int = 0) -> None:
        self.notes, self.depth = notes, depth

    def note(self, text: str) -> None:
        self.notes.append("  " * self.depth + text)

    def begin_building(self) -> Builder:
        return self

    def end_building(self) -> Builder:
        return self

    def complete(self) -> str:
        return "graph"

    def create_condition(self) -> str:
        return f"c{self.depth}"

    def while_loop(self, condition: str) -> Builder:
        self.note(f"while {condition}")
        return Builder(self.notes, self.depth + 1)


def test_the_graph_has_a_conditional_node_for_each_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []

    def launch(builder: Builder, config: Any, kernel: str, *arguments: Any) -> None:
        builder.note(" ".join(map(str, (kernel, *arguments))))

    core = SimpleNamespace(launch=launch, LaunchConfig=lambda **_: None)
    monkeypatch.setattr(looping, "require", lambda: core)
    monkeypatch.setattr(looping, "outside_captures", contextlib.nullcontext)
    monkeypatch.setattr(looping, "have_conditional_nodes", lambda: True)
    monkeypatch.setattr(looping, "_setter", lambda device_id: ("set", None))
    launches: Any = [SimpleNamespace(config=None, kernel=f"k{n}", arguments=()) for n in range(8)]
    turns = [0, 0, 1, 2, 3, 4, 5, 6]
    device = SimpleNamespace(device_id=0, create_graph_builder=lambda: Builder(notes))
    made = looping.graph_with_loops(launches, turns, NESTED, device, 1000, PLACES)
    assert made == "graph"
    assert notes == [
        "k0", "k1", "set c0 1256", "while c0",
        "  k2", "  k3", "  set c1 1512", "  while c1", "    k4", "    k5", "    set c1 1512", "  k6", "  set c0 1256",
        "k7",
    ]  # fmt: skip


def test_without_conditional_nodes_there_is_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looping, "have_conditional_nodes", lambda: False)
    assert looping.graph_with_loops([], [], NESTED, None, 0, PLACES) is None


class Memory:
    """Device memory in which each condition holds so many times."""

    def __init__(self, times: dict[int, int]) -> None:
        self.times = times

    def read(self, count: int, start: int) -> bytes:
        self.times[start] -= 1
        return b"\x01" if self.times[start] >= 0 else b"\0"


def loop(monkeypatch: pytest.MonkeyPatch, handle: int, graph: Any, capturing: int = 0) -> Any:
    from cuda.bindings import driver

    monkeypatch.setattr(looping, "make_current", lambda device: None)
    monkeypatch.setattr(driver, "cuStreamIsCapturing", lambda _: (0, capturing))
    launched: list[Any] = []
    prepared = SimpleNamespace(
        items=list("abcdefg"), device=None, stream=handle, turn=threading.Lock(), launch=launched.extend
    )  # fmt: skip
    stream: Any = SimpleNamespace(sync=lambda: None)
    memory: Any = Memory({256: 2, 512: 1})
    made = looping.Looping(prepared, range(7), NESTED, stream, memory, PLACES, graph)  # type: ignore[arg-type]
    return made, launched


def test_the_host_reads_the_conditions_where_there_is_no_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call, launched = loop(monkeypatch, 7, None)
    call()
    assert "".join(launched) == "abcdefbcfg"
    assert not call.on_device


def test_a_graph_is_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = SimpleNamespace(launch=lambda stream: started.append(stream))
    started: list[Any] = []
    call, launched = loop(monkeypatch, 0, graph)
    call()
    assert len(started) == 1 and not launched and call.on_device


def test_a_stream_that_is_captured_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    call, launched = loop(monkeypatch, 7, None, capturing=1)
    with pytest.raises(ev.InputError) as caught:
        call()
    assert not launched
    assert str(caught.value) == (
        "stream: expected one that is not being captured, for a kernel with a while around loops over tiles, "
        "got one that is; hint: launch it before or after the graph: its rounds are not known when it is captured"
    )
