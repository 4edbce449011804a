"""What the arguments of a call in host memory look like, in what decides its launches (see `recent`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.interop import sparse
from evenly.interop.arrays import kind
from evenly.interop.fields import fields
from evenly.interop.looks import Looks
from evenly.layouts.contract import is_layout

from .inside import FIELDS, STRUCTURE, bounds, inside

_NUMBERS = (type(None), bool, int, float, complex)  # an object of these is one number for ever


def look(arguments: tuple[Any, ...]) -> Looks | None:
    """What native code can tell them by; None where only Python can."""
    at = fields()
    if at is None:
        return None
    looks = Looks(at, len(arguments))
    seen = all(_argument(looks, i, argument) for i, argument in enumerate(arguments))
    return looks if seen else None


def _argument(looks: Looks, value: int, argument: Any) -> bool:
    """Whether it is of a kind that can be told."""
    if is_layout(argument):
        return _layout(looks, value, argument)
    if sparse.is_compressed(argument):
        return _matrix(looks, value, argument)
    if type(argument) in _NUMBERS:
        looks.same(value, argument)
        return True
    return type(argument) is np.ndarray and _array(looks, value, argument)


def _array(looks: Looks, value: int, array: Any) -> bool:
    """Strides are not looked at, which in C order follow from the rest."""
    if kind(array) != "numpy" or not array.flags.c_contiguous:
        return False
    looks.array(value, array)
    return True


def _layout(looks: Looks, value: int, layout: Any) -> bool:
    """By itself, since it is frozen, and by its arrays, which can be changed in place. Bounds are asked in Python."""
    if next(bounds(layout, ""), None):
        return False
    try:
        looks.alive(value, layout)
    except TypeError:  # a class with slots
        return False
    found = (part for _, part in inside(layout, "") if not is_layout(part))
    return all(_array(looks, looks.inside(array), array) for array in found)


def _matrix(looks: Looks, value: int, matrix: Any) -> bool:
    """By its shape, its arrays (of structure the very objects), and the first and last offsets, which cut it."""
    looks.of_type(value, type(matrix))
    looks.same(looks.attribute(value, "shape"), matrix.shape)
    found = {name: looks.attribute(value, name) for name in FIELDS}
    for name in STRUCTURE:
        looks.alive(found[name], getattr(matrix, name))
    if not all(_array(looks, found[name], getattr(matrix, name)) for name in FIELDS):
        return False
    offsets = matrix.indptr
    if offsets.ndim != 1 or not offsets.size or offsets.itemsize not in (4, 8):
        return False
    looks.element(found["indptr"], offsets, 0)
    looks.element(found["indptr"], offsets, -1)
    return True
