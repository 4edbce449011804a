"""A compiled program and its arguments."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.interop.arrays import address
from evenly.language import ir
from evenly.language.phases import Phases
from evenly.language.types import from_dtype, strong
from evenly.targets.contract import Executable

from .failures import misfit
from .run import Run
from .slots import Address, Length, Number, Scratch, Slot
from .text import Check


@dataclass(frozen=True)
class Function:
    """A compiled phase: how to call it, its address, how it is divided, what its workers leave.

    once: it has no tiles, and one worker runs it.
    """

    call: Any
    address: int
    once: bool
    rule: int
    scratch: tuple[tuple[int, Scratch], ...]


@dataclass(frozen=True)
class CpuExecutable(Executable):
    """The native functions of a program, one a phase. `source` is the text that they come from."""

    remembers = True  # its arguments alone decide a call

    name: str
    source: str
    phases: Phases
    functions: tuple[Function, ...]
    slots: tuple[Slot, ...]
    checks: tuple[Check, ...]

    def run(self, binding: Binding, worker_count: int | None = None) -> None:
        """Run all phases. `worker_count`: instead of what the work and Numba's threads suggest.

        Safe to call from several threads at once. Raises InputError for an array that does not
        fit, and for what checks found.
        """
        Run(self, self.filled(binding))(worker_count)

    def prepare(self, binding: Binding, stored: Any = None) -> Prepared:
        """What runs all phases on these arguments, when it is called; the caller keeps their memory alive."""
        return Prepared(self, self.filled(binding))

    def workspace_bytes(self, binding: Binding, stored: Any = None) -> int:
        """Bytes of the arrays that live from one phase to the next."""
        run = Run(self, self.filled(binding))
        shapes = ((w.array.dtype.dtype.itemsize, run.shape(w)) for w in self.phases.workspaces)
        return sum(size * math.prod(shape) for size, shape in shapes)

    def filled(self, binding: Binding) -> np.ndarray:
        """A table of slots with what the arguments say in it."""
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
    """Runs of a program on the same arguments, each with memory of its own where they overlap in time."""

    def __init__(self, executable: CpuExecutable, table: np.ndarray) -> None:
        self._executable, self._table = executable, table
        self._idle: list[Run] = []

    def __call__(self) -> None:
        try:
            run = self._idle.pop()
        except IndexError:
            run = Run(self._executable, self._table.copy())
        run()
        self._idle.append(run)


def bits(value: Any, slot: Number) -> int:
    """What a slot holds for a number."""
    if slot.part:
        value = getattr(value, slot.part)
    if slot.type.is_inexact:
        return int(struct.unpack("q", struct.pack("d", float(value)))[0])
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise InputError(".".join(slot.path), expected="an integer of 64 bits", given=str(number))
    return number


def _address(array: ir.Array, given: np.ndarray) -> int:
    fits = from_dtype(given.dtype) == strong(array.dtype) and given.ndim == array.ndim
    if not fits or not given.flags.c_contiguous:
        raise misfit(array, given)
    return address(given)
