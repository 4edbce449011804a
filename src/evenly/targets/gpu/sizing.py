"""How a phase is launched on certain arguments: its grids, counts and buffers, each with a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ONE = (1, 1)  # a grid of one block
ALIGN = 256  # bytes


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that the kernels of a phase use besides the caller's arrays.

    nbytes: its size. item: bytes of an element; 4 if elements are structs that only the kernels know.
    holds: "run": data that one kernel of a run passes to a later one.
      "zeros": all zero between launches; every kernel restores the zeros that it has overwritten.
      "partition": data that depends only on the layout's structure. The phases of one layout share it, and a plan may
      keep it.
    """

    name: str
    nbytes: int
    item: int = 4
    holds: Literal["run", "zeros", "partition"] = "run"


@dataclass(frozen=True, slots=True)
class Sizing:
    """How a phase is launched.

    grids: the number of blocks, and of blocks along a dense axis. A kernel whose grid has no blocks is not launched.
    counts: numbers of blocks that kernels take as parameters (emit/parameters.py).
    together: how many blocks own a tile together. Their number is a multiple of it.
    """

    grids: Mapping[str, tuple[int, int]]
    counts: Mapping[str, int]
    buffers: tuple[Buffer, ...] = ()
    together: int = 1

    def buffer(self, name: str) -> Buffer:
        return next(b for b in self.buffers if b.name == name)

    def zeros(self) -> dict[str, tuple[int, int]]:
        """Return where each buffer of zeros begins and ends in the memory of zeros. They lie one after the other."""
        found, end = {}, 0
        for b in (b for b in self.buffers if b.holds == "zeros"):
            begin = aligned(end) if end else 0
            found[b.name] = begin, (end := begin + b.nbytes)
        return found


def aligned(nbytes: int) -> int:
    """Return how far the next buffer begins after one of so many bytes."""
    return -(-max(nbytes, 1) // ALIGN) * ALIGN
