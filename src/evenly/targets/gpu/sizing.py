"""How a phase is launched on the arguments at hand: grids, counts and buffers, each by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ONE = (1, 1)  # a grid of one block


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that a phase's kernels use beside the caller's arrays.

    nbytes: its size. item: bytes of an element; 4 where elements are structs that only the kernels know.
    holds: "run": what one run hands from kernel to kernel. "zeros": all zero between launches; kernels leave it so.
    "partition": what follows from the layout's structure; the phases of one layout share it, and a plan may keep it.
    """

    name: str
    nbytes: int
    item: int = 4
    holds: Literal["run", "zeros", "partition"] = "run"


@dataclass(frozen=True, slots=True)
class Sizing:
    """grids: blocks, and blocks along a dense axis; kernels of a grid of no blocks are not launched.

    counts: what kernels are told of the grids, as parameters (emit/parameters.py).
    """

    grids: Mapping[str, tuple[int, int]]
    counts: Mapping[str, int]
    buffers: tuple[Buffer, ...] = ()

    def buffer(self, name: str) -> Buffer:
        return next(b for b in self.buffers if b.name == name)
