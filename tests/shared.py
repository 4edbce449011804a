"""What the processes of one test run share: each result of the reference is computed by one of pytest-xdist's workers."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from evenly.cache import replace_file

R = TypeVar("R")

FOLDER: Path | None = None  # of the run; None if it has one process


def once(key: str, make: Callable[[], R]) -> R:
    """Return what `make` returns, or has returned in another process of this run. key: names it in all of them."""
    if FOLDER is None:
        return make()
    path = FOLDER / hashlib.sha256(key.encode()).hexdigest()
    with contextlib.suppress(FileNotFoundError):
        found: R = pickle.loads(path.read_bytes())
        return found
    made = make()
    replace_file(path, pickle.dumps(made))
    return made
