"""Launches of which some are repeated while a condition in device memory holds: a while around loops over tiles.

They become one CUDA graph, in which each such loop is a conditional node (CUDA 12.4 and newer): the device decides
whether there is another round. With an older driver or an older cuda.core, the host reads the condition before each
round. The results are the same.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenly.errors import InputError
from evenly.interop.context import make_current
from evenly.language import ir
from evenly.language.phases import Loop, Phases

from .capture import may_be_captured, outside_captures
from .compile import cubin, require
from .loading import load
from .memory import DeviceMemory
from .prepared import Prepared

if TYPE_CHECKING:
    from .executable import Launch

CONDITIONAL_NODES = (
    12_040  # the first version of the driver that has conditional nodes of the kind "while"
)
NAME = "set_condition"
SOURCE = f"""\
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(
    cudaGraphConditionalHandle handle, unsigned int value);

EV_KERNEL(1) {NAME}(cudaGraphConditionalHandle handle, const bool* condition) {{
  cudaGraphSetConditional(handle, condition[0] ? 1 : 0);
}}
"""

Places = Mapping[
    ir.Array, int
]  # where each condition lies in the scratch memory, in bytes from its start


class Looping:
    """Prepared launches, some of them in loops. Calling the object launches them; several threads may call it.

    turns: for each launch, the number of the phase with which it is launched. scratch: the memory of the conditions.
    graph: all of it as a CUDA graph; None: the host reads the conditions.
    """

    def __init__(
        self,
        prepared: Prepared,
        turns: Sequence[int],
        phases: Phases,
        stream: Any,
        scratch: DeviceMemory,
        places: Places,
        graph: Any,
    ) -> None:
        from cuda.bindings import driver

        self._prepared, self._phases, self._stream = prepared, phases, stream
        self._scratch, self._places, self._graph = scratch, places, graph
        self._items: dict[int, list[Any]] = {}
        for turn, item in zip(turns, prepared.items, strict=True):
            self._items.setdefault(turn, []).append(item)
        watched = may_be_captured(int(prepared.stream))
        self._status = driver.cuStreamIsCapturing if watched else None

    @property
    def on_device(self) -> bool:
        """Whether the device decides about another round, and not the host."""
        return self._graph is not None

    def __call__(self) -> None:
        prepared = self._prepared
        make_current(prepared.device)  # a thread's first call may find no context
        if self._status is not None and any(self._status(prepared.stream)):
            raise InputError(
                "stream",
                expected="one that is not being captured, for a kernel with a while around loops over tiles",
                given="one that is",
                hint="launch it before or after the graph: its rounds are not known when it is captured",
            )
        with prepared.turn:
            if self._graph is None:
                self._round_by_round()
            else:
                self._graph.launch(self._stream)

    def _round_by_round(self) -> None:
        """Launch what the phases' order says. Ctrl-C ends it between two rounds."""
        for number in self._phases.order(self._holds):
            self._prepared.launch(self._items.get(number, []))

    def _holds(self, condition: ir.Array) -> bool:
        self._stream.sync()
        return self._scratch.read(1, self._places[condition]) != b"\0"


def graph_with_loops(
    launches: Sequence[Launch],
    turns: Sequence[int],
    phases: Phases,
    device: Any,
    scratch: int,
    places: Places,
) -> Any:
    """Make a graph of launches in sequence, with conditional nodes. None: the driver or cuda.core has none.

    turns, places: as for `Looping`. scratch: the address of the scratch memory.
    """
    if not have_conditional_nodes():
        return None
    core = require()
    setter, once = _setter(device.device_id)[0], core.LaunchConfig(grid=1, block=1)

    def add(builder: Any, parts: Sequence[int | Loop]) -> None:
        for part in parts:
            if isinstance(part, Loop):
                add_loop(builder, part)
                continue
            for turn, item in zip(turns, launches, strict=True):
                if turn == part:
                    core.launch(builder, item.config, item.kernel, *item.arguments)

    def add_loop(builder: Any, loop: Loop) -> None:
        condition, at = builder.create_condition(), scratch + places[loop.condition]
        core.launch(builder, once, setter, condition, at)
        body = builder.while_loop(condition).begin_building()
        add(body, loop.body)
        core.launch(body, once, setter, condition, at)
        body.end_building()

    with outside_captures():
        builder = device.create_graph_builder().begin_building()
        add(builder, phases.nested)
        return builder.end_building().complete()


@functools.cache
def have_conditional_nodes() -> bool:
    """Whether this driver, and this cuda.core, can make a graph with loops."""
    from cuda.bindings import driver

    error, version = driver.cuDriverGetVersion()
    builder = getattr(getattr(require(), "graph", None), "GraphBuilder", None)
    return not error and version >= CONDITIONAL_NODES and hasattr(builder, "create_condition")


@functools.cache
def _setter(device_id: int) -> tuple[Any, Any]:
    """Return the kernel that sets a graph's condition, on this device, and its module, which has to stay alive."""
    device = require().Device(device_id)
    cc = device.compute_capability
    return load(cubin(SOURCE, NAME, f"sm_{cc.major}{cc.minor}"), NAME, device)
