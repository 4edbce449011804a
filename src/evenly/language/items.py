"""Items: sets of tiles, which a batch has. Views of a batch, as layouts that schedules and loops understand.

A layout has items if it has `num_items`, `item_begin(item)` and `item_end(item)`. A loop over items is a loop over the
tiles of `Items`, whose atoms are the tiles of the batch. Within an item, an inner schedule sees `TilesOfItem`. What
sorts items by their work sees `WorkOfItems`.
"""

from __future__ import annotations

from typing import Any

from .members import Defaults

MEMBERS = ("num_items", "item_begin", "item_end")


class Items(Defaults):
    """The items of `base` as a layout: its tiles are the items, its atoms the tiles of `base`."""

    base: Any

    @property
    def num_tiles(self) -> Any:
        return self.base.num_items

    @property
    def num_atoms(self) -> Any:
        return self.base.num_tiles

    def begin(self, tile: Any) -> Any:
        return self.base.item_begin(tile)

    def end(self, tile: Any) -> Any:
        return self.base.item_end(tile)


class WorkOfItems(Items):
    """The items of `base` as a layout whose atoms are units of work: an item has one for each of its tiles and atoms.

    So an item without atoms is empty only if it has no tiles either, and then its owner walks nothing.
    """

    @property
    def num_atoms(self) -> Any:
        return self.base.num_tiles + self.base.num_atoms

    def before(self, tile: Any) -> Any:
        """The work before a tile of `base`."""
        return tile + (self.base.end(tile - 1) if tile > 0 else 0)

    def begin(self, tile: Any) -> Any:
        return self.before(self.base.item_begin(tile))

    def end(self, tile: Any) -> Any:
        return self.before(self.base.item_end(tile))


class TilesOfItem(Defaults):
    """The tiles first, ..., last - 1 of `base` as a layout of their own, whose positions begin at 0."""

    base: Any
    first: int
    last: int
    before: int  # the atoms of `base` before those of tile `first`

    @property
    def num_tiles(self) -> Any:
        return self.last - self.first

    @property
    def num_atoms(self) -> Any:
        return self.base.end(self.last - 1) - self.before if self.last > self.first else 0

    def begin(self, tile: Any) -> Any:
        return self.base.begin(self.first + tile) - self.before

    def end(self, tile: Any) -> Any:
        return self.base.end(self.first + tile) - self.before


def has_items(cls: type) -> bool:
    """Whether layouts of this class have items."""
    fields = getattr(cls, "__fields__", {})
    return all(name in fields or hasattr(cls, name) for name in MEMBERS)
