"""Kernels with scratch arrays: each call asks the device how long these get, then launches with memory for them.

So a call waits for the device once. Nothing is remembered, as arrays that the lengths follow from may change in place.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.language import ir
from evenly.targets.workspace import Rooms

from .capture import may_be_captured
from .prepared import Prepared
from .working import Work

if TYPE_CHECKING:
    from .executable import CudaExecutable, Stored


def measured(
    executable: CudaExecutable, binding: Binding, stored: Stored, device: Any, stream: Any
) -> Rooms | None:
    """Return the greatest length of each scratch array; None if the kernel has none. This waits for the device."""
    wanted, lengths = executable.program.phases.lengths, executable.lengths
    if lengths is None or wanted is None:
        return None
    _refuse_capture(executable.program.phases.name, stream)
    with lengths.measuring:
        run, memory, launches = lengths.launched(binding, stored, device, stream)
        Prepared(launches, device, stream, Lock())()
        stream.sync()
        assert memory is not None
        pieces = run.scratch.pieces

        def read(result: ir.Array) -> int:
            return int.from_bytes(memory.read(8, pieces[result.path].offset), "little")

        return {path: tuple(map(read, results)) for path, results in wanted.results}


def _refuse_capture(name: str, stream: Any) -> None:
    """Raise InputError if the stream is being captured: a call could not wait for the device."""
    from cuda.bindings import driver

    handle = int(stream.handle)
    if may_be_captured(handle) and any(driver.cuStreamIsCapturing(driver.CUstream(handle))):
        raise InputError(
            name,
            expected="a stream that is not being captured, since the kernel has scratch arrays",
            given="one that is",
            hint="capture plan.launches, which have the memory that the plan's arguments need now",
        )


class Measuring:
    """Asks for the lengths of scratch arrays and launches, at each call. It keeps the arguments alive."""

    def __init__(
        self,
        executable: CudaExecutable,
        binding: Binding,
        stored: Stored,
        at: tuple[Any, Any],
        memory: tuple[Any, Lock],
    ) -> None:
        self.executable, self.binding, self.stored = executable, binding, stored
        self.at, self.memory = at, memory
        self.rooms: Rooms | None = None
        self.launches: Any = None
        self.turn = Lock()

    @property
    def work(self) -> Work:
        from cuda.bindings import driver

        device, stream = self.at
        return Work(device, driver.CUstream(int(stream.handle)))

    def __call__(self) -> None:
        self.at[0].set_current()
        with self.turn:
            self.launch()

    def launch(self) -> None:
        rooms = measured(self.executable, self.binding, self.stored, *self.at)
        if rooms != self.rooms:
            made = self.executable.prepared(
                self.binding, self.stored, *self.at, *self.memory, rooms
            )
            self.launches, self.rooms = made, rooms
        self.launches()
