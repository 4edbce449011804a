"""The arguments of a compiled program: a table of 64-bit slots, which each run fills.

All functions of a program share the table. A slot holds an address, a length, a number,
or the address of scratch memory for the partial results of workers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from evenly.language import ir
from evenly.language.types import Scalar


@dataclass(frozen=True, slots=True)
class Address:
    array: ir.Array


@dataclass(frozen=True, slots=True)
class Length:
    array: ir.Array
    axis: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number. part: "real" or "imag", for a part of a complex number."""

    path: ir.Path
    type: Scalar
    part: str = ""


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory for `size` values of 64 bits for each worker of a phase; with `lanes`, for each worker and lane."""

    phase: int
    name: str
    size: int
    lanes: bool


@dataclass(frozen=True, slots=True)
class Shared:
    """Integers that the host and a phase exchange: "facts", "shares" or "records"."""

    name: str


Slot = Address | Length | Number | Scratch | Shared


@dataclass
class Slots:
    """Assigns slots. The same argument always gets the same slot."""

    table: list[Slot] = field(default_factory=list)
    _known: dict[object, int] = field(default_factory=dict)

    def address(self, array: ir.Array) -> int:
        return self._slot(("address", array.path), Address(array))

    def length(self, array: ir.Array, axis: int) -> int:
        return self._slot(("length", array.path, axis), Length(array, axis))

    def number(self, path: ir.Path, type_: Scalar, part: str = "") -> int:
        return self._slot(("number", path, part), Number(path, type_, part))

    def scratch(self, phase: int, name: str, size: int, lanes: bool) -> int:
        return self._slot(("scratch", phase, name), Scratch(phase, name, size, lanes))

    def shared(self, name: str) -> int:
        return self._slot(("shared", name), Shared(name))

    def _slot(self, key: object, slot: Slot) -> int:
        if key not in self._known:
            self._known[key] = len(self.table)
            self.table.append(slot)
        return self._known[key]
