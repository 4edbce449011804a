"""Where the words of a crew are (see `crew`), and how the host starts it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LINE = 16  # words
# Bits that say what to do between two tasks, and how many workers wait; how many of those that have begun have tasks;
# how many others have some from an earlier call; how many tasks of the list have been taken.
ATTENTION, BUSY, ABSENT, TAKEN = (LINE * i for i in range(4))
# After how many nanoseconds a call ends; how many tasks are taken from the list at a time; whether an earlier call has
# begun the loop.
LASTS, CHUNK, RESUMED = (LINE * 4 + i for i in range(3))
START = LINE * 5
# Of each worker: its box, and what else it has, which is read and written by itself alone.
OWN = LINE * 2
BOX, HELD, BOTTOM, RAN, GOT, IN_VAIN, MOST, IDLE, THERE = 0, *(LINE + i for i in range(8))
PAUSED, FULL = 1 << 40, 1 << 41

ROOM = 1024  # tasks in a stack; a power of two
HANDED = 256  # the most that are handed over at a time
CHUNKS = 8  # parts of the list for each worker
LARGEST_CHUNK = 64
LOOKS = 5_000  # nanoseconds from one look at the clock to the next
MOST_BETWEEN = 64  # tasks between two of them

Words = npt.NDArray[np.int64]


def made(workers: int, waiting: int) -> Words:
    """Return the words for `workers`, where a list of tasks waits."""
    crew = np.zeros(START + OWN * workers, np.int64)
    crew[CHUNK] = min(max(waiting // (CHUNKS * workers), 1), LARGEST_CHUNK)
    return crew


def begin(crew: Words, lasts: int) -> None:
    """Prepare the next call of the workers. lasts: its nanoseconds."""
    crew[ATTENTION] &= FULL
    crew[BUSY], crew[ABSENT] = 0, np.count_nonzero(crew[START + HELD :: OWN])
    crew[LASTS] = lasts


def ended(crew: Words, waiting: int) -> bool:
    """Whether no tasks are left. Say that the workers have begun."""
    crew[RESUMED] = 1
    return bool(crew[TAKEN] >= waiting and not crew[START + HELD :: OWN].any())
