"""What of a GPU decides how work is divided on it."""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32  # threads that run in step: the device headers are written for it
MAX_BLOCK = 1024  # threads of a block, on every GPU


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU: its multiprocessors, and what one of them holds at most.

    threads, blocks: at once. shared_memory: bytes, as far as it is known.
    """

    multiprocessors: int
    threads: int = 2048
    blocks: int = 32
    shared_memory: int = 0

    def at_once(self, block: int) -> int:
        """How many blocks of `block` threads run at once, as far as their threads bound them."""
        return self.multiprocessors * (self.threads // block)


LARGEST = Gpu(1)  # no GPU has multiprocessors that hold more
