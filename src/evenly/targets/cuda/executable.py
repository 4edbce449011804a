"""Run an emitted program on a device: its memory, its launches, and the caller's stream."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.interop.arrays import is_array
from evenly.interop.streams import current, reader
from evenly.language import ir
from evenly.language.phases import Phases
from evenly.language.specs import LayoutSpec
from evenly.schedules.contract import Schedule
from evenly.targets.contract import Executable
from evenly.targets.gpu import headers
from evenly.targets.gpu.emit.code import KernelCode
from evenly.targets.gpu.launching import Addresses, Program, Run, Scratch, Step
from evenly.targets.workspace import Rooms

from .compile import cubin, require
from .graph import graphed
from .loading import load
from .looping import Looping, nodes_of
from .measuring import Measuring, measured
from .memory import DeviceMemory
from .place import device_at, gpu_of
from .prepared import Movable, Prepared

Stored = dict[ir.Path, DeviceMemory]  # stored partitions, by the path of their layout


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch, in a form that any launcher can use.

    code: what it was emitted as. kernel: a `cuda.core.Kernel`. cubin: its machine code.
    grid, block: three integers each. arguments: integers for pointers and 64-bit numbers, and NumPy scalars for the
    rest, as cuda.core and CuPy take them. carveout: the preferred shared memory carveout in percent; -1: none. It is
    already set on `kernel`; code that loads the cubin again has to set it. cooperative: whether all blocks have to run
    at once.
    """

    code: KernelCode
    cubin: bytes
    kernel: Any
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Any, ...]
    carveout: int = -1
    cooperative: bool = False
    memory: tuple[Any, ...] = field(repr=False, default=())  # what `arguments` point to

    @property
    def name(self) -> str:
        return self.code.name

    @property
    def source(self) -> str:
        """The CUDA C++, including the headers."""
        return headers.text() + self.code.source

    @property
    def config(self) -> Any:
        """The `cuda.core.LaunchConfig`."""
        given = {"is_cooperative": True} if self.cooperative else {}
        return require().LaunchConfig(grid=self.grid, block=self.block, **given)


