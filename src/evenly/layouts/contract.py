"""The layout contract: which atoms does a tile have?

A layout is a small frozen class of annotated fields and methods, made by the decorator
:func:`layout`. Every target compiles the methods, which are written in a small subset of
Python. The host runs them as plain Python.

Fields (any other annotation raises InputError)

    Array[Index]    an array of int32 or int64 (offsets, indices, ids)
    Array           an array of any element type (values)
    int             an integer known when the kernel is launched
    Static          an integer known when the kernel is compiled (a block size)
    Layout          another layout (or a layout class by name)

Positions (schedules see these)

    num_tiles, num_atoms      properties, or `int` fields
    begin(tile), end(tile)    the atoms of a tile are begin(tile) .. end(tile)-1
    tile_of(atom)             optional: the tile that has the atom

  Invariants, for n = num_tiles: begin(0) == 0; begin(t + 1) == end(t);
  end(t) >= begin(t); end(n - 1) == num_atoms; num_atoms == 0 where n == 0;
  begin(tile_of(a)) <= a < end(tile_of(a)). A layout whose `tile_of` searches
  says so with the class attribute `tile_of_cost = "search"`: the base class
  `Searched` (search.py) gives both.

Ids (kernels see these; the default is the position itself)

    tile_id(tile)             an integer, or a tuple of integers
    atom_id(tile, position)   likewise; `position` lies in begin(tile) .. end(tile)-1
    valid(tile, position)     False for padding: kernels never visit such atoms

  Ids of tiles are distinct, ids of valid atoms are distinct. `valid_of = "base"`
  (class attribute): this layout masks atoms only where that field does.

Accessors (kernels call these): any other public method,

    column(self, k)           of an atom id
    column(self, tile, k)     of a tile id and an atom id: the first parameter is
                              named exactly `tile`, and kernels write `A.column(k)`
    size(self, tile)          of a tile id alone

  With the class attribute `delegate = "base"`, an accessor that the layout does not
  have is looked up on that field, and called with this layout's ids. A delegated
  accessor that needs a tile gets the enclosing tile's id, or `_owner(position)` if
  the class attribute `delegate_tile = "_owner"` names that method. Methods with a
  leading underscore are helpers, not accessors.

  `id_bounds = {"column": "num_columns"}` (class attribute): results of the accessor
  are below that attribute. Before a launch, arrays that kernels index with it are
  checked to be long enough. So are those that they index with the ids of tiles and
  atoms; a layout with a `tile_id` or an `atom_id` names the bounds of these here, too,
  or the field of the layout whose ids they are.

Methods for kernels consist of one `return expression`, or of simple statements (if,
while, for over range; no recursion). Expressions are `self.<field>[...]`,
`self.<field, property or method>`, `len(self.<field>)`, integer arithmetic (`//` and
`%` as in Python), comparisons and `a if c else b`. Host methods (`HOST_METHODS`, and
all methods without a tile or atom) are ordinary Python; kernels never call them.

On the host only: `max_tiles` and `max_atoms`, bounds of the two counts for layouts
whose counts are in GPU memory (default: the counts); `shape` (rows, columns) if
there is a field `num_columns`; `to(device)`; `slice(tiles)`.
`host_methods = frozenset({"split"})` (class attribute) names more methods of this kind.
`row_kernels = "reason"` (class attribute) refuses kernels on whole tiles.
`growing` (class attribute) is of evenly's own frontiers, whose tiles kernels append.

:func:`evenly.layouts.checker.check` checks the contract for all layouts.

Source: the tile set of Osama, Porumbescu, Owens, "A Programming Model for GPU
Load Balancing" (PPoPP 2023). Ids that differ from positions are an addition.
"""

from __future__ import annotations

import dataclasses
import inspect
from types import FunctionType
from typing import Any, TypeVar, dataclass_transform

from evenly.errors import InputError, check_field_name
from evenly.language.members import METHODS, accessors, is_default
from evenly.layouts.defaults import LayoutInstance, install
from evenly.layouts.fields import Array, FieldSpec, Index, Layout, Static, is_layout, kind_of

__all__ = [
    "Array",
    "FieldSpec",
    "Index",
    "Layout",
    "LayoutInstance",
    "Static",
    "accessors",
    "is_layout",
    "layout",
    "masks",
]

