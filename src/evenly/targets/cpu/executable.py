"""The executable of target `cpu`: a compiled program, which fills its arguments into a table and runs."""

from __future__ import annotations

import contextlib
import functools
import math
import struct
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.interop.arrays import address, is_array
from evenly.language import ir, walk
from evenly.language.phases import Once, Phase, Phases, Split
from evenly.language.types import INT64, UINT64, from_dtype, strong, wrapped
from evenly.targets.contract import Executable
from evenly.targets.workspace import MOST_WORKSPACE

from .failures import misfit
from .run import Run
from .slots import Address, Length, Number, Scratch, Slot
from .text import Check


@dataclass(frozen=True)
class Function:
    """A compiled phase.

    call, address: the native function. once: whether it has no tiles, so that one worker runs it.
    rule: how its work is divided. scratch: the slots of memory for partial results of workers.
    """

    call: Any
    address: int
    once: bool
    rule: int
    scratch: tuple[tuple[int, Scratch], ...]


@dataclass(frozen=True)
class CpuExecutable(Executable):
    """The native functions of a program, one for each phase. `source` is the text that they were compiled from."""

    remembers = True  # a call depends only on its arguments

    name: str
    source: str
    phases: Phases
    functions: tuple[Function, ...]
    slots: tuple[Slot, ...]
    checks: tuple[Check, ...]
    lengths: CpuExecutable | None = (
        None  # of the program that computes the lengths of scratch arrays
    )
    max_workspace: int = MOST_WORKSPACE

    def limited(self, max_workspace: int) -> CpuExecutable:
        return replace(self, max_workspace=max_workspace)

    def run(self, binding: Binding, worker_count: int | None = None) -> None:
        """Run all phases. Several threads may call this at once.

        worker_count: the number of workers; by default it depends on the work and on Numba's setting.
        Raises InputError for an array that does not fit, and if a check has failed.
        """
        self.prepare(binding).made()(worker_count)

    def prepare(self, binding: Binding, stored: Any = None) -> Prepared:
        """Return a function that runs all phases on these arguments. The caller has to keep their memory alive."""
        lengths = None if self.lengths is None else self.lengths.prepare(binding)
        own = [name for name, value in binding.arguments.items() if is_array(value)]
        return Prepared(self, self.filled(binding), own, lengths)

    def workspace_bytes(self, binding: Binding, stored: Any = None) -> int:
        """Return the bytes of the arrays that live from one phase to the next."""
        run = Run(self, self.filled(binding))
        shapes = ((w.array.dtype.dtype.itemsize, run.shape(w)) for w in self.phases.workspaces)
        return sum(size * math.prod(shape) for size, shape in shapes)

    @functools.cached_property
    def lengths_stay(self) -> bool:
        """Whether scratch arrays are as long in each call with these arguments, whatever the arrays hold."""
        assert self.phases.lengths is not None
        return not any(map(reads_arrays, self.phases.lengths.phases.phases))

    @functools.cached_property
    def places(self) -> dict[ir.Path, list[tuple[int, int | None]]]:
        """Of each array the slots that describe it, with the axis of a length, or None for the address."""
        found: dict[ir.Path, list[tuple[int, int | None]]] = {}
        for i, slot in enumerate(self.slots):
            if isinstance(slot, Address | Length):
                axis = slot.axis if isinstance(slot, Length) else None
                found.setdefault(slot.array.path, []).append((i, axis))
        return found

    def filled(self, binding: Binding) -> np.ndarray:
        """Return a table of slots, filled with the arguments."""
        table = np.zeros(len(self.slots) + 1, np.int64)
        for i, slot in enumerate(self.slots):
            if isinstance(slot, Number):
                table[i] = bits(binding.scalar(slot.path), slot)
            elif isinstance(slot, Address) and slot.array.path[0] != "$":
                table[i] = _address(slot.array, binding.array(slot.array.path))
            elif isinstance(slot, Length) and slot.array.path[0] != "$":
                table[i] = binding.extent(slot.array.path, slot.axis)
        return table


class Prepared:
    """Runs a program on the same arguments. Runs that overlap in time have separate memory.

    own: the names of the arguments that are arrays.
    """

    def __init__(
        self,
        executable: CpuExecutable,
        table: np.ndarray,
        own: list[str],
        lengths: Prepared | None = None,
    ) -> None:
        self._executable, self._table, self._lengths = executable, table, lengths
        self._own = own
        self._idle: list[Run] = []

    def __call__(self) -> None:
        try:
            run = self._idle.pop()
        except IndexError:
            run = self.made()
        run()
        self._idle.append(run)

    def made(self) -> Run:
        """Return a new run on these arguments."""
        lengths = None if self._lengths is None else self._lengths.made()
        return Run(self._executable, self._table.copy(), lengths)

    def moved(self, addresses: tuple[int, ...]) -> Prepared:
        """Return the same for arrays of the same types and shapes elsewhere. It takes over a run, with its memory."""
        lengths = None if self._lengths is None else self._lengths.moved(addresses)
        other = Prepared(self._executable, self._table.copy(), self._own, lengths)
        other._move(other._table, addresses)
        with contextlib.suppress(IndexError):
            run = self._idle.pop()
            other._move(run.slots, addresses)
            if lengths is not None and run.lengths is not None:
                lengths._move(run.lengths.slots, addresses)
            other._idle.append(run)
        return other

    def _move(self, table: np.ndarray, addresses: tuple[int, ...]) -> None:
        for name, at in zip(self._own, addresses, strict=True):
            for i, axis in self._executable.places.get((name,), ()):
                if axis is None:
                    table[i] = at


def reads_arrays(phase: Phase) -> bool:
    """Whether a phase that finds lengths reads arrays, perhaps those that say which atoms a tile has."""
    if isinstance(phase, Once):
        return bool(walk.arrays_read(phase.body))
    if isinstance(phase, Split) or phase.has_pass:
        return True
    counted = walk.inline_expressions(phase.layout.num_tiles)
    counts = any(isinstance(e, ir.Element) for e in counted)
    return counts or bool(walk.arrays_read((*phase.prelude, *phase.body)))


def bits(value: Any, slot: Number) -> int:
    """Return the 64 bits that a slot holds for a number, as an integer."""
    if slot.part:
        value = getattr(value, slot.part)
    if slot.type.is_inexact:
        return int(struct.unpack("q", struct.pack("d", float(value)))[0])
    number = int(value)
    if slot.type == UINT64:
        number = wrapped(number, INT64)  # the same bits
    if not -(2**63) <= number < 2**63:
        raise InputError(".".join(slot.path), expected="an integer of 64 bits", given=str(number))
    return number


def _address(array: ir.Array, given: np.ndarray) -> int:
    fits = from_dtype(given.dtype) == strong(array.dtype) and given.ndim == array.ndim
    if not fits or not given.flags.c_contiguous:
        raise misfit(array, given)
    return address(given)
