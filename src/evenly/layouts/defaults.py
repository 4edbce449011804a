"""Defaults for the optional members of a layout (see contract.py)."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from evenly.hooks import hook
from evenly.interop.array_view import Device
from evenly.language.members import Defaults
from evenly.layouts.fields import FieldSpec, check_fields
from evenly.layouts.moving import move


class OnHost:
    """Defaults for the host methods of a layout."""

    def to(self, device: Device) -> Self:
        """Return this layout with its arrays on `device`: "cpu" or "cuda"."""
        layout: Any = self
        moved: Self = move(layout, device)
        return moved

    def slice(self: Any, tiles: Any) -> Any:
        """Return the consecutive tiles `tiles` (a slice or a range) as a layout."""
        return cut(self, tiles)

    def __repr__(self: Any) -> str:
        parts = []
        for spec in type(self).__fields__.values():
            value = getattr(self, spec.name)
            if "array" in spec.kind:
                value = f"{getattr(value, 'dtype', '?')}{tuple(value.shape)}"
            parts.append(f"{spec.name}={value}")
        return f"{type(self).__name__}({', '.join(parts)})"


if TYPE_CHECKING:

    class LayoutInstance(Defaults, OnHost):
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
        __fields__: ClassVar[dict[str, FieldSpec]]

        # Counts are Any: they may lie in the memory of a GPU.
        @property
        def num_tiles(self) -> Any: ...
        @property
        def num_atoms(self) -> Any: ...
        def begin(self, tile: Any) -> Any: ...
        def end(self, tile: Any) -> Any: ...

else:

    class LayoutInstance:
        """A layout, to a type checker: a class that inherits from it has what `@layout` puts into every layout.

        It is empty where a program runs, and no class has to inherit from it.
        """


@hook
def cut(layout: LayoutInstance, tiles: Any) -> Any:
    """The consecutive tiles `tiles` of any layout, as a subset that keeps their ids. (A subset is a layout itself.)"""
    raise NotImplementedError


def install(cls: Any, fields: dict[str, FieldSpec]) -> None:
    """Add the defaults that the class does not define, and the check of its fields."""
    inherited = {name for base in cls.__mro__[:-1] for name in vars(base)}
    for name, member in {**vars(Defaults), **vars(OnHost)}.items():
        installable = inspect.isfunction(member) or isinstance(member, property)
        if installable and name not in inherited and name not in fields:
            setattr(cls, name, member)
    if "num_columns" in fields and "shape" not in inherited:
        cls.shape = property(lambda self: (int(self.num_tiles), int(self.num_columns)))
    if "delegate" in inherited and "__getattr__" not in inherited:
        cls.__getattr__ = _delegated
    users = getattr(cls, "__post_init__", None)
    if users is None:
        cls.__post_init__ = check_fields
    elif users is not check_fields and not hasattr(users, "__wrapped__"):
        cls.__post_init__ = _then(users)


def _delegated(self: Any, name: str) -> Any:
    base = type(self).delegate
    if name == base or name.startswith("__"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    return getattr(getattr(self, base), name)


def _then(users: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(users)
    def post_init(self: Any) -> None:
        check_fields(self)
        users(self)

    return post_init