T = TypeVar("T")

# Kernels call `A.tiles()` and `A.atoms(tile)` on every layout, so no field may have these names.
LOOPS = frozenset({"tiles", "atoms"})


@dataclass_transform(frozen_default=True, eq_default=False)
def layout(cls: type[T]) -> type[T]:
    """Make a layout of an annotated class (see the top of this file).

    The result is a frozen data class, compared by identity. It has defaults for the
    optional parts of the contract, and

        __fields__           dict of name and FieldSpec, in order of declaration
        __default_methods__  frozenset of the contract's methods that it does not define

    Raises InputError, naming the class and the member, if the class breaks the contract.
    """
    if not isinstance(cls, type):
        raise InputError("ev.layout", expected="a class", given=type(cls).__name__)
    fields = _inherited_fields(cls)
    for name, annotation in inspect.get_annotations(cls).items():
        check_field_name(cls, name)
        if name in LOOPS or name in METHODS:
            raise InputError(
                f"{cls.__name__}.{name}",
                expected="another name for the field",
                given=repr(name),
                hint=f"kernels call {name}() to loop"
                if name in LOOPS
                else "it is a method of the contract",
            )
        if isinstance(vars(cls).get(name), property | FunctionType):
            raise InputError(
                f"{cls.__name__}.{name}", expected="a field or a method of that name", given="both"
            )
        fields[name] = FieldSpec(name, kind_of(cls, name, annotation))
    for name in ("delegate", "valid_of"):
        field = getattr(cls, name, None)
        if field is not None and (field not in fields or fields[field].kind != "layout"):
            raise InputError(
                f"{cls.__name__}.{name}", expected="the name of a Layout field", given=repr(field)
            )
    if cls.__eq__ is not object.__eq__:
        raise InputError(
            f"{cls.__name__}.__eq__",
            expected="none: a layout is itself, whatever it holds",
            hint="compare by a method of another name",
        )
    _require(cls, fields)
    install(cls, fields)
    made: Any = dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    made.__fields__ = fields
    own = {name: getattr(cls, name, None) for name in METHODS}
    made.__default_methods__ = frozenset(n for n, f in own.items() if is_default(n, f))
    return cls  # which a data class without slots is, too


def leaves(cls: type, name: str) -> bool:
    """Whether a layout class has, at this moment, the default of a method of the contract."""
    return is_default(name, getattr(cls, name, None))


def masks(layout: LayoutInstance) -> bool:
    """Whether `layout` may have atoms that are not valid (padding)."""
    if leaves(type(layout), "valid"):
        return False
    base = getattr(type(layout), "valid_of", None)
    return True if base is None else masks(getattr(layout, base))


# ---- reading the class -------------------------------------------------------


def _inherited_fields(cls: type) -> dict[str, FieldSpec]:
    fields: dict[str, FieldSpec] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(getattr(base, "__fields__", {}))
    return fields


def _require(cls: type, fields: dict[str, FieldSpec]) -> None:
    for name in ("num_tiles", "num_atoms", "max_tiles", "max_atoms"):
        member = getattr(cls, name, None)
        if member is None and name.startswith("max_"):
            continue  # the default bounds are the counts
        if name in fields and fields[name].kind == "int":
            continue
        if not isinstance(member, property):
            raise InputError(
                f"{cls.__name__}.{name}",
                expected="a property (or an int field)",
                given="nothing" if member is None else "a method",
                hint=f"@property def {name}(self): return ..."
                if member is None
                else "put @property above it",
            )
    for name, (parameters, required) in METHODS.items():
        member = getattr(cls, name, None)
        wanted = f"a method {name}(self, {', '.join(parameters)})"
        if member is None and not required:
            continue
        if not inspect.isfunction(member):
            given = "nothing" if member is None else f"a {type(member).__name__}"
            raise InputError(f"{cls.__name__}.{name}", expected=wanted, given=given)
        if len(inspect.signature(member).parameters) != 1 + len(parameters):
            given = f"{name}{inspect.signature(member)}"
            raise InputError(f"{cls.__name__}.{name}", expected=wanted, given=given)
