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

import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from evenly.interop.arrays import kind
from evenly.language.members import growing
from evenly.layouts.contract import LayoutInstance, is_layout

from .inside import bounds

Read = Callable[[Any], tuple[Any, ...]]  # what a launch depends on, of an array


def signature(
    args: tuple[Any, ...], reader: Callable[[str], Read], by_memory: bool
) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """Return what a call with these arguments depends on: addresses of arrays, and all else. None: that cannot be told.

    reader: returns how to read the arrays of a library. by_memory: whether a layout's arrays are known by their memory.
    """
    try:
        addresses: list[int] = []
        rest = [x for value in args for x in _parts(value, reader, by_memory, addresses)]
        return tuple(addresses), tuple(rest)
    except (KeyError, TypeError, RuntimeError):  # another library, no weak reference, no address
        return None


def _parts(
    value: Any, reader: Callable[[str], Read], by_memory: bool, addresses: list[int]
) -> Iterator[Any]:
    """Yield what a call depends on, of one argument, but for an array's address, which is added to `addresses`."""
    if is_layout(value):
        yield from _of_layout(value, reader, by_memory)
        yield from (operator.attrgetter(path[1:])(value) for path in bounds(value, ""))
    elif value is None or isinstance(value, bool | int):
        yield type(value), value
    elif isinstance(value, np.generic):
        yield type(value), value.tobytes()
    elif isinstance(value, float | complex):
        yield type(value), repr(value)  # 0.0 == -0.0
    else:
        at, *others = reader(kind(value) or "")(value)
        addresses.append(at)
        yield others


def _of_layout(
    layout: LayoutInstance, reader: Callable[[str], Read], by_memory: bool
) -> Iterator[Any]:
    own = by_memory or growing(type(layout)) is not None
    yield type(layout)
    for field in type(layout).__fields__.values():
        value = getattr(layout, field.name)
        if field.kind == "layout":
            yield from _of_layout(value, reader, by_memory)
        elif "array" in field.kind:
            found = reader(kind(value) or "")(value)
            yield found if own else (Same(value), found)
        else:
            yield int(value)


class Same:
    """A weak reference that equals those to the same living object."""

    __slots__ = ("_reference",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, known: Any) -> None:
        self._reference = weakref.ref(known)

    def __eq__(self, other: object) -> bool:
        mine = self._reference()
        return mine is not None and type(other) is Same and mine is other._reference()
