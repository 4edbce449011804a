"""From emitted text to native functions, by way of a file that Numba's own cache goes with.

A file is named by what it depends on, and never changes once it is there: Numba stores
the machine code beside it and checks it against the file's time and size. So a file
appears whole, whoever comes first, with a time that is always the same.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

_loaded: dict[str, ModuleType] = {}
_loading = threading.Lock()


def load(text: str) -> ModuleType:
    """The module of this text, compiled; the same one each time in a process."""
    key = hashlib.sha256(f"{text}{_foundations()}".encode()).hexdigest()[:24]
    with _loading:
        if key not in _loaded:
            _loaded[key] = _import(f"evenly_cpu_{key}", text)
        return _loaded[key]


@functools.cache
def _foundations() -> str:
    """What emitted code calls: Numba's cache does not notice when that changes."""
    folder = Path(__file__).parent
    return "".join(
        (folder / f"{name}.py").read_text() for name in ("primitives", "atomics", "checks")
    )


def _import(name: str, text: str) -> ModuleType:
    path = _file(name, text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Numba looks its functions' modules up there
    try:
        with _without_collector():
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _file(name: str, text: str) -> Path:
    """The file that holds `text`, or a temporary one where the cache cannot be written."""
    from evenly.cache import directory

    for folder in (directory("cpu"), Path(_temporary())):
        path = folder / f"{name}.py"
        with contextlib.suppress(OSError):
            if path.exists() and path.read_text() == text:
                return path
            folder.mkdir(parents=True, exist_ok=True)
            _write(path, text)
            return path
    raise OSError(f"neither {directory('cpu')} nor {_temporary()} can be written")


def _write(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.utime(temporary, (0, 0))
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@functools.cache
def _temporary() -> str:
    import atexit
    import shutil

    folder = tempfile.mkdtemp(prefix="evenly-cpu-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


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
