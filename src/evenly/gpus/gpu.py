"""The properties of a GPU that decide how work is divided on it."""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32  # threads that run in step: the device headers are written for it
MAX_BLOCK = 1024  # threads of a block, on every GPU
MOST_SHARED = (
    49_152 + 1024
)  # bytes of shared memory that a block takes at most, and what the driver adds


def together(block: int) -> int:
    """Return how many blocks of `block` threads, which wait for each other, a multiprocessor has: one or two."""
    return min(2, MAX_BLOCK // block)


@dataclass(frozen=True, slots=True)
class Gpu:
    """The limits of a GPU.

    threads, blocks: the most that one multiprocessor runs at once. shared_memory: the bytes that one has; 0: unknown.
    """

    multiprocessors: int
    threads: int = 2048
    blocks: int = 32
    shared_memory: int = 0

    def at_once(self, block: int) -> int:
        """Return how many blocks of `block` threads run at once if only threads limit them."""
        return self.multiprocessors * (self.threads // block)

    def together(self, block: int) -> int:
        """Return how many blocks may wait for each other: so many run at once, whatever else they need.

        The compiler has to let a multiprocessor hold `together(block)` of them.
        """
        fit = self.shared_memory // MOST_SHARED if self.shared_memory else 2
        return self.multiprocessors * min(together(block), max(fit, 1))


LARGEST = Gpu(1)  # no GPU has multiprocessors that hold more
