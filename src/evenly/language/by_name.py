"""Pickle kernels and functions by name, as Python does with its own functions. Compiled code is not pickled.

So workers (of multiprocessing, of joblib) find them in the same module, and compile there. cloudpickle, which joblib
uses, pickles functions that cannot be imported by value, with what they capture. These are pickled likewise.
"""

from __future__ import annotations

import sys
from typing import Any

from evenly.errors import InputError


def by_name(thing: Any, what: str) -> str | tuple[Any, ...]:
    """Return what `__reduce__` returns for a kernel or function. Raises InputError if its name means something else."""
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
    """Whether cloudpickle is the caller: `__reduce__` is not told."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").endswith("cloudpickle.cloudpickle"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
