"""Check that a layout keeps the contract (see contract.py). All layouts share this checker.

It calls the layout's own methods, with whole arrays of tiles and atoms if they accept
arrays, else one by one. It reports the first entry that breaks an invariant.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from evenly.errors import InputError
from evenly.layouts.contract import LayoutInstance, accessors, is_layout, leaves, masks
from evenly.layouts.moving import device_of

T = TypeVar("T")

LIMIT = 100_000  # calls of a method that does not accept arrays; beyond it, a sample is checked


def check(layout: Any, name: str = "A", limit: int = LIMIT) -> None:
    """Raise InputError, naming the first wrong entry, if `layout` breaks the contract.

    This calls the layout's own `validate(name)`, if it has one. Then it checks the invariants of
    positions, that ids of tiles and of valid atoms are distinct, and that `row` and `column`
    lie within the shape. A layout on a GPU is copied to the CPU.
    """
    if not is_layout(layout):
        raise InputError(name, expected="a layout", given=type(layout).__name__)
    if device_of(layout) != "cpu":
        layout = layout.to("cpu")
    for spec in type(layout).__fields__.values():
        if spec.kind == "layout":
            check(getattr(layout, spec.name), f"{name}.{spec.name}", limit)
    validate = getattr(type(layout), "validate", None)
    if validate is not None:
        validate(layout, name)
    num_tiles = _count(layout, name, "num_tiles")
    num_atoms = _count(layout, name, "num_atoms")
    begins, ends = _check_positions(layout, name, num_tiles, num_atoms, limit)
    if num_tiles == 0:
        return
    if hasattr(type(layout), "tile_of"):
        _check_tile_of(layout, name, begins, ends, limit)
    _check_ids(layout, name, begins, ends, limit)


def finished(layout: T, name: str, entries: bool, contract: bool) -> T:
    """The new layout. entries: its offsets and indices are looked at; contract: all of it is held."""
    made: Any = layout
    if contract:
        check(made, name)
    elif entries:
        made.validate(name)
    return layout


# ---- the contract ------------------------------------------------------------


def _count(layout: LayoutInstance, name: str, what: str) -> int:
    count = int(getattr(layout, what))
    bound = int(getattr(layout, what.replace("num", "max")))
    if count < 0:
        raise InputError(f"{name}.{what}", expected="a count of at least 0", given=str(count))
    if bound < count:
        given = f"{what.replace('num', 'max')}={bound} < {what}={count}"
        raise InputError(f"{name}.{what}", expected="a bound no smaller", given=given)
    return count


def _check_positions(
    layout: LayoutInstance, name: str, num_tiles: int, num_atoms: int, limit: int
) -> tuple[Any, Any]:
    tiles = np.arange(num_tiles)
    _, begins = _each(layout, name, "begin", limit, tiles)
    sampled, ends = _each(layout, name, "end", limit, tiles)
    tiles = tiles[sampled]
    for method, found in (("begin", begins), ("end", ends)):
        if found.dtype.kind not in "iu":
            given = f"{method}({tiles[0]})={found[0]}"
            raise InputError(f"{name}.{method}", expected="a position, an integer", given=given)
    if num_tiles == 0:
        if num_atoms:
            raise InputError(name, expected="no atoms without tiles", given=f"{num_atoms} atoms")
        return begins, ends
    if begins[0] != 0:
        raise InputError(f"{name}.begin", expected="begin(0)=0", given=f"begin(0)={begins[0]}")
    for at in np.flatnonzero(ends < begins)[:1]:
        given = f"end({tiles[at]})={ends[at]} before begin({tiles[at]})={begins[at]}"
        raise InputError(f"{name}.end", expected="non-decreasing ends", given=given)
    for at in np.flatnonzero((begins[1:] != ends[:-1]) & (np.diff(tiles) == 1))[:1]:
        given = f"begin({tiles[at + 1]})={begins[at + 1]} after end({tiles[at]})={ends[at]}"
        raise InputError(f"{name}.begin", expected="consecutive tiles", given=given)
    if ends[-1] != num_atoms:
        expected = f"end({num_tiles - 1})={num_atoms}, the number of atoms"
        raise InputError(f"{name}.end", expected=expected, given=str(ends[-1]))
    return begins, ends


def _check_tile_of(layout: LayoutInstance, name: str, begins: Any, ends: Any, limit: int) -> None:
    atoms = np.arange(ends[-1])
    sampled, tiles = _each(layout, name, "tile_of", limit, atoms)
    atoms = atoms[sampled]
    inside = (tiles >= 0) & (tiles < layout.num_tiles)
    wanted = np.searchsorted(ends, atoms, side="right")
    if len(begins) != layout.num_tiles:  # tiles were sampled, so not all ends are known
        wanted = np.where(inside, tiles, wanted)
        for at in np.flatnonzero(inside):
            if not layout.begin(tiles[at]) <= atoms[at] < layout.end(tiles[at]):
                wanted[at] = -1
    for at in np.flatnonzero((tiles != wanted) | ~inside)[:1]:
        given = f"tile_of({atoms[at]})={tiles[at]}"
        raise InputError(f"{name}.tile_of", expected="the tile that holds the atom", given=given)


def _check_ids(layout: LayoutInstance, name: str, begins: Any, ends: Any, limit: int) -> None:
    cls: Any = type(layout)
    if len(begins) != layout.num_tiles:
        return  # a sample cannot show that all ids are distinct
    owners = np.repeat(np.arange(len(begins)), ends - begins)
    positions = np.arange(len(owners))
    if masks(layout):
        sampled, valid = _each(layout, name, "valid", limit, owners, positions)
        owners, positions = owners[sampled][valid != 0], positions[sampled][valid != 0]
    tile_ids: Any = None
    if not leaves(cls, "tile_id"):
        sampled, tile_ids = _each(layout, name, "tile_id", limit, np.arange(len(begins)))
        _check_distinct(tile_ids, f"{name}.tile_id", sampled)
    if not leaves(cls, "atom_id"):
        sampled, atom_ids = _each(layout, name, "atom_id", limit, owners, positions)
        _check_distinct(atom_ids, f"{name}.atom_id", positions[sampled])
        owners = owners[sampled]
    else:
        atom_ids = positions
    shape = getattr(layout, "shape", None)
    if shape is None or tile_ids is not None or atom_ids.ndim != 1:
        return
    for accessor, bound in (("row", shape[0]), ("column", shape[1])):
        takes = accessors(cls).get(accessor)
        if takes is None:
            continue
        given = (owners, atom_ids) if takes == (True, True) else (atom_ids,)
        sampled, found = _each(layout, name, accessor, limit, *given)
        for at in np.flatnonzero((found < 0) | (found >= bound))[:1]:
            entry = f"{accessor}({given[-1][sampled][at]})={found[at]}"
            expected = f"{accessor}s in 0..{bound - 1}"
            raise InputError(f"{name}.{accessor}", expected=expected, given=entry)


def _check_distinct(ids: Any, name: str, positions: Any) -> None:
    _, first, counts = np.unique(ids, return_index=True, return_counts=True, axis=0)
    for at in np.sort(first[counts > 1])[:1]:
        twice = np.flatnonzero((ids == ids[at]).reshape(len(ids), -1).all(axis=1))[:2]
        given = f"{ids[at].tolist()} at {positions[twice[0]]} and at {positions[twice[1]]}"
        raise InputError(name, expected="distinct ids", given=given)


def _each(
    layout: LayoutInstance, name: str, method: str, limit: int, *given: Any
) -> tuple[Any, Any]:
    """Call `method` for each entry of the arrays `given`. Returns the entries used and the results."""
    call = getattr(layout, method)
    length = len(given[0])
    everything = np.arange(length)
    if length > 1:  # with a single entry, `and` and `if` would work by luck
        try:
            return everything, _rows(call(*given), length)
        except Exception:  # it does not accept arrays, or one entry is wrong: call it one by one
            pass
    if length > limit:
        everything = np.unique(np.linspace(0, length - 1, limit).astype(np.int64))
    results = []
    for at in everything:
        entry = tuple(int(array[at]) for array in given)
        try:
            results.append(call(*entry))
        except (IndexError, ValueError, ZeroDivisionError, OverflowError) as error:
            where = f"{method}({', '.join(map(str, entry))})"
            raise InputError(
                f"{name}.{method}", expected="a result", given=f"{where}: {error}"
            ) from error
    return everything, np.asarray(results) if results else np.zeros(0, np.int64)


def _rows(result: Any, length: int) -> Any:
    if isinstance(result, tuple):  # an id of several integers: a row for each entry
        return np.stack([np.broadcast_to(part, length) for part in result], axis=1)
    return np.broadcast_to(result, (length,))
