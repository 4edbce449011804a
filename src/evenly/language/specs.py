"""The types of a kernel's arguments, for which it is compiled. They do not depend on values.

Specs are hashable: a kernel is compiled once for each tuple of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from .types import Scalar


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """An array. `ids`: whether its integers are ids (a layout's index array), which are weak, or else data."""

    dtype: Scalar
    ndim: int
    ids: bool = False


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """A number that is given at the call; Python's own int and float are weak."""

    type: Scalar


@dataclass(frozen=True, slots=True)
class StaticSpec:
    """A value that is part of the compiled code: None, or a layout's Static field."""

    value: int | None


@dataclass(frozen=True, slots=True)
class LayoutSpec:
    """A layout: its class, the specs of its fields in order, and whether it masks atoms."""

    cls: type
    fields: tuple[tuple[str, Spec], ...]
    masked: bool


Spec = ArraySpec | ScalarSpec | StaticSpec | LayoutSpec
