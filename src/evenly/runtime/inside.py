"""Find the arrays, layouts and bounds inside of arguments, on which a call may depend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenly.language.members import is_default
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.moving import device_of

# The fields of a SciPy or CuPy matrix, which may be replaced at any time.
FIELDS = ("data", "indices", "indptr")


def inside(layout: LayoutInstance, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the layout's arrays and layouts with their paths, each layout before its contents."""
    for field in type(layout).__fields__.values():
        value, name = getattr(layout, field.name), f"{path}.{field.name}"
        if field.kind == "layout" or "array" in field.kind:
            yield name, value
        if field.kind == "layout":
            yield from inside(value, name)


def bounds(layout: LayoutInstance, path: str) -> Iterator[str]:
    """Yield the expressions of those bounds, of the layout and of layouts in it, that may come from an array.

    Lengths are checked against these numbers.
    """
    cls = type(layout)
    asked = cls.__module__.partition(".")[0] != "evenly" and device_of(layout) == "cpu"
    for bound in dict.fromkeys(("max_tiles", "max_atoms", *getattr(cls, "id_bounds", {}).values())):
        own = bound not in cls.__fields__
        if own and (asked or not is_default(bound, getattr(cls, bound))):
            yield f"{path}.{bound}"
    for field in cls.__fields__.values():
        if field.kind == "layout":
            yield from bounds(getattr(layout, field.name), f"{path}.{field.name}")
