"""The data files that `evenly fit` has written for this user, in the cache of this version of evenly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from evenly.cache import directory, places, replace_file
from evenly.errors import InputError

KIND = "gpus"


def file_name(gpu: str) -> str:
    """Return the name of the data file of a GPU: nvidia-h200.toml."""
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-") + ".toml"


def texts() -> Iterator[tuple[Path, str]]:
    """Yield the files that no other user can have written, each with its text."""
    folder = directory(KIND)
    if places.usable(folder):
        for path in sorted(folder.glob("*.toml")):
            try:
                yield path, path.read_text()
            except (OSError, UnicodeError):
                continue


def keep(gpu: str, text: str) -> Path:
    """Write the data file of a GPU as a whole, and return its path. Raises InputError if that cannot be."""
    return write(directory(KIND) / file_name(gpu), text)


def write(path: Path, text: str) -> Path:
    if not replace_file(path, text.encode()):
        expected = "a place for the data file that can be written"
        raise InputError(str(path), expected=expected, given="one that cannot")
    return path
