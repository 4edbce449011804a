"""What kernels see of a class of layouts: the names of the contract, its defaults, accessors.

The contract itself is in `layouts/contract.py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

METHODS = {  # name -> (parameters after self, required)
    "begin": (("tile",), True),
    "end": (("tile",), True),
    "tile_of": (("atom",), False),
    "tile_id": (("tile",), False),
    "atom_id": (("tile", "position"), False),
    "valid": (("tile", "position"), False),
}
# Names that are not accessors, whatever their parameters.
HOST_METHODS = frozenset({"to", "slice", "validate", "blocks", "max_tiles", "max_atoms", "shape"})


def for_host(cls: type) -> frozenset[str]:
    """Return the names of a layout class that kernels do not see: those of all layouts, and its `host_methods`."""
    own: frozenset[str] = getattr(cls, "host_methods", frozenset())
    return HOST_METHODS | own


class Defaults:
    """The optional members, for layouts that do not define them."""

    def tile_id(self, tile: Any) -> Any:
        return tile

    def atom_id(self, tile: Any, position: Any) -> Any:
        return position

    def valid(self, tile: Any, position: Any) -> Any:
        return True

    @property
    def max_tiles(self: Any) -> int:
        """An upper bound of `num_tiles` that the host knows."""
        return int(self.num_tiles)

    @property
    def max_atoms(self: Any) -> int:
        """An upper bound of `num_atoms` that the host knows."""
        return int(self.num_atoms)


class Growing(NamedTuple):
    """What a layout says, in the class attribute `growing`, whose tiles are appended while others are walked.

    swap: the method that runs before each loop over its tiles. push: the method that appends a tile.
    length: the property that counts the appended ones. hidden: the fields that only these use. waiting: other
    properties of what was appended, which kernels may read between the loops over tiles.
    """

    swap: str
    push: str
    length: str
    hidden: frozenset[str]
    waiting: frozenset[str] = frozenset()


def growing(cls: type) -> Growing | None:
    found: Growing | None = getattr(cls, "growing", None)
    return found


def column_names(count: int) -> list[str]:
    """Return the names of the fields that are columns, to which a kernel appends or emits values."""
    return [f"column_{i}" for i in range(count)]


def columns_of(cls: Any) -> list[str]:
    """Return the names of those that a layout class has."""
    return [name for name in cls.__fields__ if name.startswith("column_")]


def is_default(name: str, member: Any) -> bool:
    """Whether `member` is the contract's default of that name."""
    return member is not None and member is vars(Defaults).get(name)


def accessor_takes(function: Callable[..., Any]) -> tuple[bool, bool]:
    """Return (takes the tile, takes an atom) for an accessor, from its parameters."""
    names = list(inspect.signature(function).parameters)[1:]
    tile = bool(names) and names[0] == "tile"
    return tile, len(names) > int(tile)


@functools.cache
def accessors(cls: type) -> dict[str, tuple[bool, bool]]:
    """Return the accessors of a layout class: name -> (takes the tile, takes an atom)."""
    found = {}
    for name, function in inspect.getmembers(cls, inspect.isfunction):
        if name.startswith("_") or name in METHODS or name in for_host(cls):
            continue
        if len(inspect.signature(function).parameters) > 1:
            found[name] = accessor_takes(function)
    return found
