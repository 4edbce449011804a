"""The layout of the record that the native call of a phase gets. `run` writes it and `driver` reads it."""

from __future__ import annotations

# Its integers: the addresses of the function, of the slots and of arrays that are shared with the host; how many lanes
# and workers there is scratch memory for; whether partial results are joined; the rule by which work is divided.
ADDRESS, SLOTS, FACTS_AT, SHARES_AT, QUEUES_AT, CAPACITY_LANES, CAPACITY_WORKERS, JOINS, RULE = (
    range(9)
)
# The threads that the call may use: only the caller's, or Numba's.
ALONE, ALL = range(2)
