"""A compiled program, and one run of it."""
from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evenly.errors import InputError
from evenly.language import ir
from evenly.language.phases import Once, Phases, Workspace

from . import workers
from .function import LANES, SIZE, TILES
from .slots import Address, Length, Number, Scratch, Slot
from .text import Place

RECORD = 4  # as in checks, which imports Numba


class Binding(Protocol):
    """Where a run gets its arguments from."""

    def array(self, path: ir.Path) -> np.ndarray: ...
    def scalar(self, path: ir.Path) -> Any: ...
    def extent(self, path: ir.Path, axis: int) -> int: ...
    def workspace(self, name: str, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray: ...


@dataclass(frozen=True)
class Executable:
    """The native functions of a program, one a phase.

    source: the emitted text. functions: what to call, each with its address. record: the slot
    of the records that checks leave, -1 without checks.
    """

    name: str
    source: str
    phases: Phases
    functions: tuple[tuple[Any, int], ...]
    slots: tuple[Slot, ...]
    places: tuple[Place, ...]
    record: int

    def run(self, binding: Binding, worker_count: int | None = None) -> None:
        """Run all phases. `worker_count`: instead of what the work and Numba's threads suggest.

        Raises InputError for an array that does not fit, and for what checks found.
        """
        _Run(self, binding, worker_count).all()


class _Run:
    def __init__(self, executable: Executable, binding: Binding, worker_count: int | None) -> None:
        self.executable = executable
        self.binding = binding
        self.worker_count = worker_count
        self.slots = np.zeros(len(executable.slots) + 1, np.int64)
        self.address = self.slots.ctypes.data
        self.kept: list[np.ndarray] = []  # arrays whose addresses are in the slots
        self.workspaces: dict[ir.Path, np.ndarray] = {}

    def all(self) -> None:
        self.fill(inputs=True)
        if self.executable.record >= 0:
            self.no_records(0)
        for workspace in self.executable.phases.workspaces:
            self.workspaces[workspace.array.path] = self.allocate(workspace)
        if self.workspaces:
            self.fill(inputs=False)
        for number, phase in enumerate(self.executable.phases.phases):
            self.one(number, isinstance(phase, Once))

    # ---- arguments -------------------------------------------------------------------------------
    def fill(self, inputs: bool) -> None:
        """Fill the slots of the arguments (`inputs`), or of the workspaces, which need those."""
        for i, slot in enumerate(self.executable.slots):
            if isinstance(slot, Number):
                if inputs:
                    self.slots[i] = bits(self.binding.scalar(slot.path), slot)
            elif isinstance(slot, Address | Length) and (slot.array.path[0] != "$") == inputs:
                self.slots[i] = self.address_of(slot.array) if isinstance(slot, Address) else self.length(slot)

    def address_of(self, array: ir.Array) -> int:
        a = self.array(array)
        if a.dtype != array.dtype.dtype or a.ndim != array.ndim or not a.flags.c_contiguous:
            expected = f"a C-contiguous array of {array.dtype} with {array.ndim} axes"
            layout = "" if a.flags.c_contiguous else "a strided array of "
            raise InputError(".".join(array.path), expected=expected, given=f"{layout}{a.dtype} with {a.ndim}", hint="numpy.ascontiguousarray")
        self.kept.append(a)
        return a.ctypes.data

    def array(self, array: ir.Array) -> np.ndarray:
        return self.workspaces[array.path] if array.path[0] == "$" else self.binding.array(array.path)

    def length(self, slot: Length) -> int:
        if slot.array.path[0] == "$":
            return self.workspaces[slot.array.path].shape[slot.axis]
        return self.binding.extent(slot.array.path, slot.axis)

    def allocate(self, workspace: Workspace) -> np.ndarray:
        shape: tuple[int, ...] = (1,)
        if workspace.extent != "one":
            function = self.function_over(workspace)
            shape = (self.ask(function, TILES),)
            if workspace.extent == "lane":
                shape = (*shape, self.ask(function, LANES))
        return self.binding.workspace(workspace.array.name, workspace.array.dtype.dtype, shape)

    def function_over(self, workspace: Workspace) -> int:
        """The number of a phase over the workspace's layout (with lanes, if it has any)."""
        for number, phase in enumerate(self.executable.phases.phases):
            if not isinstance(phase, Once) and phase.path == workspace.layout:
                if workspace.extent != "lane" or getattr(phase, "lane", None) is not None:
                    return number
        raise AssertionError(workspace)

    def ask(self, number: int, question: int) -> int:
        function, _ = self.executable.functions[number]
        answer = function(question, 1, self.address)
        self.check()
        return answer

    # ---- phases ----------------------------------------------------------------------------------
    def one(self, number: int, once: bool) -> None:
        function, address = self.executable.functions[number]
        if once:
            function(0, 1, self.address)
            self.check()
            return
        count = self.worker_count or workers.worker_count(self.ask(number, SIZE))
        needs_join = self.scratch(number, count)
        workers.run_workers(function, address, count, self.address)
        self.check()
        if needs_join:
            function(count, count, self.address)
            self.check()

    def scratch(self, number: int, count: int) -> bool:
        """Make room for what the workers of a phase leave; whether there is any such thing."""
        mine = [(i, s) for i, s in enumerate(self.executable.slots) if isinstance(s, Scratch) and s.phase == number]
        if self.executable.record >= 0:
            self.no_records(count)
        if not mine:
            return False
        lanes = self.ask(number, LANES) if any(s.lanes for _, s in mine) else 1
        sizes = [count * s.size * (lanes if s.lanes else 1) for _, s in mine]
        memory = np.empty(sum(sizes), np.int64)
        self.kept.append(memory)
        at = memory.ctypes.data
        for (i, _), size in zip(mine, sizes, strict=True):
            self.slots[i] = at
            at += 8 * size
        return True

    # ---- checks ----------------------------------------------------------------------------------
    def no_records(self, count: int) -> None:
        """A record for each worker, for joining and for questions."""
        self.records = np.zeros((count + 2, RECORD), np.int64)
        self.slots[self.executable.record] = self.records.ctypes.data

    def check(self) -> None:
        """Raise what the first worker found wrong, if any did."""
        if self.executable.record < 0:
            return
        for number, value, bound, _ in self.records.tolist():
            if number:
                raise failure(self.executable.places[number - 1], value, bound)


def failure(place: Place, value: int, bound: int) -> InputError:
    """The error that a check's record stands for."""
    where = f"{place.at.file}:{place.at.line}: " if place.at is not None else ""
    if place.kind == "index":
        return InputError(f"{where}{place.name}", expected=f"an index from 0 to {bound - 1}" if bound else "no index: it is empty", given=f"{place.name}[{value}]")
    if place.kind == "shift":
        return InputError(f"{where}{place.name}", expected=f"a shift count from 0 to {bound - 1}", given=str(value))
    return InputError(f"{where}{place.name}", expected="a divisor that is not zero", given="0")


def bits(value: Any, slot: Number) -> int:
    """What a slot holds for a number."""
    if slot.type.is_float:
        return struct.unpack("q", struct.pack("d", float(value)))[0]
    return int(value)
