"""Give scratch arrays their memory (device/scratch.cuh)."""

from __future__ import annotations

from dataclasses import dataclass, field

from evenly.gpus.gpu import WARP
from evenly.language import ir
from evenly.language.scratch import scratch_in
from evenly.language.types import WEAK_INT

from .expressions import Text, ctype
from .parameters import pointer

# Bytes of a block's shared memory that its scratch arrays get. With 256 threads, 8 blocks of a multiprocessor take half
# of what an H100 has.
SHARED = 16384

# The most bytes for arrays whose lengths are constants: the kernel's author knows them. A kernel has 48 KiB in all.
MOST_SHARED = 40960


@dataclass(frozen=True, slots=True)
class Shares:
    """The memory that the threads of a block have for scratch arrays.

    block: the threads of a block. arrays: the scratch arrays of a tile, or of an item.
    team: what the threads of a tile are called in the emitted code; "" if a thread owns it alone.
    needs: the bytes of a block's shared memory for arrays whose lengths are constants, if they all fit.
    each: the bytes of shared memory of a block for each other array; None: an equal part of SHARED.
    """

    block: int = 0
    arrays: tuple[ir.Array, ...] = ()
    team: str = ""
    each: int | None = None
    needs: dict[ir.Path, int] = field(default_factory=dict)

    def begin(self, text: Text, s: ir.Scratch) -> str:
        """Return the statement by which a tile begins to use an array."""
        a, length = s.array, text.expr(ir.Cast(s.length, WEAK_INT))
        name, room = text.array(a), text.extent(a, 0)
        kind = f"{self.arrays.index(a)}, {self.of(a) if self.team else 0}, {self.block}"
        kind += ", true" if a.path in self.needs else ", false" if not s.zeros else ""
        kind += "" if s.zeros else ", false"
        team = self.team or f"ev::group<1, {self.block}>()"
        made = f"ev::scratch<{kind}>({team}, {pointer(name)}, {room}, {length})"
        return f"const ev::out<{ctype(a.dtype)}> {name}({made});"

    def of(self, a: ir.Array) -> int:
        """Return the bytes of a block's shared memory for an array."""
        if a.path in self.needs:
            return self.needs[a.path]
        if self.each is not None:
            return self.each
        others = len(self.arrays) - len(self.needs)
        return max(SHARED - sum(self.needs.values()), 0) // others


def needs_of(body: ir.Block, size: int, block: int) -> dict[ir.Path, int]:
    """Return the bytes of a block's shared memory for scratch arrays whose lengths are constants; {} if it is too much.

    size: how many threads own a tile.
    """
    if size == 1:
        return {}
    made = {s.array: s.length for s in scratch_in(body)}
    sizes = {
        a.path: int(n.value) * a.dtype.dtype.itemsize
        for a, n in made.items()
        if isinstance(n, ir.Const)
    }
    # A team's part begins and ends at a multiple of 16, wherever its first thread is.
    apart = 0 if WARP % size == 0 or size % WARP == 0 else 32
    each = {path: (nbytes + 15) // 16 * 16 + apart for path, nbytes in sizes.items()}
    needs = {path: max(-(-nbytes * block // size), block) for path, nbytes in each.items()}
    return needs if sum(needs.values()) <= MOST_SHARED else {}
