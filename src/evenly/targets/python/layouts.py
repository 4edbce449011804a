"""Layouts as a kernel sees them in the reference: the contract of layouts in plain Python.

The kernel and the layout's own methods use the same view. It yields the ids of tiles and atoms, skips
atoms that the mask hides, and passes the tile of the loop to accessors that take it (see
evenly.layouts.contract).
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.interop import arrays
from evenly.language import reads
from evenly.language.items import has_items
from evenly.language.members import accessor_takes, columns_of, growing, is_default
from evenly.layouts.contract import LayoutInstance, masks

from .arrays import CheckedArray
from .failures import RunError
from .meets import inlined
from .rewrite import hidden

Prepare = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass
class Walk:
    """The state of a run: the loop over tiles that it is in, and how it prepares functions."""

    prepare: Prepare
    tiles: LayoutView | None = None
    position: int = -1
    id: Any = None
    item: int = -1
    atoms: Callable[[], AtomIterator | None] = lambda: None  # the walk over its tile's atoms

    def running(self) -> dict[Any, Any]:
        """Return the running values of that walk."""
        atoms = self.atoms()
        assert atoms is not None
        return atoms.running


class Seen:
    """A layout as kernels and its own methods see it. It has the user's names and those of the contract, no others."""

    def __init__(self, view: LayoutView) -> None:
        loops: dict[str, Any] = {"tiles": view.tiles, "atoms": view.atoms}
        if has_items(view._class) and "items" not in view._class.__fields__:
            loops["items"] = view.items
        self.__dict__.update({_VIEW: view, **loops})

    def __getattr__(self, name: str) -> Any:
        return view_of(self).member(name)

    def __len__(self) -> int:
        return view_of(self).length()


_VIEW = hidden("view")


def view_of(seen: Seen) -> LayoutView:
    view: LayoutView = seen.__dict__[_VIEW]
    return view


