"""Let a lower floor call a function of a higher one without importing it.

The lower floor declares the function with `@hook`; `evenly/wiring.py` says which function that is. Layouts, for
example, have their offsets checked by a kernel on a GPU, but may not import kernels or targets.
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
    """Return a function's place as "module:name", for example "evenly.layouts.entries:faults_on_gpu"."""
    return f"{function.__module__}:{function.__qualname__}"


def hook(declared: Callable[P, R]) -> Callable[P, R]:
    """A decorator for a function with parameters, a docstring and no body: calls run the function that `connect` names.

    That function's module is imported at the call, so that `import evenly` imports no more than it needs.
    """
    name = name_of(declared)

    @functools.wraps(declared)
    def call(*args: P.args, **named: P.kwargs) -> R:
        return cast(R, function_at(_places[name])(*args, **named))

    return call


def connect(places: Mapping[str, str]) -> None:
    """Set which function each hook calls. Both are places: "module:name"."""
    _places.update(places)


def function_at(place: str) -> Callable[..., Any]:
    """Import the function at a place, "module:name"."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
