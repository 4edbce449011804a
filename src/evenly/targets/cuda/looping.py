"""Launches of which some are repeated while a condition in device memory holds: a while around loops over tiles.

They become one CUDA graph, in which each such loop is a conditional node (conditional.py): the device decides whether
there is another round. If the stream is being captured, these nodes become part of the captured graph. With an older
driver, the host reads the condition before each round. The results are the same.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenly.errors import InputError, InternalError
from evenly.interop.context import make_current
from evenly.language import ir
from evenly.language.phases import Once, Phases
from evenly.targets.gpu.launching import Step

from .conditional import Node, are_possible, capture, graph_of
from .graph import destroy
from .memory import DeviceMemory
from .prepared import Prepared
from .working import Work

if TYPE_CHECKING:
    from .executable import Launch

Places = Mapping[
    ir.Array, int
]  # where each condition lies in the scratch memory, in bytes from its start


class Looping:
    """Prepared launches, some of them in loops. Calling the object launches them; several threads may call it.

    nodes: the launches, by the number of the phase with which each is launched. scratch: the memory of the conditions.
    """

    def __init__(
        self,
        prepared: Prepared,
        nodes: Mapping[int, Sequence[Node]],
        phases: Phases,
        stream: Any,
        scratch: DeviceMemory,
        places: Places,
    ) -> None:
        from cuda.bindings import driver

        self._prepared, self._phases, self._stream = prepared, phases, stream
        self._scratch, self._places, self._nodes = scratch, places, nodes
        self._start, self._graph = driver.cuGraphLaunch, None
        if are_possible():
            self._graph = graph_of(nodes, phases.nested)
            # At exit the context may already be destroyed, and the graph with it.
            weakref.finalize(self, destroy, self._graph).atexit = False

    @property
    def work(self) -> Work:
        return self._prepared.work

    @property
    def captured(self) -> bool:
        """Whether the stream is being captured into another graph."""
        return self._prepared.captured

    @property
    def on_device(self) -> bool:
        """Whether the device decides about another round, and not the host."""
        return self._graph is not None

    def __call__(self) -> None:
        prepared = self._prepared
        make_current(prepared.device)  # a thread's first call may find no context
        with prepared.turn:
            if prepared.captured:
                self._capture()
            elif self._graph is None:
                self._round_by_round()
            else:
                (error,) = self._start(self._graph, prepared.stream)
                if error:
                    raise InternalError(f"a graph could not be launched: {error.name}")

    def _capture(self) -> None:
        if self._graph is None:
            raise InputError(
                "stream",
                expected="one that is not being captured, for a kernel with a while around loops over tiles",
                given="one that is",
                hint="launch it before or after the graph: loops in graphs need a driver of CUDA 12.4 or newer",
            )
        self._prepared.retain()
        capture(self._prepared.stream, self._nodes, self._phases.nested)

    def _round_by_round(self) -> None:
        """Launch what the phases' order says. Ctrl-C ends it between two rounds."""
        for number in self._phases.order(self._holds):
            self._prepared.launch([node.item for node in self._nodes.get(number, ())])

    def _holds(self, condition: ir.Array) -> bool:
        self._stream.sync()
        return self._scratch.read(1, self._places[condition]) != b"\0"


def nodes_of(
    steps: Sequence[Step], launches: Sequence[Launch], prepared: Prepared, phases: Phases
) -> dict[int, list[Node]]:
    """Return the launches of a run, by the number of the phase with which each is launched."""
    nodes: dict[int, list[Node]] = {}
    for step, launch, item in zip(steps, launches, prepared.items, strict=True):
        kinds = [p.kind for p in step.kernel.parameters]
        handle = kinds.index("handle") if "handle" in kinds else -1
        phase = phases.phases[step.number]
        decides = phase.decides if isinstance(phase, Once) else None
        nodes.setdefault(step.turn, []).append(Node(item, launch.arguments, handle, decides))
    return nodes
