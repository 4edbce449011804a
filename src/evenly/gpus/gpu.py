"""The properties of a GPU that decide how work is divided on it."""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32  # threads that run in step: the device headers are written for it
MAX_BLOCK = 1024  # threads of a block, on every GPU


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


LARGEST = Gpu(1)  # no GPU has multiprocessors that hold more