class CudaExecutable(Executable):
    """The compiled phases of a kernel. It is thread-safe, since each stream has its own scratch memory."""

    def __init__(
        self, phases: Phases, schedule: Schedule, layouts: dict[ir.Path, LayoutSpec], wide: bool
    ) -> None:
        given = schedule, layouts, wide
        lengths = phases.lengths
        self.lengths = None if lengths is None else CudaExecutable(lengths.phases, *given)
        self.remembers = self.lengths is None
        self.program = Program(phases, schedule, layouts, wide)
        self._loaded: dict[tuple[str, int, int], tuple[Any, bytes, Any]] = {}
        self._lock = threading.Lock()
        self._own_memory()

    def _own_memory(self) -> None:
        self._workspace = Workspace()
        self.measuring, self._turn = threading.Lock(), threading.Lock()

    # ---- running -------------------------------------------------------------------------------
    def limited(self, max_workspace: int) -> CudaExecutable:
        made = copy.copy(self)
        made.max_workspace = max_workspace
        return made

    def apart(self) -> CudaExecutable:
        made = copy.copy(self)
        made.lengths = None if self.lengths is None else self.lengths.apart()
        made._own_memory()
        return made

    def prepare(self, binding: Binding, stored: Stored | None = None) -> Callable[[], None]:
        """Return the launches for these arguments, on the caller's current stream. They may be called many times."""
        device, stream = self.place(binding)
        given = binding, stored or {}
        if self.lengths is not None:
            return Measuring(self, *given, (device, stream), (self._workspace, self._turn))
        return self.prepared(*given, device, stream, self._workspace, self._turn)

    def bind(
        self, binding: Binding, stored: Stored | None = None, stream: int | None = None
    ) -> Callable[[], None]:
        """Return the launches as a CUDA graph, on this stream, with scratch memory that no other call uses."""
        device, at = self.place(binding, stream)
        memory = Workspace(), threading.Lock()
        if self.lengths is not None:
            return Measuring(self, binding, stored or {}, (device, at), memory)
        run = self.prepared(binding, stored or {}, device, at, *memory)
        return run if isinstance(run, Looping) else graphed(run)

    def also_decides(self, binding: Binding) -> tuple[Callable[[], int]]:
        """Return a function that reads the caller's current stream, on which a call also depends."""
        views = [binding.view(path) for _, path in binding.array_paths]
        return (reader([v.owner for v in views], views[0].device_id if views else 0),)

    def launches(self, binding: Binding, stored: Stored | None = None) -> list[Launch]:
        """Return the launches for these arguments, in order. Raises InputError if some of them are in a loop."""
        if self.program.phases.repeats:
            raise InputError(
                "plan.launches",
                expected="a kernel without a while around loops over tiles",
                given="one whose launches are repeated",
                hint="call the plan, or plan.bind(...): each is one launch, also where you capture a graph",
            )
        at = self.place(binding)
        rooms = measured(self, binding, stored or {}, *at)
        _, _, launches = self.launched(binding, stored or {}, *at, rooms=rooms)
        return launches

    def store(self, binding: Binding) -> Stored:
        """Make a partition for each of these layouts, which later launches on them can reuse."""
        device, stream = self.place(binding)
        made: Stored = {}
        for step in self.program.partition_steps(binding, gpu_of(device.device_id)):
            path = step.phase.path
            if path not in made:
                made[path] = DeviceMemory(self.program.partition_bytes(step))
                # `changed` also compares the bytes that the kernels do not write.
                made[path].clear(int(stream.handle))
            item = self._launch(step, binding, None, LaunchMemory(None, None, made), device)
            Prepared([item], device, stream, self._turn)()
        return made

    def changed(self, binding: Binding, stored: Stored) -> ir.Path | None:
        """Return the path of a layout whose partition differs from the stored one. Copies partitions to the host."""
        _, stream = self.place(binding)
        for path, buffer in self.store(binding).items():
            stream.sync()
            if path in stored and buffer.read(buffer.size) != stored[path].read(buffer.size):
                return path
        return None

    def place(self, binding: Binding, stream: int | None = None) -> tuple[Any, Any]:
        """Make the arguments' device current. Return it, and the stream to use: the caller's current one by default."""
        device = device_at(binding)
        views = [binding.view(path) for _, path in binding.array_paths]
        handle = current([v.owner for v in views], device.device_id) if stream is None else stream
        return device, require().Stream.from_handle(handle) if handle else device.default_stream

    def workspace_bytes(self, binding: Binding, stored: Stored | None = None) -> int:
        device, stream = self.place(binding)
        rooms = measured(self, binding, stored or {}, device, stream)
        given = binding, gpu_of(device.device_id), stored or {}, rooms, self.max_workspace
        return self.program.run(*given).workspace_bytes

    # ---- launches --------------------------------------------------------------------------------
    def prepared(
        self,
        binding: Binding,
        stored: Stored,
        device: Any,
        stream: Any,
        workspace: Workspace,
        turn: threading.Lock,
        rooms: Rooms | None = None,
    ) -> Prepared | Looping:
        """Return the launches. rooms: the greatest lengths of scratch arrays."""
        run, scratch, launches = self.launched(binding, stored, device, stream, workspace, rooms)
        phases, given = self.program.phases, (launches, device, stream, turn)
        if not phases.repeats:
            if any(launch.code.facts for launch in launches):  # of memory: of whole, aligned words
                return Prepared(*given)
            own = [name for name, value in binding.arguments.items() if is_array(value)]
            return Movable(*given, own)
        prepared = Prepared(*given)
        assert scratch is not None
        at = {r.condition: run.scratch.pieces[r.condition.path].offset for r in phases.repeats}
        nodes = nodes_of(run.steps, launches, prepared, phases)
        return Looping(prepared, nodes, phases, stream, scratch, at)

    def launched(
        self,
        binding: Binding,
        stored: Stored,
        device: Any,
        stream: Any,
        workspace: Workspace | None = None,
        rooms: Rooms | None = None,
    ) -> tuple[Run, DeviceMemory | None, list[Launch]]:
        """Return the run, its scratch memory, and its launches. workspace: default: that of the executable."""
        given = binding, gpu_of(device.device_id), stored, rooms, self.max_workspace
        run, workspace = self.program.run(*given), workspace or self._workspace
        at = device.device_id, int(stream.handle)
        memory = workspace.memory("scratch", run.scratch.nbytes, *at)
        held = LaunchMemory(memory, workspace.memory("cells", run.zeros, *at), stored)
        launches = [self._launch(step, binding, run.scratch, held, device) for step in run.steps]
        return run, memory, launches

    def _launch(
        self, step: Step, binding: Binding, scratch: Scratch | None, held: LaunchMemory, device: Any
    ) -> Launch:
        kernel = step.kernel.for_arguments(binding)
        partition = held.stored.get(step.phase.path)
        loaded, code = self._load(kernel, device)
        at = Addresses(address(held.scratch), address(held.cells), address(partition))
        arguments = self.program.arguments(step, binding, scratch, at)
        memory = (held.scratch, held.cells, partition)
        kept = (memory, [v.owner for v in binding.views.values()])
        return Launch(
            kernel,
            code,
            loaded,
            step.grid,
            (kernel.block, 1, 1),
            arguments,
            kernel.carveout,
            kernel.cooperative,
            kept,
        )

    def _load(self, kernel: KernelCode, device: Any) -> tuple[Any, bytes]:
        """Return a kernel on this device, and its machine code. It is compiled and loaded once."""
        key = kernel.name, kernel.known, device.device_id
        with self._lock:
            if key not in self._loaded:
                cc = device.compute_capability
                code = cubin(kernel.source, kernel.name, f"sm_{cc.major}{cc.minor}")
                loaded, module = load(code, kernel.name, device, kernel.carveout)
                self._loaded[key] = loaded, code, module
            return self._loaded[key][:2]


class Workspace:
    """Memory for launches that run one after another. There is one for each stream, and it only grows. Thread-safe."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int, int], DeviceMemory] = {}
        self._lock = threading.Lock()

    def memory(self, what: str, total: int, device_id: int, stream: int) -> DeviceMemory | None:
        """Return at least `total` bytes on the current device. Cells are initialized with zeros."""
        if total == 0:
            return None
        key = what, device_id, stream
        with self._lock:
            held = self._held.get(key)
            if held is None or held.size < total:
                # Launches that are already prepared keep the old memory.
                held = self._held[key] = DeviceMemory(total, zero=what == "cells")
            return held


@dataclass(frozen=True, slots=True)
class LaunchMemory:
    """The memory that launches use besides that of the arguments."""

    scratch: DeviceMemory | None
    cells: DeviceMemory | None
    stored: Stored


def address(memory: DeviceMemory | None) -> int:
    return 0 if memory is None else memory.handle
