"""What the native call of a phase is given, which `run` writes and `driver` reads."""

from __future__ import annotations

# Integers: its function and slots, the addresses of what it shares with the host, the room for what workers leave
# (lanes and workers), whether that is joined, and how the work is divided.
ADDRESS, SLOTS, FACTS_AT, SHARES_AT, QUEUES_AT, ROOM_LANES, ROOM_WORKERS, JOINS, RULE = range(9)
# The threads that it may use: the caller's alone, or Numba's.
ALONE, ALL = range(2)
