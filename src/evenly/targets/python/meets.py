"""Convert a value where paths of a program meet, to the type that the compiler found for all paths.

The reference runs only one path, so for `x32[i] if c else y64[i]` it sees the type of one side. The
program knows both. The key of its table is the place in the source and the calls that lead there,
since each call of a function has its own types.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import GeneratorType
from typing import Any

from evenly.language import ir, names
from evenly.language.diagnostics import Span
from evenly.language.types import WEAK_INT, Scalar

from . import operators
from .typed import GREATEST, LEAST, as_type, is_number, weakly


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of the language, whose types depend on the place of the call."""
    function.inlined = True  # type: ignore[attr-defined]
    return function


class Meets:
    """The table of one run, and the calls that it is currently in."""

    def __init__(
        self, table: Mapping[ir.Meet, ir.Types], running: Callable[[], dict[Any, Any]]
    ) -> None:
        """running: returns the running values of the walk over atoms that the run is in."""
        self._table = table
        self._running = running
        self._sites: tuple[Span, ...] = ()

    def met(self, place: Span, value: Any, name: str = "") -> Any:
        """Convert `value` to the type that it has from `place` on."""
        return _converted(value, self._table.get((self._sites, place, name)))

    def known(self, place: Span, name: str) -> bool:
        """Whether, from `place` on, `name` has the same type on every path."""
        return self._table.get((self._sites, place, name)) is not None

    def call(self, place: Span, function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        """Return `function(*given, **named)`, called at `place`."""
        if function is names.reduce:
            return self._reduced(place, *given, **named)
        if function is names.scan:
            return self._scanned(place, *given, **named)
        if function is names.rank:
            return self._scanned(place, *(int(bool(c)) for c in given), exclusive=True)
        if getattr(function, "inlined", False):
            outer, self._sites = self._sites, (*self._sites, place)
            try:
                result = function(*given, **named)
            finally:
                self._sites = outer
            return self.met(place, result)
        result = function(*given, **named)
        of_many = bool(given) and isinstance(given[0], GeneratorType)
        return self.met(place, result) if of_many else result

    def _reduced(self, place: Span, function: Any, values: Any, start: Any) -> Any:
        step = functools.partial(self.call, place, function)
        return self.met(place, names.reduce(step, values, self.met(place, start)))

    def _scanned(
        self, place: Span, value: Any, f: Any = None, start: Any = None, *, exclusive: Any = False
    ) -> Any:
        """Keep the running value of this call in the walk over the tile's atoms."""
        step = operators.add if f is None else functools.partial(self.call, place, f)
        key, running = (self._sites, place), self._running()
        before = running.get(key)
        if before is None:
            before = self.met(place, 0 if start is None else start)
        running[key] = after = self.met(place, step(before, value))
        return before if exclusive else after


def _converted(value: Any, types: ir.Types) -> Any:
    if type(value) is int and types is WEAK_INT and LEAST <= value <= GREATEST:
        return value  # as most values are
    if isinstance(types, Scalar) and is_number(value):
        made = as_type(value, types)
        return weakly(made) if types.weak else made
    if isinstance(types, tuple) and type(value) is tuple and len(value) == len(types):
        return tuple(map(_converted, value, types))
    return value
