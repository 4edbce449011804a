"""Where kernels run. To add a target is to add one folder and one line to TABLE."""

from __future__ import annotations

import functools
import importlib

from evenly.errors import UnavailableError, unknown

from .contract import Target

# name -> (module, class), the best first. Imported when first asked for: none of them is needed to import evenly.
TABLE: dict[str, tuple[str, str]] = {
    "cuda": ("evenly.targets.cuda", "CudaTarget"),
    "cpu": ("evenly.targets.cpu", "CpuTarget"),
    "python": ("evenly.targets.python", "PythonTarget"),
    "simt": ("evenly.targets.simt", "SimtTarget"),
}

_working: dict[str, Target] = {}


def find(name: str) -> Target:
    """The target of that name, whether or not it works here. Raises InputError, with the nearest name."""
    if not isinstance(name, str) or name not in TABLE:
        raise unknown("target", name, ["auto", *TABLE])
    return _made(*TABLE[name])


@functools.cache
def _made(module: str, cls: str) -> Target:
    made: Target = getattr(importlib.import_module(module), cls)()
    return made


def get(name: str) -> Target:
    """The target of that name. Raises InputError (with the nearest name) or UnavailableError."""
    if not isinstance(name, str) or name not in _working:
        target = find(name)
        target.require()
        _working[name] = target
    return _working[name]


def timed() -> list[str]:
    """The names of those whose times mean something."""
    return [name for name in TABLE if find(name).clock]


def best_target() -> tuple[str, str]:
    """The fastest target that works here, and why the fastest of all does not ("" if it does)."""
    missing = ""
    for name in timed():
        try:
            get(name)
            return name, missing
        except UnavailableError as error:
            missing = missing or error.missing
    return "python", missing


def working(name: str) -> Target:
    """The target of that name, "auto" for the best one. Raises UnavailableError where it does not work here."""
    return get(best_target()[0] if name == "auto" else name)


def available() -> dict[str, str]:
    """Each target's name with "" where it works, else what is missing."""
    out = {}
    for name in TABLE:
        try:
            get(name)
            out[name] = ""
        except UnavailableError as error:
            out[name] = str(error)
    return out
