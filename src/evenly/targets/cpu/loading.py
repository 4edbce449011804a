"""Compile emitted text to a module of native functions. The module has no file; its functions are in the cache."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import sys
import threading
from collections.abc import Iterator
from types import ModuleType

_loaded: dict[str, ModuleType] = {}
_loading = threading.Lock()


def load(text: str) -> ModuleType:
    """Compile this text, and return its module. In a process, the same text always gives the same module."""
    key = hashlib.sha256(text.encode()).hexdigest()
    with _loading:
        if key not in _loaded:
            _loaded[key] = _made(f"evenly_cpu_{key}", text)
        return _loaded[key]


def _made(name: str, text: str) -> ModuleType:
    module = ModuleType(name)
    code = compile(text, f"<{name}>", "exec")
    sys.modules[name] = module  # where Numba looks up the module of a function
    try:
        with _without_collector():
            exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Turn off the garbage collector. Compiling makes little garbage, and looking for it takes a tenth of the time."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
