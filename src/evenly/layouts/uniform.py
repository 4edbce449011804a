"""uniform: the atoms of any layout, in tiles of equal size that ignore the base's tiles.

Use it if the work depends on atoms only (a histogram, an atomic scatter): every processor
then gets the same amount. Kernels on whole rows are refused.
Source: the even shares of Baxter's moderngpu.
"""

from __future__ import annotations

from typing import Any

from evenly.errors import InputError
from evenly.layouts.arguments import size_of
from evenly.layouts.checker import finished
from evenly.layouts.contract import Layout, LayoutInstance, is_layout, layout, leaves


@layout
class Uniform(LayoutInstance):
    """Tile t has the atoms from position t * size on of `base`, whose atom ids are its positions.

    The accessors are the base's. One that needs a tile gets the base's own tile,
    `_owner(position)`.
    """

    base: Layout
    size: int  # atoms of each tile, at least 1

    delegate = "base"
    delegate_tile = "_owner"
    valid_of = "base"
    row_kernels = "the tiles of ev.uniform cross rows, so nothing of a whole row is known in one"

    @property
    def num_tiles(self):
        return (self.base.num_atoms + self.size - 1) // self.size

    @property
    def num_atoms(self):
        return self.base.num_atoms

    @property
    def max_tiles(self) -> int:
        return int((self.base.max_atoms + self.size - 1) // self.size)

    @property
    def max_atoms(self) -> int:
        return int(self.base.max_atoms)

    def begin(self, tile):
        return tile * self.size

    def end(self, tile):
        return (
            (tile + 1) * self.size
            if (tile + 1) * self.size < self.base.num_atoms
            else self.base.num_atoms
        )

    def tile_of(self, atom):
        return atom // self.size

    def _owner(self, position):
        return self.base.tile_id(self.base.tile_of(position))

    def valid(self, tile, position):
        return self.base.valid(self.base.tile_of(position), position)


@layout
class UniformOfIds(Uniform):
    """A :class:`Uniform` of a base whose atom ids are not its positions."""

    id_bounds = {"atom_id": "base"}

    def atom_id(self, tile, position):
        return self.base.atom_id(self.base.tile_of(position), position)


def uniform(size: Any, base: Any, *, validate: bool = False, name: str = "A") -> Uniform:
    """Make a layout of the atoms of `base` with `size` atoms in each tile. The last tile may have fewer.

    The base needs `tile_of`; all built-in layouts have it.

    Raises InputError if `size` is not an integer of at least 1, or `base` is not such a layout.
    """
    if not is_layout(base):
        hint = "uniform(size, layout): make one with ev.csr(matrix)"
        raise InputError(name, expected="a layout", given=type(base).__name__, hint=hint)
    atoms = size_of(size, "size")
    if not hasattr(type(base), "tile_of"):
        raise InputError(name, expected="a layout with tile_of(atom)", given=type(base).__name__)
    cls = Uniform if leaves(type(base), "atom_id") else UniformOfIds
    return finished(cls(base, atoms), name, False, validate)
