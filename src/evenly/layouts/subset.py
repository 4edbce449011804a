"""subset: some tiles of a layout, in any order, without a copy (a frontier, a cut).

Use it if only some rows or vertices have work. `tiles()` yields the base's tile ids and
`atoms(v)` the base's atom ids, so the same kernel runs over both. Source: the frontier
as a tile set, Osama et al. (PPoPP 2023), Listing 5; Gunrock.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.hooks import hook
from evenly.interop import arrays
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, Layout, LayoutInstance, is_layout, layout
from evenly.layouts.entries import check_distinct, check_offsets, check_range
from evenly.layouts.fields import as_field
from evenly.layouts.moving import bounds, device_of
from evenly.layouts.search import Searched


@layout
class Subset(Searched):
    """Some tiles of `base`. Tile t is tile selected[t] of the base, and begins at position offsets[t]."""

    base: Layout
    selected: Array[Index]  # (max_tiles,), distinct tile positions of the base
    offsets: Array[Index]  # (max_tiles + 1,), the prefix sums of the tiles' sizes

    delegate = "base"
    valid_of = "base"
    id_bounds = {"tile_id": "base", "atom_id": "base"}

    @property
    def num_tiles(self):
        return len(self.selected)

    @property
    def num_atoms(self):
        return self.offsets[self.num_tiles]

    @property
    def max_tiles(self) -> int:
        return len(self.selected)

    @property
    def max_atoms(self) -> int:
        """The number of atoms; on a GPU, a bound of it: the base's number of atoms, since tiles are distinct."""
        if type(self.offsets) is np.ndarray:
            return int(self.num_atoms)
        return int(self.base.max_atoms)

    def begin(self, tile):
        return self.offsets[tile]

    def end(self, tile):
        return self.offsets[tile + 1]

    def _base_position(self, tile, position):
        return self.base.begin(self.selected[tile]) + (position - self.offsets[tile])

    def tile_id(self, tile):
        return self.base.tile_id(self.selected[tile])

    def atom_id(self, tile, position):
        return self.base.atom_id(self.selected[tile], self._base_position(tile, position))

    def valid(self, tile, position):
        return self.base.valid(self.selected[tile], self._base_position(tile, position))

    def validate(self, name: str = "A") -> None:
        """Check every selected tile and every offset. Raises InputError for the first that is wrong."""
        count = int(self.num_tiles)
        check_range(self.selected[:count], self.base.num_tiles, f"{name}.tiles", "tiles")
        check_offsets(self.offsets[: count + 1], f"{name}.offsets")


@layout
class CountedSubset(Subset):
    """A :class:`Subset` whose number of tiles is read from an array (a frontier on the GPU).

    Only the first count[0] entries of `selected` are tiles.
    """

    count: Array[Index]  # (1,)

    @property
    def num_tiles(self):
        return self.count[0]


def subset(
    base: Any,
    tiles: Any,
    *,
    count: Any = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Subset:
    """Make a layout of some tiles of the layout `base`, in the given order.

    tiles: distinct tile positions of the base, (n,), int32 or int64, on its device.
    count: an array (1,) of an integer in 0 .. n, on the same device: only the first count[0]
      of `tiles` are used. On a GPU, the host never reads it.
    check: in CPU memory, check that `tiles` are distinct tiles of the base. On a GPU nothing
      is checked, so that the call does not wait for it.
    validate: check every entry on any device, and the whole contract of layouts.

    The offsets are computed here, once. If you change `tiles` or `count`, make a new subset.

    Raises InputError for malformed arrays.
    """
    if not is_layout(base):
        hint = "subset(layout, tiles): make one with ev.csr(matrix)"
        raise InputError(name, expected="a layout", given=type(base).__name__, hint=hint)
    chosen = as_field(tiles, f"{name}.tiles", index=True)
    if len(chosen.shape) != 1:
        given = f"shape {tuple(chosen.shape)}"
        raise InputError(f"{name}.tiles", expected="an array of 1 axis", given=given)
    _beside(base, chosen, f"{name}.tiles")
    if count is not None:
        count = as_field(count, f"{name}.count", index=True)
        if tuple(count.shape) != (1,):
            given = f"shape {tuple(count.shape)}"
            raise InputError(f"{name}.count", expected="an array of shape (1,)", given=given)
        _beside(base, count, f"{name}.count")
        if type(count) is np.ndarray and not 0 <= count[0] <= len(chosen):
            given = str(count[0])
            raise InputError(f"{name}.count", expected=f"0..{len(chosen)}", given=given)
    if type(chosen) is np.ndarray:
        used = chosen if count is None else chosen[: int(count[0])]
        if check:
            check_range(used, base.num_tiles, f"{name}.tiles", "tiles")
            check_distinct(used, f"{name}.tiles", "tiles")
    offsets = prefix_sums(base, chosen, count)
    if count is None:
        return finished(Subset(base, chosen, offsets), name, False, validate)
    return finished(CountedSubset(base, chosen, offsets, count), name, False, validate)


def cut(layout: LayoutInstance, tiles: Any) -> Any:
    """The consecutive tiles `tiles` of any layout, as a subset that keeps their ids."""
    start, stop = bounds(tiles, layout.num_tiles)
    return subset(layout, np.arange(start, stop))


def prefix_sums(base: LayoutInstance, tiles: Any, count: Any = None) -> Any:
    """Return the prefix sums (n + 1,) of the lengths of the base's `tiles` (n,), on their device.

    Tiles from count[0] on count as empty. The dtype is int32 if the sums fit, else int64.
    """
    if type(tiles) is not np.ndarray:
        return sums_on_gpu(base, tiles, count)
    used = tiles if count is None else tiles[: int(count[0])]
    try:
        sizes = base.end(used) - base.begin(used)
    except (TypeError, ValueError):  # the layout's methods take one tile at a time
        sizes = np.array([base.end(t) - base.begin(t) for t in used], np.int64)
    sums = np.zeros(len(tiles) + 1, np.int64)
    np.cumsum(np.broadcast_to(sizes, used.shape), out=sums[1 : len(used) + 1])
    sums[len(used) + 1 :] = sums[len(used)]
    return sums.astype(np.int32) if sums[-1] <= np.iinfo(np.int32).max else sums


@hook
def sums_on_gpu(base: LayoutInstance, tiles: Any, count: Any = None) -> Any:
    """`prefix_sums` for tiles on a GPU. The host reads nothing back."""
    raise NotImplementedError


def _beside(base: LayoutInstance, array: Any, name: str) -> None:
    where = device_of(base)
    if arrays.view(array, name).device != where:
        expected = f"an array beside the layout, on {where}"
        raise InputError(name, expected=expected, given=f"one on {arrays.view(array).device}")
