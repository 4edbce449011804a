"""The targets say where kernels run. contract.py says what one is.

    cuda, simt     GPUs, and an emulator that checks; both run what gpu emits
    cpu, python    Numba; the reference
    printing       the program as text
    compilations   bounds how many candidates `plan.tune` compiles; workspace: the memory of scratch arrays

To add one, add a folder here and a line of TABLE.
"""

from __future__ import annotations

import functools
import importlib

from evenly.errors import UnavailableError, unknown

from .contract import Target

# name -> (module, class), the fastest first. A target is imported at its first use: `import evenly` needs none.
TABLE: dict[str, tuple[str, str]] = {
    "cuda": ("evenly.targets.cuda", "CudaTarget"),
    "cpu": ("evenly.targets.cpu", "CpuTarget"),
    "python": ("evenly.targets.python", "PythonTarget"),
    "simt": ("evenly.targets.simt", "SimtTarget"),
}

_working: dict[str, Target] = {}


def find(name: str) -> Target:
    """Return the target of that name, even if it cannot run here. Raises InputError, with the nearest name."""
    if not isinstance(name, str) or name not in TABLE:
        raise unknown("target", name, ["auto", *TABLE])
    return _made(*TABLE[name])


@functools.cache
def _made(module: str, cls: str) -> Target:
    made: Target = getattr(importlib.import_module(module), cls)()
    return made


def get(name: str) -> Target:
    """Return the target of that name, if it can run here.

    Raises InputError, with the nearest name, or UnavailableError.
    """
    if not isinstance(name, str) or name not in _working:
        target = find(name)
        target.require()
        _working[name] = target
    return _working[name]


def timed() -> list[str]:
    """Return the names of the targets whose measured times mean something."""
    return [name for name in TABLE if find(name).clock]


def best_target() -> tuple[str, str]:
    """Return the name of the fastest target that works here, and why the fastest of all does not ("" if it does)."""
    missing = ""
    for name in timed():
        try:
            get(name)
            return name, missing
        except UnavailableError as error:
            missing = missing or error.missing
    return "python", missing


def working(name: str) -> Target:
    """Return the target of that name; "auto" is the fastest. Raises UnavailableError if it does not work here."""
    return get(best_target()[0] if name == "auto" else name)


def available() -> dict[str, str]:
    """Return the name of each target, with "" if it works here, or else what is missing."""
    out = {}
    for name in TABLE:
        try:
            get(name)
            out[name] = ""
        except UnavailableError as error:
            out[name] = str(error)
    return out
