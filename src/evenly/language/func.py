"""`@ev.func`: a function that kernels, layouts and schedules may call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import syntax
from .by_name import by_name
from .parse import parse
from .source import Source, check_decorated, fetch


class Func:
    """A pure function of the kernel language. Called from plain Python it is that function."""

    def __init__(self, function: Callable[..., Any], source: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._source = source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        return by_name(self, "a function")

    @functools.cached_property
    def source(self) -> Source:
        return fetch(self.function, self._source)

    @functools.cached_property
    def tree(self) -> syntax.Function:
        return parse(self.source)


def func(function: Callable[..., Any] | None = None, *, source: str | None = None) -> Any:
    """Make a function callable from kernels, layouts and schedules.

    Its parameters may be numbers, tuples, arrays and layouts; it returns a number or a tuple.
    It is inlined at each call, with the types of that call. It may not store or recurse.
    `source`: its text, for functions that were made by `exec`.

    >>> import evenly as ev
    >>> @ev.func
    ... def square(v):
    ...     return v * v
    """
    check_decorated("ev.func", function, source)
    if function is None:
        return lambda f: func(f, source=source)
    return Func(function, source)


@functools.cache
def parsed(function: Callable[..., Any]) -> tuple[Source, syntax.Function]:
    """Source and tree of a method of a layout or schedule."""
    source = fetch(function)
    return source, parse(source)
