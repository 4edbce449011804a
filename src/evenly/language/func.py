"""`@ev.func`: a function that kernels, layouts and schedules may call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType
from typing import Any

from . import reads, syntax
from .by_name import by_name
from .parse import parse
from .source import Source, check_decorated, fetch


class Func:
    """A function of the kernel language. A call from plain Python calls the function itself."""

    def __init__(self, function: Callable[..., Any], source: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._source = source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        return by_name(self, "a function")

    @property
    def source(self) -> Source:
        return parsed(self.function, self._source)[0]

    @property
    def tree(self) -> syntax.Function:
        return parsed(self.function, self._source)[1]


def func(function: Callable[..., Any] | None = None, *, source: str | None = None) -> Any:
    """Make a function callable from kernels, layouts and schedules.

    Its parameters may be numbers, tuples, arrays and layouts; it returns a number or a tuple.
    It is inlined at each call, with the types of that call. Called for its value, it is pure. Where the call is a
    statement, it may store, use atomics and walk atoms as a kernel may, and returns nothing. It may not recurse.

    source: its text, for functions that were made by `exec`.

    >>> import evenly as ev
    >>> @ev.func
    ... def square(v):
    ...     return v * v
    """
    check_decorated("ev.func", function, source)
    if function is None:
        return lambda f: func(f, source=source)
    return Func(function, source)


def parsed(function: Any, source: str | None = None) -> tuple[Source, syntax.Function]:
    """Return source and tree of a function, or of a method of a layout or schedule. source: its text, if given."""
    return _parsed(function, reads.code_of(function), source)


@functools.cache
def _parsed(
    function: Callable[..., Any], code: CodeType, text: str | None
) -> tuple[Source, syntax.Function]:
    source = fetch(function, text)
    return source, parse(source)
