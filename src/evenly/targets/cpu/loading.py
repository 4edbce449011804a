"""From emitted text to native functions: a module that is in no file, whose functions are kept in the cache."""

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
    """The module of this text, compiled; the same one each time in a process."""
    key = hashlib.sha256(text.encode()).hexdigest()
    with _loading:
        if key not in _loaded:
            _loaded[key] = _made(f"evenly_cpu_{key}", text)
        return _loaded[key]


def _made(name: str, text: str) -> ModuleType:
    module = ModuleType(name)
    code = compile(text, f"<{name}>", "exec")
    sys.modules[name] = module  # Numba looks its functions' modules up there
    try:
        with _without_collector():
            exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Compiling makes many objects and little garbage: looking for it takes a tenth of the time."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
