"""Layouts to another device, and what a slice of their tiles means."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.array_view import Device
from evenly.interop.transfer import to_place

if TYPE_CHECKING:
    from evenly.layouts.defaults import LayoutInstance

L = TypeVar("L", bound="LayoutInstance")


def device_of(layout: LayoutInstance) -> Device:
    """Return the device of a layout's arrays: "cpu" or "cuda". A layout without arrays is on "cpu"."""
    for spec in type(layout).__fields__.values():
        value = getattr(layout, spec.name)
        if spec.kind == "layout":
            return device_of(value)
        if "array" in spec.kind and type(value) is not np.ndarray:
            return arrays.view(value, spec.name).device if arrays.is_array(value) else "cpu"
    return "cpu"


def an_array(layout: LayoutInstance) -> Any:
    """Return any array of the layout, to allocate others on the same device. None: it has none, and is on "cpu"."""
    values = [(spec.kind, getattr(layout, name)) for name, spec in type(layout).__fields__.items()]
    for kind, value in values:
        if kind == "layout":
            return an_array(value)
        if "array" in kind and arrays.is_array(value):
            return value
    return None


def move(layout: L, device: Device) -> L:
    """Return `layout` with its arrays on `device`, "cpu" or "cuda"; itself if they are there already."""
    if device not in ("cpu", "cuda"):
        hint = "NVIDIA GPUs are 'cuda'"
        raise InputError("device", expected="'cpu' or 'cuda'", given=repr(device), hint=hint)
    changes = {}
    for spec in type(layout).__fields__.values():
        value = getattr(layout, spec.name)
        if spec.kind == "layout":
            moved = move(value, device)
        elif "array" in spec.kind:
            moved = to_place(value, device, spec.name)
        else:
            continue
        if moved is not value:
            changes[spec.name] = moved
    return dataclasses.replace(layout, **changes) if changes else layout


def bounds(tiles: Any, count: int) -> tuple[int, int]:
    """Return (start, stop) of a slice or range. Raises InputError if its step is not 1, or it exceeds 0 .. count."""
    if isinstance(tiles, slice):
        if tiles.step in (None, 1):
            start, stop, _ = tiles.indices(int(count))
            return start, max(start, stop)
    elif isinstance(tiles, range) and tiles.step == 1:
        start, stop = tiles.start, max(tiles.start, tiles.stop)
        if 0 <= start <= stop <= count:
            return start, stop
    expected = f"a slice or range of consecutive tiles in 0..{count}"
    raise InputError("tiles", expected=expected, given=repr(tiles))
