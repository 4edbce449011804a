"""Kernels and functions pickle by name, as Python's own functions do: compiled code stays where it is.

So workers (of multiprocessing, of joblib) find them in the same module, and compile there. cloudpickle, which joblib
uses, sends functions that no import leads to as they are, with what they capture; and so these.
"""

from __future__ import annotations

import sys
from typing import Any

from evenly.errors import InputError


def by_name(thing: Any, what: str) -> str | tuple[Any, ...]:
    """What `__reduce__` gives for a kernel or function. Raises InputError where its name leads elsewhere."""
    function = thing.function
    if function.__module__ == "__main__" and _for_cloudpickle():
        return type(thing), (function, thing.source.text)
    found = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is thing:
        return str(function.__qualname__)
    if found is function:
        return type(thing), (function, thing._source)
    if getattr(found, "function", None) is function and hasattr(found, "copy"):
        return type(thing).copy, (found,)
    if _for_cloudpickle():
        return type(thing), (function, thing.source.text)
    raise InputError(
        f"pickling {function.__name__}",
        expected=f"{what} that its module has under its name",
        given=f"one that is not {function.__module__}.{function.__qualname__}",
        hint="define it at the top of a module, from where other processes can import it",
    )


def _for_cloudpickle() -> bool:
    """Whether it is cloudpickle that asks: `__reduce__` is not told."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").endswith("cloudpickle.cloudpickle"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
