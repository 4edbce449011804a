"""The layout contract: which atoms does a tile have?

A layout is a small frozen class, made by the decorator :func:`layout`, of
annotated fields and of methods in a small subset of Python that every target
understands and that also runs as plain Python on the real arrays.

Fields (a layout's state; every other annotation is refused)

    Array[Index]    an array of int32 or int64 (offsets, indices, ids)
    Array           an array of any element type (values)
    int             an integer known when the kernel is launched
    Static          an integer known when the kernel is compiled (a block size)
    Layout          another layout (or a layout class by name)

Positions (what schedules see)

    num_tiles, num_atoms      properties, or `int` fields
    begin(tile), end(tile)    the atoms of a tile are begin(tile) .. end(tile)-1
    tile_of(atom)             optional: the tile that holds the atom

  Invariants, for n = num_tiles: begin(0) == 0; begin(t + 1) == end(t);
  end(t) >= begin(t); end(n - 1) == num_atoms; num_atoms == 0 where n == 0;
  begin(tile_of(a)) <= a < end(tile_of(a)). A layout whose `tile_of` searches
  says so with the class attribute `tile_of_cost = "search"`: the base class
  `Searched` (search.py) gives both.

Ids (what kernels see; defaults: the position itself)

    tile_id(tile)             an integer, or a tuple of integers
    atom_id(tile, position)   likewise; `position` lies in begin(tile) .. end(tile)-1
    valid(tile, position)     False for padding, which is never evaluated or visited

  Ids of tiles are distinct, ids of valid atoms are distinct. `valid_of = "base"`
  (class attribute): this layout's `valid` masks what that field masks, no more.

Accessors (what kernels call): any other public method,

    column(self, k)           of an atom id
    column(self, tile, k)     of a tile id and an atom id: the first parameter is
                              named exactly `tile`, and kernels write `A.column(k)`
    size(self, tile)          of a tile id alone

  With the class attribute `delegate = "base"`, what is not found on a layout is
  looked up on that field, with the ids that this layout gave. If it also names
  a method `delegate_tile = "_owner"`, the delegated accessors that need a tile
  get `_owner(position)`, else the enclosing tile's id. (Names with a leading
  underscore are no accessors: helpers of the other methods.)

  `id_bounds = {"column": "num_columns"}` (class attribute): what the accessor gives
  stays below that attribute, so arrays that kernels index by it are checked to be
  long enough before a launch.

Kernel-language methods are one `return expression`, else simple statements (if,
while, for over range; no recursion), of `self.<field>[...]`, `self.<field,
property or method>`, `len(self.<field>)`, integer arithmetic (`//` and `%` are
Python's), comparisons and `a if c else b`. Host methods (`HOST_METHODS`, and
whatever takes no tile or atom) are ordinary Python and never called by kernels.

On the host only: `max_tiles` and `max_atoms`, bounds of the two counts for
layouts whose counts are device values (default: the counts); `shape` (rows,
columns) where there is a field `num_columns`; `to(device)`; `slice(tiles)`.
`row_kernels = "why not"` (class attribute) refuses kernels on whole tiles.

The contract is checked by :func:`evenly.layouts.checker.check`, for all layouts.

Source: the tile set of Osama, Porumbescu, Owens, "A Programming Model for GPU
Load Balancing" (PPoPP 2023), with positions told apart from ids.
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

# What kernels say of any layout: `A.tiles()`, `A.atoms(tile)`. No field may be called so.
LOOPS = frozenset({"tiles", "atoms"})


@dataclass_transform(frozen_default=True, eq_default=False)
def layout(cls: type[T]) -> type[T]:
    """Make a layout of an annotated class (see the top of this file).

    The result is a frozen data class, compared by identity, with the contract's
    optional parts filled in and

        __fields__           dict, name -> FieldSpec, in order of declaration
        __default_methods__  frozenset: the contract's methods that it left alone

    Raises InputError, naming class and member, where the contract is broken.
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
    """Whether a class of layouts leaves a method of the contract as it is: now, after what was put into it."""
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
            continue  # bounds follow from the counts
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
