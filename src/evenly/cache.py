"""Compiled code and measured winners on disk, in the user's cache directory. Nobody sees half a file of another's."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from evenly.version import __version__


def directory(kind: str = "") -> Path:
    """Where compiled code is kept: EVENLY_CACHE_DIR, else evenly's folder in the user's cache directory."""
    given = os.environ.get("EVENLY_CACHE_DIR")
    if given:
        base = Path(given)
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "evenly"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "evenly"
    return base / __version__ / kind if kind else base


def read_file(kind: str, name: str) -> bytes | None:
    """A cached file, or None. An unreadable cache is no error: it is slow, not wrong."""
    try:
        return (directory(kind) / name).read_bytes()
    except OSError:
        return None


def write_file(kind: str, name: str, content: bytes) -> Path | None:
    """Keep a file; it appears whole or not at all. None where the cache cannot be written."""
    path = directory(kind) / name
    return path if replace_file(path, content) else None


def replace_file(path: Path, content: bytes) -> bool:
    """Write a file, which others see as it was or as it is, never between. Whether it could be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return False
    return True
