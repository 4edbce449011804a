"""The properties of a GPU that decide how work is divided on it, and how fast it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

WARP = 32  # threads that run in step: the device headers are written for it
WORD = 16  # the bytes that one instruction loads at most
REGISTER = 4  # bytes: a narrower number takes one, too
MAX_BLOCK = 1024  # threads of a block, on every GPU
# Bytes of shared memory that a block takes at most, and what the driver adds.
MOST_SHARED = 49_152 + 1024


def together(block: int) -> int:
    """Return how many blocks of `block` threads, which wait for each other, a multiprocessor has: one or two."""
    return min(2, MAX_BLOCK // block)


@dataclass(frozen=True, slots=True)
class Gpu:
    """The properties of a GPU.

    threads, blocks: the most that one multiprocessor runs at once. Of the others, 0 or "" is unknown: shared_memory:
    the bytes that a multiprocessor can have. name: of the product. l2: bytes. bandwidth: bytes a us of its memory, by
    clock and width. clock: MHz of its multiprocessors.
    """

    multiprocessors: int
    threads: int = 2048
    blocks: int = 32
    shared_memory: int = 0
    name: str = ""
    l2: int = 0
    bandwidth: int = 0
    clock: int = 0

    def at_once(self, block: int) -> int:
        """Return how many blocks of `block` threads run at once if only threads limit them."""
        return self.multiprocessors * (self.threads // block)

    def together(self, block: int) -> int:
        """Return how many blocks may wait for each other: so many run at once, whatever else they need.

        The compiler has to let a multiprocessor hold `together(block)` of them.
        """
        fit = self.shared_memory // MOST_SHARED if self.shared_memory else 2
        return self.multiprocessors * min(together(block), max(fit, 1))

    @property
    def speed(self) -> int:
        """Cycles a us of all multiprocessors; 0: unknown."""
        return self.multiprocessors * self.clock

    def like(self, other: Gpu) -> bool:
        """Whether both are the same product. Parts of one GPU (MIG) have other names, and fewer multiprocessors."""
        return (self.name, self.multiprocessors) == (other.name, other.multiprocessors)

    def times(self, other: Gpu, name: str) -> float:
        """Return how many times a property is that of another GPU; 1 if one of them is unknown."""
        here, there = getattr(self, name), getattr(other, name)
        return here / there if here and there else 1.0

    def distance(self, other: Gpu) -> float:
        """Return how far another GPU is from this one, 0 if it is the same product."""
        if self.like(other):
            return 0.0
        return sum(abs(math.log(self.times(other, name))) for name in ("bandwidth", "l2", "speed"))


LARGEST = Gpu(1)  # no GPU has multiprocessors that hold more
