"""frontier: tiles of a layout that kernels append while others are walked.

`F.push(v)` in a kernel appends tile v of the base. `for u in F.tiles():` walks what was pushed before; what is pushed
meanwhile is walked by the next such loop. The lists are in the memory of the device, and so are their counts: the host
reads neither. One atomic addition gives a push its place in the list and, in the lower bits, the number of atoms before
it, so that the offsets need no prefix sum of their own.

Source: frontiers of Gunrock (Wang et al., PPoPP 2016); the tile set of Osama et al. (PPoPP 2023), Listing 5.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy, wait_for
from evenly.language.members import Growing, is_default
from evenly.language.names import atomic_add, atomic_exch
from evenly.layouts.contract import (
    Array,
    Index,
    Layout,
    LayoutInstance,
    Static,
    is_layout,
    layout,
)
from evenly.layouts.moving import an_array
from evenly.layouts.search import Searched

MOST = 2**31  # tiles in a list, and atoms of them: an addition to `pushed` counts both


@layout
class Frontier(Searched):
    """The tiles that a kernel has pushed (`F = ev.frontier(G)`). As a layout it is a list of tiles of `base`.

    It has two lists, one that is walked and one that is pushed to. They lie one after the other in `selected` and
    `offsets`, and change places when a loop over its tiles begins.
    """

    base: Layout
    selected: Array[Index]  # (places,), the tiles of both lists
    offsets: Array[Index]  # (places,), the number of atoms before each of them in its list
    walked: Array[Index]  # (4,): tiles, atoms, first place of the walked list; lists so far
    pushed: Array  # (2,) int64: tiles * 2**32 + atoms of the other; whether it overflowed
    places: int  # twice the capacity, and two
    most_atoms: int
    unique: Static  # 1: a tile that waits is not pushed again
    checked: int  # 0: the caller knows that there is room
    marks: Array  # (tiles of the base,) int32, if unique: the list that a tile was last pushed to

    delegate = "base"
    valid_of = "base"
    id_bounds = {"tile_id": "base", "atom_id": "base"}
    growing = Growing(
        swap="_swap",
        length="_waiting",
        push="push",
        waiting=frozenset({"waiting_atoms"}),
        hidden=frozenset(
            {
                "selected",
                "offsets",
                "walked",
                "pushed",
                "places",
                "most_atoms",
                "unique",
                "checked",
                "marks",
            }
        ),
    )

    @property
    def num_tiles(self):
        return self.walked[0]

    @property
    def num_atoms(self):
        return self.walked[1]

    @property
    def max_tiles(self) -> int:
        return self.places // 2 - 1

    @property
    def max_atoms(self) -> int:
        return self.most_atoms

    def begin(self, tile):
        return self.offsets[self.walked[2] + tile]

    def end(self, tile):
        return self.offsets[self.walked[2] + tile + 1]

    def _base_position(self, tile, position):
        return self.base.begin(self._selected(tile)) + (position - self.begin(tile))

    def _selected(self, tile):
        return self.selected[self.walked[2] + tile]

    def tile_id(self, tile):
        return self._selected(tile)

    def atom_id(self, tile, position):
        return self.base.atom_id(self._selected(tile), self._base_position(tile, position))

    def valid(self, tile, position):
        return self.base.valid(self._selected(tile), self._base_position(tile, position))

    # ---- in kernels ------------------------------------------------------------------------------
    def push(self, v):
        """Append tile v of the base to the list that the next loop over the tiles walks."""
        fresh = True
        if self.unique:
            now = np.int32(self.walked[3] + 1)
            fresh = atomic_exch(self.marks, v, now) != now
        if fresh:
            self._append(v)

    def _append(self, v):
        atoms = np.int64(self.base.end(v) - self.base.begin(v))
        before = atomic_add(self.pushed, 0, atoms + 4294967296)
        place = before >> 32
        begin = before & 4294967295
        if place >= 0 and place < self.places // 2 - 1 and begin + atoms <= self.most_atoms:
            first = self.places // 2 - self.walked[2]
            self.selected[first + place] = v
            self.offsets[first + place] = begin
        else:
            self.pushed[1] = 1

    @property
    def _waiting(self):
        """The number of tiles that wait to be walked; 0 if there was no room for all of them."""
        return self.pushed[0] >> 32 if self.pushed[1] == 0 else 0

    @property
    def waiting_atoms(self):
        """The number of atoms that those tiles have."""
        return self.pushed[0] & 4294967295 if self.pushed[1] == 0 else 0

    def _swap(self):
        """Make the list that was pushed to the one that is walked, and the other one empty."""
        tiles = self._waiting
        atoms = self.waiting_atoms
        first = self.places // 2 - self.walked[2]
        self.walked[0] = tiles
        self.walked[1] = atoms
        self.walked[2] = first
        self.walked[3] = self.walked[3] + 1
        self.offsets[first + tiles] = atoms
        self.pushed[0] = 0

    # ---- on the host -----------------------------------------------------------------------------
    def __len__(self) -> int:
        """The number of tiles that wait to be walked. On a GPU this waits for the device."""
        self.check()
        return int(self._counts()[0]) >> 32

    def _counts(self) -> np.ndarray[Any, Any]:
        wait_for(self.pushed)  # whatever stream the kernel ran on
        return to_numpy(self.pushed)

    @property
    def may_overflow(self) -> bool:
        """Whether more may be pushed than there is room for, as far as is known."""
        return bool(self.checked) and not self.unique

    def check(self, name: str = "frontier") -> None:
        """Raise InputError if a kernel pushed more than there is room for. On a GPU this waits for the device.

        name: what the error calls it.
        """
        if self._counts()[1]:
            raise InputError(
                name,
                expected=f"at most {self.max_tiles} tiles with {self.most_atoms} atoms at a time",
                given="more",
                hint="ev.frontier(G, unique=True) keeps duplicates out; capacity= makes more room",
            )


def frontier(
    base: Any,
    *,
    capacity: int | None = None,
    unique: bool = False,
    check: bool = True,
    name: str = "G",
) -> Frontier:
    """Make an empty frontier over the layout `base`: tiles that kernels append while others are walked.

        F.push(v)              in a kernel: append tile v of the base
        len(F)                 in a kernel, outside loops over tiles: how many tiles wait to be walked
        F.waiting_atoms        there, too: how many atoms they have
        for u in F.tiles():    walk them; what is pushed meanwhile is walked next time

    The tiles of a list are in no particular order. Atoms and accessors are those of the base: F.atoms(u), F.column(e).

    capacity: the most tiles that may wait at a time, with as many times the atoms of the base as that is times its
      tiles; default: the tiles of the base.
    unique: keep a tile out that waits already. Such a frontier always has room.
    check: False: you know that there is room, since the kernel itself pushes no tile twice. Calls do not look.

    A call raises InputError if it pushed more than there is room for. On a GPU it waits for that, unless `unique` or
    `check=False`. If there is no room after all, the frontier then counts as empty, and `F.check()` raises the error.

    Raises InputError for a base whose tiles have other ids than 0, 1, ..., and for a capacity that is too large or too
    small.
    """
    if not is_layout(base):
        hint = "frontier(layout): make one with ev.csr(matrix)"
        raise InputError(name, expected="a layout", given=type(base).__name__, hint=hint)
    if not is_default("tile_id", type(base).tile_id):
        given = f"{type(base).__name__}, which renames them"
        raise InputError(name, expected="a layout that numbers its tiles", given=given)
    tiles, atoms = int(base.max_tiles), int(base.max_atoms)
    capacity = tiles if capacity is None else _whole(capacity)
    least = tiles if unique else min(1, tiles)
    if not least <= capacity < MOST:
        expected = f"at least {least}" if capacity < least else f"fewer than {MOST}"
        raise InputError("capacity", expected=expected, given=str(capacity))
    most = atoms if unique else atoms * max(1, -(-capacity // max(tiles, 1)))
    if most >= MOST:
        raise InputError("capacity", expected=f"fewer than {MOST} atoms", given=str(most))
    return _made(base, 2 * capacity + 2, most, unique, check)


def _whole(capacity: Any) -> int:
    try:
        return operator.index(capacity)
    except TypeError:
        raise InputError("capacity", expected="an integer", given=repr(capacity)) from None


def _made(base: LayoutInstance, places: int, most: int, unique: bool, check: bool) -> Frontier:
    found = an_array(base)
    like = np.empty(0) if found is None else found
    marks = arrays.zeros(like, (int(base.max_tiles) if unique else 0,), np.int32)
    selected, offsets = (arrays.empty(like, (places,), np.int32) for _ in range(2))
    walked, pushed = (arrays.zeros(like, (count,), np.int64) for count in (4, 2))
    numbers = places, most, int(unique), int(check)
    return Frontier(base, selected, offsets, walked, pushed, *numbers, marks)
