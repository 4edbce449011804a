"""Functions that a lower floor calls and a higher one has: `@hook` declares one, `evenly/wiring.py` says where it is.

Layouts have their tiles measured on a GPU, for one, and know nothing of kernels and targets.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_places: dict[str, str] = {}


def name_of(function: Callable[..., Any]) -> str:
    """A function's module and name, as the table of hooks has them: "evenly.layouts.entries:first_outside"."""
    return f"{function.__module__}:{function.__qualname__}"


def hook(declared: Callable[P, R]) -> Callable[P, R]:
    """The function that `connect` gave for this one, which has its parameters and a docstring, and does nothing.

    Its module is imported at a call, so that `import evenly` brings in no more than it needs.
    """
    name = name_of(declared)

    @functools.wraps(declared)
    def call(*args: P.args, **named: P.kwargs) -> R:
        return cast(R, function_at(_places[name])(*args, **named))

    return call


def connect(places: Mapping[str, str]) -> None:
    """Say which function each hook calls, both as "module:function"."""
    _places.update(places)


def function_at(place: str) -> Callable[..., Any]:
    """The function of a place, "module:function"."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
