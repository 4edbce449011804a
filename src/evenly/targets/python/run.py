"""Run a kernel as a Python function, with evenly's functions in place of Python's."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from types import CodeType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from evenly.errors import EvenlyError
from evenly.language.func import Func, parsed
from evenly.language.ir import Meet, Types
from evenly.language.source import Source
from evenly.layouts.contract import is_layout

from . import functions
from .arrays import CheckedArray
from .failures import AssertionFailed, RunError, located
from .layouts import Appended, Emitted, LayoutView, Walk
from .meets import Meets, inlined
from .rewrite import code_of, function_with
from .tasks import TaskView

# Code objects are cached, since compiling a function again takes longer than many test kernels run.
_codes: MutableMapping[Callable[..., Any], tuple[Source, CodeType]] = weakref.WeakKeyDictionary()

# If an error is raised in one of evenly's own layouts, it is reported at the kernel's line.
_OURS = str(Path(__file__).parents[2])


def _code(function: Callable[..., Any], source: Source) -> CodeType:
    """Return the rewritten code of a function. It is compiled again if the function has a new source."""
    known = _codes.get(function)
    if known is None or known[0] is not source:
        known = _codes[function] = source, code_of(function, source)
    return known[1]


class _Run:
    """One run. It prepares each function once, when it is first used."""

    def __init__(self, meets: Mapping[Meet, Types]) -> None:
        self.walk = Walk(self.method)
        table = Meets(meets, self.walk.running)
        self.ours = {n: getattr(table, n) for n in ("met", "known", "call")}
        self.ours["failed"] = self.failed
        self.prepared: dict[Any, Callable[..., Any]] = {}
        self.codes: dict[CodeType, str] = {}

    def function(self, function: Callable[..., Any], source: Source) -> Callable[..., Any]:
        made = self.prepared.get(function)
        if made is None:
            code = _code(function, source)
            if not source.file.startswith(_OURS):
                self._name(code, source.name)
            made = function_with(function, code, self.replacement, functions.BUILTINS, self.ours)
            self.prepared[function] = made
        return made

    def _name(self, code: CodeType, name: str) -> None:
        """Record that `code`, and the generators in it, belong to the user's function `name`."""
        self.codes[code] = name
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self._name(inner, name)

    def method(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Prepare a method of a layout."""
        made = self.prepared.get(function)
        return made if made is not None else self.function(function, parsed(function)[0])

    def replacement(self, thing: Any) -> Any:
        """Return what replaces a captured object."""
        if isinstance(thing, Func):
            return self._func(thing)
        if isinstance(thing, ModuleType):
            return functions.ModuleProxy(thing, self.replacement)
        if type(thing) is tuple:
            return tuple(map(self.replacement, thing))
        return functions.replacement(thing)

    def _func(self, func: Func) -> Callable[..., Any]:
        """Prepare an @ev.func function at its first call. It may refer to itself, or to one that is never called."""
        return inlined(
            lambda *given, **named: self.function(func.function, func.source)(*given, **named)
        )

    def failed(self, text: str) -> None:
        """Raise the error for the assertion `text`, which does not hold."""
        tile = self.walk.id
        raise AssertionFailed(
            text, expected="it to hold", given="False" if tile is None else f"False in tile {tile}"
        )

    def argument(self, name: str, value: Any) -> Any:
        if getattr(value, "emits", ""):
            return Emitted(value, self.walk)
        if getattr(value, "appends", False):
            return Appended(value)
        if getattr(value, "tasks", False):
            return TaskView(value, name, self.walk).seen
        if is_layout(value):
            return LayoutView(value, name, self.walk).seen
        if value is None or isinstance(value, int | float | complex | np.generic):
            return functions.replacement(value)
        return CheckedArray(value, name)


def run(
    function: Callable[..., Any],
    source: Source,
    arguments: Mapping[str, Any],
    meets: Mapping[Meet, Types] = MappingProxyType({}),
) -> None:
    """Run the kernel `function`. Tiles and atoms are walked in ascending order.

    arguments: arrays, layouts, numbers or None, by name. All arrays are in CPU memory.
    meets: those of the program for these arguments; without them, values have the types of the path taken.
    Raises RunError (an InputError), which names the user's file and line, for an index out of bounds, an
    integer division by zero and the like.
    """
    state = _Run(meets)
    prepared = state.function(function, source)
    given = {name: state.argument(name, value) for name, value in arguments.items()}
    try:
        with np.errstate(all="ignore"):
            prepared(**given)
    except (RunError, ZeroDivisionError, ValueError, OverflowError) as error:
        if isinstance(error, EvenlyError) and not isinstance(error, RunError):
            raise
        said = located(error, state.codes)
        raise said.with_traceback(None) from (None if said is error else error)
