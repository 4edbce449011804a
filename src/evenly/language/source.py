"""From a Python function to its source text, its place in a file and what it captures."""

from __future__ import annotations

import builtins
import functools
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from evenly.errors import InputError


@dataclass(frozen=True)
class Source:
    """A function's text, dedented, and where it stood.

    `indent` columns were removed and `first_line` is the file's line of the first line,
    so that refusals can point at the user's own file.
    """

    name: str
    text: str
    file: str
    first_line: int
    indent: int
    captured: Mapping[str, Any] = field(repr=False)

    def line(self, number: int) -> str:
        """The file's line `number` (counted from 1 at the top of the file)."""
        lines = self.text.splitlines()
        index = number - self.first_line
        body = lines[index] if 0 <= index < len(lines) else ""
        return " " * self.indent + body if body else ""


def fetch(function: Callable[..., Any], source: str | None = None) -> Source:
    """The source of `function`; `source` replaces it where Python keeps none (`exec`).

    Raises InputError where there is no source to be had.
    """
    name = getattr(function, "__qualname__", repr(function))
    code = getattr(function, "__code__", None)
    if code is None:
        raise InputError(name, expected="a Python function", given=type(function).__name__)
    if source is not None:
        text, first, file = source, 1, f"<source of {name}>"
    else:
        linecache.checkcache(code.co_filename)
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise InputError(
                name,
                expected="a function whose source can be read",
                given="none (made by exec, or typed at a bare prompt?)",
                hint="put it in a file, or pass its text as source=",
            ) from None
        text, file = "".join(lines), code.co_filename
    dedented = textwrap.dedent(text)
    first_text = next((line for line in text.splitlines() if line.strip()), "")
    indent = len(first_text) - len(first_text.lstrip())
    return Source(name, dedented, file, first, indent, captured(function))


class Captured(Mapping[str, Any]):
    """The names that a function sees from outside, as they are at the moment: builtins, globals, closure cells."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._globals = function.__globals__
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )

    def __getitem__(self, name: str) -> Any:
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:  # a cell that is not filled yet (a recursive definition)
                raise KeyError(name) from None
        return self._globals[name] if name in self._globals else vars(builtins)[name]

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._cells, *self._globals, *vars(builtins)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def captured(function: Callable[..., Any]) -> Captured:
    return Captured(function)


def constants(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The values that compiled code of `function` holds as constants: part of the key of that code.

    Numbers, None, tuples, and what the @ev.func functions that it names hold in turn.
    """
    found: list[Any] = []
    _constants(function, found, set())
    return tuple(found)


def captures(function: Callable[..., Any]) -> bool:
    """Whether `constants` may change: names from outside that are numbers, modules or @ev.func functions now."""
    visible = Captured(function)
    things = (visible.get(name, visible) for name in _names(function.__code__))
    return any(isinstance(t, (*_CONSTANT, ModuleType)) or hasattr(t, "tree") for t in things)


def _constants(function: Callable[..., Any], found: list[Any], seen: set[int]) -> None:
    seen.add(id(function))
    names = _names(function.__code__)
    visible = Captured(function)
    for name in names:
        thing = visible.get(name, visible)
        if thing is visible:  # not a name from outside: an attribute
            continue
        if isinstance(thing, _CONSTANT):
            found.append((name, type(thing), repr(thing)))
        elif isinstance(thing, ModuleType):
            parts = ((n, vars(thing).get(n)) for n in names)
            found.extend(
                (name, n, repr(part))
                for n, part in parts
                if isinstance(part, bool | int | float | np.generic)
            )
        elif hasattr(thing, "tree") and id(thing.function) not in seen:  # an @ev.func
            found.append((name, id(thing.function)))
            _constants(thing.function, found, seen)


_CONSTANT = (bool, int, float, np.generic, tuple, type(None))


@functools.lru_cache(maxsize=1024)
def _names(code: CodeType) -> tuple[str, ...]:
    """The names from outside that a function uses, and attributes; those of the generators in it too."""

    def used(inner: CodeType) -> Iterator[str]:
        yield from inner.co_names
        for part in inner.co_consts:
            if isinstance(part, CodeType):
                yield from used(part)

    return tuple(dict.fromkeys((*code.co_freevars, *used(code))))
