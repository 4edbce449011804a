"""A compiled program, and one run of it."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evenly.errors import InputError
from evenly.language import ir
from evenly.language.phases import Once, Phases, Workspace
from evenly.language.types import from_dtype, strong

from . import workers
from .division import RULES, SHARE, whole
from .layout import ATOMS, FACTS, LANES, SIZE, TILES
from .slots import Address, Length, Number, Scratch, Shared, Slot
from .text import Place

RECORD = 4  # as in checks, which imports Numba


class Binding(Protocol):
    """Where a run gets its arguments from."""

    def array(self, path: ir.Path) -> np.ndarray: ...
    def scalar(self, path: ir.Path) -> Any: ...
    def extent(self, path: ir.Path, axis: int) -> int: ...
    def workspace(self, name: str, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray: ...


@dataclass(frozen=True)
class Function:
    """A compiled phase: how to call it, its address, how it is divided, what its workers leave."""

    call: Any
    address: int
    rule: int
    scratch: tuple[tuple[int, Scratch], ...]


@dataclass(frozen=True)
class Executable:
    """The native functions of a program, one a phase. `source` is the text that they come from."""

    name: str
    source: str
    phases: Phases
    functions: tuple[Function, ...]
    slots: tuple[Slot, ...]
    places: tuple[Place, ...]

    def run(self, binding: Binding, worker_count: int | None = None) -> None:
        """Run all phases. `worker_count`: instead of what the work and Numba's threads suggest.

        Safe to call from several threads at once. Raises InputError for an array that does not
        fit, and for what checks found.
        """
        _Run(self, binding, worker_count).all()

    def prepare(self, binding: Binding, stored: Any = None) -> Callable[[], None]:
        """What runs all phases on these arguments, when it is called."""
        return lambda: self.run(binding)

    def workspace_bytes(self, binding: Binding, stored: Any = None) -> int:
        """Bytes of the arrays that live from one phase to the next."""
        run = _Run(self, binding, None)
        run.fill(inputs=True)
        shapes = ((w.array.dtype.dtype.itemsize, run.shape(w)) for w in self.phases.workspaces)
        return sum(size * math.prod(shape) for size, shape in shapes)


class _Run:
    def __init__(self, executable: Executable, binding: Binding, worker_count: int | None) -> None:
        self.executable = executable
        self.binding = binding
        self.worker_count = worker_count
        self.slots = np.zeros(len(executable.slots) + 1, np.int64)
        self.address = self.slots.ctypes.data
        self.shared = {s.name: i for i, s in enumerate(executable.slots) if isinstance(s, Shared)}
        self.kept: list[np.ndarray] = []  # arrays whose addresses are in the slots
        self.workspaces: dict[ir.Path, np.ndarray] = {}
        self.facts = self.exchange("facts", np.zeros(4, np.int64))
        self.records: np.ndarray | None = None

    def all(self) -> None:
        self.fill(inputs=True)
        self.clear_records(1)
        for workspace in self.executable.phases.workspaces:
            array = workspace.array
            self.workspaces[array.path] = self.binding.workspace(
                array.name, array.dtype.dtype, self.shape(workspace)
            )
        if self.workspaces:
            self.fill(inputs=False)
        for function, phase in zip(
            self.executable.functions, self.executable.phases.phases, strict=True
        ):
            if isinstance(phase, Once):
                function.call(0, 1, self.address)
                self.check()
            else:
                self.one(function)

    # ---- arguments -------------------------------------------------------------------------------
    def fill(self, inputs: bool) -> None:
        """Fill the slots of the arguments (`inputs`), or of the workspaces, which need those."""
        for i, slot in enumerate(self.executable.slots):
            if isinstance(slot, Number):
                if inputs:
                    self.slots[i] = bits(self.binding.scalar(slot.path), slot)
            elif isinstance(slot, Address | Length) and (slot.array.path[0] != "$") == inputs:
                self.slots[i] = (
                    self.address_of(slot.array) if isinstance(slot, Address) else self.length(slot)
                )

    def address_of(self, array: ir.Array) -> int:
        a = self.workspaces[array.path] if array.path[0] == "$" else self.binding.array(array.path)
        if (
            from_dtype(a.dtype) != strong(array.dtype)
            or a.ndim != array.ndim
            or not a.flags.c_contiguous
        ):
            raise misfit(array, a)
        self.kept.append(a)
        return a.ctypes.data

    def length(self, slot: Length) -> int:
        if slot.array.path[0] == "$":
            return self.workspaces[slot.array.path].shape[slot.axis]
        return self.binding.extent(slot.array.path, slot.axis)

    def shape(self, workspace: Workspace) -> tuple[int, ...]:
        if workspace.extent == "one":
            return (1,)
        facts = self.ask(self.function_over(workspace))
        return (facts[TILES], facts[LANES]) if workspace.extent == "lane" else (facts[TILES],)

    def function_over(self, workspace: Workspace) -> Function:
        """A phase over the workspace's layout (with lanes, if it has any)."""
        for function, phase in zip(
            self.executable.functions, self.executable.phases.phases, strict=True
        ):
            if isinstance(phase, Once) or phase.path != workspace.layout:
                continue
            if workspace.extent != "lane" or getattr(phase, "lane", None) is not None:
                return function
        raise AssertionError(workspace)

    # ---- phases ----------------------------------------------------------------------------------
    def ask(self, function: Function) -> list[int]:
        """The facts of a phase: size, tiles, atoms, lanes."""
        function.call(FACTS, 0, self.address)
        self.check()
        return self.facts.tolist()

    def one(self, function: Function) -> None:
        """Divide the work of a phase, do it, and join what the workers left."""
        facts = self.ask(function)
        count = self.worker_count or workers.worker_count(facts[SIZE])
        self.clear_records(count)
        self.divide(function, facts, count)
        self.make_room(function, facts[LANES], count)
        workers.run_workers(function.call, function.address, count, self.address)
        self.check()
        if function.scratch:
            function.call(count, count, self.address)
            self.check()

    def divide(self, function: Function, facts: list[int], count: int) -> None:
        if function.rule == RULES["own"]:
            return
        shares = np.empty((count, SHARE), np.int64)
        if count == 1:
            shares[0] = whole(facts[TILES], facts[ATOMS])
        else:
            workers.divide(
                function.address,
                self.address,
                function.rule,
                facts[TILES],
                facts[ATOMS],
                count,
                shares,
            )
        self.exchange("shares", shares)
        self.check()

    def make_room(self, function: Function, lanes: int, count: int) -> None:
        """Memory for what the workers leave."""
        sizes = [count * s.size * (lanes if s.lanes else 1) for _, s in function.scratch]
        memory = np.empty(sum(sizes), np.int64)
        self.kept.append(memory)
        at = memory.ctypes.data
        for (i, _), size in zip(function.scratch, sizes, strict=True):
            self.slots[i] = at
            at += 8 * size

    def exchange(self, name: str, array: np.ndarray) -> np.ndarray:
        """Let the functions see an array of the host's."""
        if name in self.shared:
            self.slots[self.shared[name]] = array.ctypes.data
            self.kept.append(array)
        return array

    # ---- checks ----------------------------------------------------------------------------------
    def clear_records(self, count: int) -> None:
        """A record for each worker, and for joining."""
        if self.executable.places:
            self.records = self.exchange("records", np.zeros((count + 1, RECORD), np.int64))

    def check(self) -> None:
        """Raise what the first worker found wrong, if any did."""
        if self.records is None:
            return
        for number, value, bound, _ in self.records.tolist():
            if number:
                raise failure(self.executable.places[number - 1], value, bound)


