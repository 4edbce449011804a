"""Loops over the items of a batch, and over an item's tiles."""

from __future__ import annotations

from .. import reads
from ..diagnostics import Location, refuse
from ..items import MEMBERS, Items, has_items
from ..members import is_default
from .context import Context
from .values import Iterable, LayoutValue, Value


def over_items(
    cx: Context, layout: LayoutValue, arguments: tuple[Value, ...], at: Location
) -> Iterable:
    """Return what `B.items()` loops over."""
    if arguments:
        refuse(at, f"items() takes no argument, got {len(arguments)}")
    if not has_items(layout.cls):
        refuse(
            at,
            f"the items of {layout.name}: {layout.cls.__name__} has none",
            f"ev.batch([...]) makes a layout of several matrices; one of yours has {', '.join(MEMBERS)}",
        )
    if not is_default("tile_id", reads.member_of(layout.cls, "tile_id")):
        refuse(
            at,
            f"the items of {layout.name}: {layout.cls.__name__} renames its tiles",
            "give a batch tiles whose ids are their positions",
        )
    return Iterable("tiles", LayoutValue(Items, layout.path, {"base": layout}, False), (), at)


def over_tiles(
    cx: Context, layout: LayoutValue, arguments: tuple[Value, ...], at: Location
) -> Iterable:
    """Return what `L.tiles()` loops over, or `B.tiles(item)` in a loop over items."""
    if not arguments:
        return Iterable("tiles", layout, (), at)
    call = f"{layout.name}.tiles"
    if not has_items(layout.cls):
        refuse(at, f"tiles() takes no argument, got {len(arguments)}")
    if len(arguments) > 1:
        refuse(at, f"tiles() of a batch takes one item, got {len(arguments)}", f"{call}(item)")
    outer = cx.tiles
    if outer is None or tiles_of(outer.layout) is not layout or arguments[0] is not outer.id:
        refuse(
            at,
            f"{call} of something that is not the item of the loop",
            f"for item in {layout.name}.items(): ... for tile in {call}(item)",
        )
    if cx.walk is not None:
        refuse(at, f"{call} in a loop over atoms", "one loop after the other")
    return Iterable("atoms", outer.layout, (outer.position,), at)


def check_tile(cx: Context, layout: LayoutValue, given: Value, at: Location) -> None:
    """Refuse the item of the loop where a tile is wanted: both are integers."""
    outer = cx.tiles if cx.tiles is None or are_items(cx.tiles.layout) else cx.tiles.item
    if outer is not None and tiles_of(outer.layout) is layout and given is outer.id:
        call = f"{layout.name}.tiles(item)"
        refuse(
            at,
            f"{layout.name}.atoms of an item",
            f"for tile in {call}: ... {layout.name}.atoms(tile)",
        )


def check_no_items(cx: Context, call: str, instead: str, at: Location) -> None:
    """Refuse a call that is for loops over all tiles in a loop over items, or over an item's tiles."""
    if cx.tiles is not None and (cx.tiles.item is not None or are_items(cx.tiles.layout)):
        refuse(at, f"{call} in a loop over items", instead)


def check_not_of_item(cx: Context, at: Location) -> None:
    """Refuse a scratch array of an item's tile, since the tiles of an item run at the same time."""
    if cx.tiles is not None and cx.tiles.item is not None:
        hint = "make it in the loop over items; a tile uses its part of it: h[tile - B.item_begin(item)]"
        refuse(at, "ev.scratch in a loop over an item's tiles", hint)


def are_items(layout: LayoutValue) -> bool:
    """Whether the tiles of `layout` are the items of a batch."""
    return layout.cls is Items


def tiles_of(layout: LayoutValue) -> LayoutValue | None:
    """Return the batch whose items `layout` has; None for other layouts."""
    base = layout.fields["base"] if are_items(layout) else None
    return base if isinstance(base, LayoutValue) else None


def word(layout: LayoutValue) -> str:
    """Return what a loop over `layout` runs over, in the user's words."""
    if getattr(layout.cls, "tasks", False):
        return "tasks"
    return "items" if are_items(layout) else "tiles"


def inner_word(layout: LayoutValue) -> str:
    """Return what the tiles of `layout` consist of."""
    return "tiles" if are_items(layout) else "atoms"
