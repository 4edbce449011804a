"""The rule of `auto` for kernels that read so many atoms, in the order of memory, that memory is what they wait for.

Where tiles are of about one length, groups walk them; else blocks take equal shares of the atoms. Either reads runs of
adjacent atoms, 16 bytes at a time: what counts is that many bytes are under way.
"""

from __future__ import annotations

from typing import Any

from evenly import schedules as s
from evenly.gpus.gpu import WARP, WORD

from .powers import power_from, power_up_to
from .statistics import Statistics
from .task import CALL, Task

RUN = 8  # adjacent atoms of a thread, at most
NARROW = 4  # bytes of a number that takes one register
ONE = 8  # bytes of a tile's accumulators that are one number


def for_streams(
    st: Statistics, task: Task, numbers: dict[str, Any]
) -> tuple[s.Schedule, str] | None:
    """Return the schedule for such a kernel, and why; None if there are few atoms, or nearly all tiles are empty."""
    held = numbers["streams"]
    if st.atoms * task.atom_bytes < held["least"] or st.empty > held["empty"]:
        return None
    run, wide = run_of(task.atom_bytes), task.located and task.width > NARROW
    enough = held["threads"] * numbers["multiprocessors"]
    size = _lanes(st, held["each"])
    if task.width > NARROW and task.operations > CALL and not task.located:
        fewer = _lanes(st, held["each_long"])
        size = fewer if st.tiles * fewer >= enough else size
    least, items = held["short"], held["items"]
    if wide and size < held["short_located"][0]:
        least, items = held["short_located"]
    alike = st.greatest <= held["alike"] * st.mean
    if task.streams and alike and st.tiles * size >= enough:
        said = f"groups read {st.atoms:,} atoms in order, in tiles of about {st.mean:.1f}"
        return s.GroupMapped(max(size, least), items=max(items, run), run=run), said
    said = f"blocks take equal shares of {st.atoms:,} atoms, which they read in order"
    narrow = task.streams and task.value_bytes <= ONE and task.width <= NARROW
    block, items = held["one" if task.scans or narrow else "located" if wide else "more"]
    return s.NonzeroSplit(block, items, run=1 if task.scans else run), said


def _lanes(st: Statistics, each: int) -> int:
    """Return the lanes of a tile that have about so many atoms each."""
    return min(power_from(st.greatest / each), WARP)


def run_of(atom_bytes: int) -> int:
    """Return how many adjacent atoms one instruction loads."""
    return min(power_up_to(WORD / atom_bytes), RUN)
