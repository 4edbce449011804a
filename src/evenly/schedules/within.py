"""The inner of two nested schedules, where teams of several sizes take items."""

from __future__ import annotations

import dataclasses
from typing import Any

from evenly.errors import InputError

from .contract import Schedule
from .group_mapped import BlockMapped, GroupMapped, WarpMapped
from .thread_mapped import ThreadMapped


def within(inner: Any, threads: int) -> Schedule | None:
    """Return the inner schedule for an item that has so many threads: its groups are at most as large as that.

    None: its groups are larger, and their size is no parameter.
    """
    made: Schedule = inner
    if inner.owner != "group" or inner.size <= threads:
        return made
    if isinstance(inner, GroupMapped | WarpMapped | BlockMapped):
        if threads == 1:
            return ThreadMapped(inner.block, inner.items)
        return GroupMapped(threads, max(inner.block, threads), items=inner.items, run=inner.run)
    if "size" in type(inner).__dataclass_fields__:
        made = dataclasses.replace(inner, size=threads)
        return made
    return None


def check_within(inner: Any, size: int, teams: list[int]) -> None:
    """Raise InputError unless teams of all these sizes can walk the tiles of an item.

    size: the threads of a group of the inner schedule.
    """
    most, fixed = max(teams), within(inner, 1) is None
    if size > most or size & (size - 1) or fixed:
        expected = f"groups of a power of two of threads, at most {most}"
        raise InputError(
            "Nested.inner",
            expected=expected + ", whose class has a parameter `size: int = ...`" * fixed,
            given=str(inner),
            hint=f"an item belongs to {', '.join(map(str, teams[:-1]))} or {most} threads, by its work; groups are at "
            "most as large as that",
        )
