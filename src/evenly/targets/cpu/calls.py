"""The layout of the record that the native call of a phase gets. `run` writes it and `driver` reads it."""

from __future__ import annotations

# Its integers: the addresses of the function, of the slots and of arrays that are shared with the host; how many lanes
# and workers there is scratch memory for; whether partial results are joined; the rule by which work is divided.
ADDRESS, SLOTS, FACTS_AT, SHARES_AT, QUEUES_AT, CAPACITY_LANES, CAPACITY_WORKERS, JOINS, RULE = (
    range(9)
)
# A loop's record: the address of its condition, and how many phases a round has. Then for each of them whether it has
# no tiles, so that one worker runs it, and the address of its function, or of its record.
CONDITION_AT, COUNT, FIRST = range(3)
PER_PHASE = 2
# How a run of rounds ended, if not at a phase that has too little memory: the condition is false; there may be more.
OVER, MORE = -1, -2
QUEUE = 8  # integers from the queue of one thread to that of the next: a cache line
