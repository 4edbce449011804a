"""A kernel's parameters, and how the values of a call are assigned to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from evenly.errors import InputError, unknown
from evenly.language import reads

_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, _PLAIN)


OF_CALLS = "an argument of a call, or of plan.bind"
SO_WAIT = "kernel(..., wait=False), or plan(..., wait=False)"


class Parameters:
    """The parameters of a function, with Python's rules: positional, named, with defaults.

    names: of all parameters, in order.
    strict: whether there are keyword-only ones. Values in this order are then no valid call.
    starred: whether there is one such as *args, which kernels may not have.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._kinds = {
            n: p.kind
            for n, p in inspect.signature(function, follow_wrapped=False).parameters.items()
        }
        self.names = tuple(self._kinds)
        self._by_place = [n for n, kind in self._kinds.items() if kind in _BY_PLACE]
        self.strict = inspect.Parameter.KEYWORD_ONLY in self._kinds.values()
        self.starred = any(
            kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            for kind in self._kinds.values()
        )

    def defaults(self) -> dict[str, Any]:
        """Return the function's current defaults."""
        return reads.defaults_of(self._function)

    def waits(self, named: dict[str, Any]) -> bool:
        """Take `wait=` out of the named arguments of a call, and return it, unless a parameter has this name."""
        if "wait" in self._kinds or "wait" not in named:
            return True
        given = named.pop("wait")
        if not isinstance(given, bool):
            raise InputError("wait", expected="True or False", given=repr(given))
        return given

    def arranged(
        self, args: tuple[Any, ...], named: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return the value of each parameter, in order. Raises InputError for a call that Python would refuse."""
        if len(args) > len(self._by_place):
            raise self._misfit(str(len(args)), defaults)
        found = dict(zip(self._by_place, args, strict=False))
        for name, value in named.items():
            self._check(name, found)
            found[name] = value
        missing = [n for n in self.names if n not in found and n not in defaults]
        if missing:
            raise self._misfit(f"{len(found)}, without {' and '.join(missing)}", defaults)
        return tuple(found[n] if n in found else defaults[n] for n in self.names)

    def _check(self, name: str, found: Mapping[str, Any]) -> None:
        """Check that an argument can be given by this name."""
        if name == "wait" and name not in self._kinds:
            raise InputError(name, expected=OF_CALLS, given="one elsewhere", hint=SO_WAIT)
        if name not in self._kinds:
            raise unknown(f"argument of {self._function.__name__}", name, self.names)
        if self._kinds[name] is inspect.Parameter.POSITIONAL_ONLY:
            expected = "a value by place: the parameter stands before the /"
            raise InputError(name, expected=expected, given=f"{name}=")
        if name in found:
            raise InputError(name, expected="one value", given=f"one by place, and {name}=")

    def _misfit(self, given: str, defaults: Mapping[str, Any]) -> InputError:
        least, most = sum(n not in defaults for n in self.names), len(self.names)
        count = str(most) if least == most else f"{least} to {most}"
        expected = f"{count} argument{'s' * (count != '1')} ({self.listed(defaults)})"
        return InputError(self._function.__name__, expected=expected, given=given)

    def listed(self, defaults: Mapping[str, Any]) -> str:
        """Return the parameters as the definition lists them: A, x, /, *, alpha=2.0."""
        out: list[str] = []
        before: Any = None
        for name, kind in self._kinds.items():
            if before is inspect.Parameter.POSITIONAL_ONLY is not kind:
                out.append("/")
            if kind is inspect.Parameter.KEYWORD_ONLY is not before:
                out.append("*")
            out.append(f"{name}={_shown(defaults[name])}" if name in defaults else name)
            before = kind
        if before is inspect.Parameter.POSITIONAL_ONLY:
            out.append("/")
        return ", ".join(out)


def _shown(value: Any) -> str:
    """Return the text of a default for a one-line message."""
    short = isinstance(value, int) and value.bit_length() < 64
    return repr(value) if short or isinstance(value, float | complex | None) else "..."
