"""Where kernels run. To add a target is to add one folder and one line to TABLE."""

from __future__ import annotations

from typing import Any

from evenly.errors import UnavailableError, unknown

# name -> (module, class). Imported when first asked for: none of them is needed to import evenly.
TABLE: dict[str, tuple[str, str]] = {
    "cuda": ("evenly.targets.cuda", "CudaTarget"),
    "cpu": ("evenly.targets.cpu", "CpuTarget"),
    "python": ("evenly.targets.python", "PythonTarget"),
    "simt": ("evenly.targets.simt", "SimtTarget"),
}

_made: dict[str, Any] = {}


def get(name: str) -> Any:
    """The target of that name. Raises InputError (with the nearest name) or UnavailableError."""
    if not isinstance(name, str) or name not in _made:
        if not isinstance(name, str) or name not in TABLE:
            raise unknown("target", name, ["auto", *TABLE])
        import importlib

        module, cls = TABLE[name]
        target = getattr(importlib.import_module(module), cls)()
        target.require()
        _made[name] = target
    return _made[name]


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
