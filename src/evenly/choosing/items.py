"""The rule of `auto` for kernels with loops over items: who takes an item, and who its tiles."""

from __future__ import annotations

import weakref
from typing import Any

from evenly import schedules as s
from evenly.gpus.gpu import WARP
from evenly.gpus.numbers import numbers
from evenly.interop.arrays import dtype_of
from evenly.layouts.pattern import PatternBatch
from evenly.schedules.nested import levels

from .powers import power_next_to
from .reuse import reuse
from .statistics import Statistics, statistics, work_of_items
from .task import Task

ON_CPU = s.ThreadMapped(), "a worker of a CPU walks whole items"


def for_items(layout: Any, task: Task) -> tuple[s.Schedule, str]:
    """Return the schedule for the items of a layout on a GPU, and why."""
    held = numbers()["items"]
    tiles, atoms, items = (int(n) for n in (layout.max_tiles, layout.max_atoms, layout.num_items))
    size, length = tiles / max(items, 1), atoms / max(tiles, 1)
    threads, lanes = _of_the_mean(size, length, held)
    why = f"items of {size:.1f} tiles of {length:.1f} atoms, in the mean"
    st = work_of_items(layout)
    alike, small = _alike(st, held), st.mean < held["warp"]
    longest = statistics(layout).greatest if task.splits else 0
    share = f"{why}; the longest tile has {longest:,}: threads share atoms"
    if alike and st.mean >= held["grid"] and 2 * items <= held["blocks"]:
        if longest / lanes > atoms / items / held["split"][0]:
            return _shared(held), share
        blocks = held["blocks"] // items
        why += f"; {items} large items have {blocks} blocks each"
        return s.Nested(s.TeamMapped(blocks), _inner(lanes, held)), why
    if alike or (small and st.greatest <= held["steps"] * threads):
        mean = atoms / max(items, 1) / threads
        if threads > WARP and longest / lanes > held["uneven"] * mean:
            return _shared(held), share
        return _equal(threads, lanes, held), why
    why += f"; they differ (spread {st.spread:.2f}), and the largest has {st.greatest:,} tiles and atoms"
    if least := _huge(st, held):
        why += f": all blocks walk those of {least:,} and more together"
        by_work = s.Lrb(held["block"], warp=held["warp"], grid=least)
        return s.Nested(by_work, s.per_item()), why
    if small and task.kept:
        return s.Nested(s.Lrb(held["block"], warp=held["warp"]), s.per_item()), why
    why += "; one call does not pay for sorting them" if small else "; most fill a block"
    return s.Nested(s.BlockMapped(held["block"]), s.per_item()), why


def walks_items(layout: Any) -> bool:
    """Whether a product of rows is quicker in a loop over items, on a GPU: many of one pattern, a block each.

    That is so where columns lie apart. A block then fetches its item's part of x into L1 once; rows alone go to several
    blocks an item, each of which fetches most of it.
    """
    if not isinstance(layout, PatternBatch):
        return False
    known = _walks.get(layout)
    if known is None:
        known = _walks[layout] = _fills_blocks(layout)
    return known


_walks: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


def _fills_blocks(layout: Any) -> bool:
    held = numbers()["items"]
    if layout.num_items < held["many"] or work_of_items(layout).mean >= held["grid"]:
        return False
    schedule, _ = for_items(layout, Task(items=True, splits=True))
    outer, inner = levels(schedule)
    if outer.block != held["block"] or inner.engine != "owned" or inner.size == 1:
        return False
    return reuse(layout, dtype_of(layout.values).itemsize).apart >= float(held["apart"])


def _of_the_mean(size: float, length: float, held: dict[str, Any]) -> tuple[int, int]:
    """Return the threads of an item, and of each of its tiles, from the mean numbers of tiles and atoms."""
    lanes = min(power_next_to(length / held["atoms"]), WARP)
    threads = min(max(power_next_to(size * lanes / held["tiles"]), lanes), held["block"])
    if threads <= WARP:  # an item of a few rounds waits for each: so it has fewer of them
        lanes = max(lanes, 2 if length > held["atoms"] else 1)
        threads = max(threads, min(power_next_to(min(size, held["few"])) * lanes, WARP))
    return threads, lanes


def _alike(st: Statistics, held: dict[str, Any]) -> bool:
    """Whether the owner of a mean item is right for all of them."""
    regular = float(numbers()["regular_spread"])
    return st.spread <= regular and st.greatest <= float(held["largest"]) * st.mean


def _huge(st: Statistics, held: dict[str, Any]) -> int:
    """Return the work, a power of two, from which all blocks shall walk an item together; 0: none is so large.

    One block would hold the launch with it, since it is several times a block's part of all work. And it pays for the
    barriers of all blocks, of which each such item has its own.
    """
    least = 1 << (int(max(held["grid"], 4 * st.atoms // held["blocks"])) - 1).bit_length()
    squares = st.tiles * (st.deviation**2 + st.mean**2)
    such = squares / max(st.greatest, 1) ** 2  # as many of the greatest have this sum of squares
    return least if st.greatest >= max(least, such * held["grid"]) else 0


def _shared(held: dict[str, Any]) -> s.Schedule:
    block, loads = held["split"]
    return s.Nested(s.BlockMapped(block), s.NonzeroSplit(block, loads))


def _equal(threads: int, lanes: int, held: dict[str, Any]) -> s.Schedule:
    inner = _inner(lanes, held)
    if threads == 1:
        return s.Nested(s.ThreadMapped(), inner)
    outer = s.GroupMapped(threads) if threads <= WARP else s.BlockMapped(threads)
    return s.Nested(outer, inner)


def _inner(lanes: int, held: dict[str, Any]) -> s.Schedule:
    return s.GroupMapped(lanes) if lanes > 1 else s.ThreadMapped(items=held["alone"])
