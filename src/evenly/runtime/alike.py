"""Tell whether a call differs from an earlier one only in layouts that were made anew.

Algorithms make such layouts at each call: a frontier, a layout of n tiles, a layout over the arrays of a matrix. The
call cache knows a layout by itself, so it takes each of these for a new one. What launches depend on may still be the
same: a library's pool gives the same memory again and again. Here a layout is what it is made of:

- integers and classes;
- the addresses and types of a frontier's own arrays;
- other arrays themselves, since their structure has decided about the schedule. Where the caller has chosen one, their
  addresses and types: a layout's constructor has checked what they hold, if anyone has.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from evenly.interop.arrays import kind
from evenly.language.members import growing
from evenly.layouts.contract import LayoutInstance


def parts(
    name: str, layout: LayoutInstance, arrays: Mapping[str, tuple[str, ...]], by_memory: bool
) -> Iterator[str]:
    """Yield expressions for what a call depends on, of a layout of this name.

    arrays: those of an array, by its library. by_memory: whether a layout's arrays are known by their memory.

    Raises KeyError for another library, and TypeError for an array without weak references.
    """
    own = by_memory or growing(type(layout)) is not None
    for field in type(layout).__fields__.values():
        value, path = getattr(layout, field.name), f"{name}.{field.name}"
        if field.kind == "layout":
            yield from parts(path, value, arrays, by_memory)
        elif "array" in field.kind:
            if not own:
                weakref.ref(value)
                yield f"Same({path})"
            yield from (part.format(a=path) for part in arrays[kind(value) or ""])
        else:
            yield f"int({path})"


class Same:
    """A weak reference that equals those to the same living object."""

    __slots__ = ("_reference",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, known: Any) -> None:
        self._reference = weakref.ref(known)

    def __eq__(self, other: object) -> bool:
        mine = self._reference()
        return mine is not None and type(other) is Same and mine is other._reference()
