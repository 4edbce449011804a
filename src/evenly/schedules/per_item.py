"""An inner schedule whose groups are larger where the tiles of an item are longer.

Source: the CSR-smart kernel of Anzt et al. (ScalA 2017): a problem's mean row length says how many threads a row has.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from evenly.errors import InputError
from evenly.language.func import Func, func

from .contract import Schedule, Sizes
from .group_mapped import GroupMapped
from .thread_mapped import ThreadMapped


@func
def lanes(B, item):
    """Return a sixth of the mean number of atoms of an item's tiles; 1 for an item without tiles."""
    first = B.item_begin(item)
    last = B.item_end(item)
    return (B.end(last - 1) - B.begin(first)) // (6 * (last - first)) if last > first else 1


@dataclasses.dataclass(frozen=True, repr=False)
class PerItem(Schedule):
    """The inner schedule that `per_item` makes. It has the code of GroupMapped for each size."""

    width: Func = lanes
    items: int = 4

    engine = "owned"
    owner = "thread"  # for schedules around it: the size is known when an item is
    block = 256

    def launch(self, layout: Sizes) -> tuple[int, int]:
        return 1, self.block  # the outer schedule's counts

    def __repr__(self) -> str:
        return f"per_item({self.width.function.__name__}, items={self.items})"

    def sizes(self, owner: int) -> list[int]:
        """Return the sizes of groups that it chooses from, for an item with so many threads."""
        return [n for n in (1, 2, 4, 8, 16, 32) if owner % n == 0]

    def of(self, size: int) -> Schedule:
        """Return the schedule for groups of this size."""
        if size == 1:
            return ThreadMapped(self.block, self.items)
        return GroupMapped(size, self.block, items=self.items)


def per_item(width: Any = lanes, *, items: int = 4) -> PerItem:
    """Make an inner schedule for `ev.Nested` with a group for each tile, whose size differs from item to item.

    width: an `@ev.func` of a batch and an item. A group has the least power of two of threads that is not less than
      what it returns, from 1 to 32, that divides the threads of the item. Default: a sixth of the mean number of atoms
      of the item's tiles.
    items: as in ThreadMapped and GroupMapped.

    Raises InputError for a width that is no `@ev.func`, and a number of items that is out of range.

    >>> import evenly as ev
    >>> str(ev.Nested(ev.BlockMapped(128), ev.per_item()).inner)
    'per_item(lanes, items=4)'
    """
    if not isinstance(width, Func):
        raise InputError(
            "per_item(width)", expected="an @ev.func of a batch and an item", given=repr(width)
        )
    ThreadMapped(items=items)  # checks them
    return PerItem(width, items)