# ---- errors and numbers ------------------------------------------------------------------------
def misfit(array: ir.Array, given: np.ndarray) -> InputError:
    axes = f"{array.ndim} ax{'is' if array.ndim == 1 else 'es'}"
    strided = "" if given.flags.c_contiguous else " that is not C-contiguous"
    return InputError(
        ".".join(array.path),
        expected=f"a C-contiguous array of {array.dtype} with {axes}",
        given=f"one of {given.dtype} with shape {given.shape}{strided}",
        hint="numpy.ascontiguousarray" if strided else "",
    )


def failure(place: Place, value: int, bound: int) -> InputError:
    """The error that a check's record stands for."""
    where = f"{place.at.file}:{place.at.line}: " if place.at is not None else ""
    if place.kind == "index":
        expected = f"an index from 0 to {bound - 1}" if bound else "no index, for it is empty"
        return InputError(f"{where}{place.name}", expected=expected, given=f"{place.name}[{value}]")
    if place.kind == "shift":
        return InputError(
            f"{where}{place.name}",
            expected=f"a shift count from 0 to {bound - 1}",
            given=str(value),
        )
    return InputError(f"{where}{place.name}", expected="a divisor that is not zero", given="0")


def bits(value: Any, slot: Number) -> int:
    """What a slot holds for a number."""
    if slot.part:
        value = getattr(value, slot.part)
    if slot.type.is_inexact:
        return struct.unpack("q", struct.pack("d", float(value)))[0]
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise InputError(".".join(slot.path), expected="an integer of 64 bits", given=str(number))
    return number