class LayoutView:
    """A layout argument, or a layout in a field of one."""

    def __init__(self, layout: LayoutInstance, name: str, walk: Walk) -> None:
        self._layout, self._name, self._walk = layout, name, walk
        self._class: Any = type(layout)
        self._masked = masks(layout)
        self._defaults: dict[
            str, bool
        ] = {}  # whether methods of the contract are the defaults, looked up once in a run
        self._methods: dict[str, Callable[..., Any]] = {}
        self.seen: Any = Seen(self)

    # ---- loops -----------------------------------------------------------------------------------
    def items(self) -> Iterator[int]:
        walk = self._walk
        for walk.item in range(int(self.seen.num_items)):
            yield walk.item
        walk.item = -1

    def tiles(self, *item: int) -> TileIterator:
        return TileIterator(self._tiles(*item))

    def _tiles(self, *item: int) -> Iterator[Any]:
        walk = self._walk
        self._swapped()
        first, last = 0, int(self.seen.num_tiles)
        if item:
            first, last = (int(self._run(name, *item)) for name in ("item_begin", "item_end"))
        try:
            for position in range(first, last):
                walk.tiles, walk.position = self, position
                walk.id = self._tile_id(position)
                yield walk.id
        finally:
            walk.tiles, walk.position, walk.id = None, -1, None

    def _swapped(self) -> None:
        """Before a walk over the tiles of a frontier, take the list that was pushed to."""
        if grows := growing(self._class):
            self._run(grows.swap)

    def atoms(self, *tile: Any) -> Atoms:
        walk = self._walk
        given = tile[0] if len(tile) == 1 else tile
        if walk.tiles is self and given == walk.id:
            return Atoms(self, walk.position)
        if not self._default("tile_id"):
            expected = f"the tile of the loop ({self._class.__name__} renames its tiles)"
            raise RunError(f"{self._name}.atoms", expected=expected, given=str(given))
        return Atoms(self, int(given))  # type: ignore[arg-type]

    def _tile_id(self, position: int) -> Any:
        return position if self._default("tile_id") else self._run("tile_id", position)

    def _atom_id(self, tile: int, position: int) -> Any:
        return position if self._default("atom_id") else self._run("atom_id", tile, position)

    def _default(self, name: str) -> bool:
        known = self._defaults.get(name)
        if known is None:
            known = self._defaults[name] = is_default(name, reads.member_of(self._class, name))
        return known

    def length(self) -> int:
        """Return how many tiles of a frontier wait to be walked."""
        grows = growing(self._class)
        assert grows is not None  # of other layouts it is refused
        return int(self.member(grows.length))

    # ---- fields, properties, accessors -----------------------------------------------------------
    def member(self, name: str) -> Any:
        """Return a member. A field or accessor is looked up once; a property is computed each time."""
        spec = self._class.__fields__.get(name)
        if spec is not None:
            found = self._field(name, spec.kind)
        else:
            member = reads.member_of(self._class, name)
            if isinstance(member, property):
                return self._walk.prepare(member.fget)(self.seen)  # type: ignore[arg-type]
            if not inspect.isfunction(member):
                return self._delegated(name)
            found = self._accessor(name, member)
        self.seen.__dict__[name] = found
        return found

    def _field(self, name: str, kind: str) -> Any:
        value, path = getattr(self._layout, name), f"{self._name}.{name}"
        if kind == "layout":
            return LayoutView(value, path, self._walk).seen
        if "array" not in kind:
            return int(value)
        grows = growing(self._class)
        written = grows is not None and name in grows.hidden
        return CheckedArray(value, path, ids=kind == "index_array", writable=written)

    def _accessor(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        takes_tile, _ = accessor_takes(function)
        wanted = len(inspect.signature(function).parameters) - 1
        run = self._walk.prepare(function)

        def accessor(*arguments: Any) -> Any:
            if takes_tile and len(arguments) == wanted - 1:
                arguments = (self._enclosing_tile(name), *arguments)
            return run(self.seen, *arguments)

        return inlined(accessor)

    def _enclosing_tile(self, name: str) -> Any:
        outer = self._walk.tiles
        while outer is not None and outer is not self:
            base = getattr(outer._class, "delegate", None)
            outer = view_of(getattr(outer.seen, base)) if base else None
        if outer is None:
            expected = f"a call in a loop over {self._name}.tiles()"
            raise RunError(f"{self._name}.{name}", expected=expected, given="one outside")
        return self._walk.id

    def _delegated(self, name: str) -> Any:
        """Return a member of the base, for a name that the layout lacks (see `delegate_tile` in the contract)."""
        if name.startswith("__") or getattr(self._class, "delegate", None) is None:
            raise AttributeError(f"{self._class.__name__} has no {name}")
        base = getattr(self.seen, self._class.delegate)
        found = getattr(base, name)
        owner = getattr(self._class, "delegate_tile", None)
        function = reads.member_of(view_of(base)._class, name)
        if owner is None or not inspect.isfunction(function) or not accessor_takes(function)[0]:
            return found
        wanted = len(inspect.signature(function).parameters) - 1

        def accessor(*arguments: Any) -> Any:
            if len(arguments) == wanted - 1:
                arguments = (getattr(self.seen, owner)(arguments[-1]), *arguments)
            return found(*arguments)

        return inlined(accessor)

    def _run(self, name: str, *arguments: Any) -> Any:
        run = self._methods.get(name)
        if run is None:
            method = reads.member_of(self._class, name)
            run = self._methods[name] = self._walk.prepare(method)
        return run(self.seen, *arguments)


class Emitted:
    """What a kernel emits to. It keeps each element, of the types of the columns, with the tile's position."""

    def __init__(self, out: Any, walk: Walk) -> None:
        self._items, self._walk = out.items, walk
        self._types = [arrays.dtype_of(getattr(out, f), f) for f in columns_of(type(out))]

    def emit(self, *values: Any) -> None:
        self._items.append((self._walk.position, tuple(map(self._converted, self._types, values))))

    @staticmethod
    def _converted(dtype: Any, value: Any) -> Any:
        held = np.empty(1, dtype)
        CheckedArray(held, "out")[0] = value
        return held[0]


class Appended:
    """What a kernel appends to. Elements are stored in the order of the walk, as far as there is room."""

    def __init__(self, out: Any) -> None:
        self._columns = [CheckedArray(getattr(out, f), f) for f in columns_of(type(out))]
        self._appended, self._room = out.appended, out.capacity

    def append(self, *values: Any) -> None:
        place = int(self._appended[0])
        self._appended[0] += 1
        if place < self._room:
            for column, value in zip(self._columns, values, strict=True):
                column[place] = value


class TileIterator:
    """Yields the ids of tiles, in order. current: the latest of them, which ev.argmax over an item's tiles reads."""

    def __init__(self, tiles: Iterator[Any]) -> None:
        self._tiles = tiles
        self.current: Any = None

    def __iter__(self) -> TileIterator:
        return self

    def __next__(self) -> Any:
        self.current = next(self._tiles)
        return self.current


class Atoms:
    """The result of `L.atoms(tile)`, which may be walked more than once."""

    def __init__(self, view: LayoutView, tile: int) -> None:
        self._view, self._tile = view, tile

    def __iter__(self) -> AtomIterator:
        return AtomIterator(self._view, self._tile)


class AtomIterator:
    """Yields the ids of a tile's valid atoms, in order. current: the latest of them, which ev.argmax reads."""

    def __init__(self, view: LayoutView, tile: int) -> None:
        self._view, self._tile = view, tile
        self._next, self._end = int(view._run("begin", tile)), int(view._run("end", tile))
        self.current: Any = None
        self.running: dict[Any, Any] = {}
        walk = view._walk
        if walk.tiles is view and walk.position == tile and walk.atoms() is None:
            walk.atoms = weakref.ref(
                self
            )  # a generator need not walk all atoms: then it is dropped

    def __iter__(self) -> AtomIterator:
        return self

    def __next__(self) -> Any:
        view = self._view
        while self._next < self._end:
            position, self._next = self._next, self._next + 1
            if not view._masked or view._run("valid", self._tile, position):
                self.current = view._atom_id(self._tile, position)
                return self.current
        if view._walk.atoms() is self:
            view._walk.atoms = lambda: None
        raise StopIteration
