"""What a value becomes where paths meet: the type that the compiler found for all of them.

The reference runs one path at a time, so of `x32[i] if c else y64[i]` it sees one side's
type. The program knows both. Its table is asked by the place in the source and by the calls
that lead there, since each call of a function has types of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import GeneratorType
from typing import Any

from evenly.language import ir, names
from evenly.language.diagnostics import Place
from evenly.language.types import Scalar

from .typed import as_type, is_number, weakly


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of the language: what it does is typed by its call."""
    function.inlined = True  # type: ignore[attr-defined]
    return function


class Meets:
    """The table of one run, and the calls that it stands in."""

    def __init__(self, table: Mapping[ir.Meet, ir.Types]) -> None:
        self._table = table
        self._sites: tuple[Place, ...] = ()

    def met(self, place: Place, value: Any, name: str = "") -> Any:
        """`value` as it is from `place` on."""
        return _converted(value, self._table.get((self._sites, place, name)))

    def known(self, place: Place, name: str) -> bool:
        """Whether `name` has a value from `place` on that is the same kind of number on every path."""
        return self._table.get((self._sites, place, name)) is not None

    def call(self, place: Place, function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        """`function(*given, **named)`, called at `place`."""
        if function is names.reduce:
            return self._reduced(place, *given, **named)
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

    def _reduced(self, place: Place, function: Any, values: Any, start: Any) -> Any:
        step = functools.partial(self.call, place, function)
        return self.met(place, names.reduce(step, values, self.met(place, start)))


def _converted(value: Any, types: ir.Types) -> Any:
    if isinstance(types, Scalar) and is_number(value):
        made = as_type(value, types)
        return weakly(made) if types.weak else made
    if isinstance(types, tuple) and type(value) is tuple and len(value) == len(types):
        return tuple(map(_converted, value, types))
    return value
