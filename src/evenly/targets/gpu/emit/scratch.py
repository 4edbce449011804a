"""Give scratch arrays their memory (device/scratch.cuh)."""

from __future__ import annotations

from dataclasses import dataclass

from evenly.language import ir
from evenly.language.types import WEAK_INT

from .expressions import Text, ctype
from .parameters import pointer

# Bytes of a block's shared memory that its scratch arrays get. With 256 threads, 8 blocks of a multiprocessor take half
# of what an H100 has.
SHARED = 16384


@dataclass(frozen=True, slots=True)
class Shares:
    """The memory that the threads of a block have for scratch arrays.

    block: the threads of a block. arrays: the scratch arrays of a tile, or of an item.
    team: what the threads of a tile are called in the emitted code; "" if a thread owns it alone.
    each: the bytes of shared memory of a block for each array; None: an equal part of SHARED.
    """

    block: int = 0
    arrays: tuple[ir.Array, ...] = ()
    team: str = ""
    each: int | None = None

    def begin(self, text: Text, s: ir.Scratch) -> str:
        """Return the statement by which a tile begins to use an array."""
        a, length = s.array, text.expr(ir.Cast(s.length, WEAK_INT))
        name, room = text.array(a), text.extent(a, 0)
        shared = SHARED // len(self.arrays) if self.each is None else self.each
        kind = f"{self.arrays.index(a)}, {shared if self.team else 0}, {self.block}"
        team = self.team or f"ev::group<1, {self.block}>()"
        made = f"ev::scratch<{kind}>({team}, {pointer(name)}, {room}, {length})"
        return f"const ev::out<{ctype(a.dtype)}> {name}({made});"
