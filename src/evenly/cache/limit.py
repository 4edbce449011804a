"""How much the cache holds, and what goes when it is too much: what was used longest ago.

The limit is EVENLY_CACHE_LIMIT, 2 GB where it is not set; 0 is none. It is looked after when a process writes
for the first time, and whenever it has written a sixteenth of the limit: never at a call that finds its code.
Measured winners are small, and cannot be made anew as cheaply: they count for nothing here and stay.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evenly.cache import places
from evenly.errors import InputError

VARIABLE = "EVENLY_CACHE_LIMIT"
DEFAULT = 2 * 10**9
KINDS = ("cpu", "cubin", "simt", "matrices")
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
MOST_DIGITS = 20
ABANDONED = 3600  # seconds after which a file that somebody began to write is nobody's
LOOKS = 16  # times a process looks while it writes as much as the limit

_since_look: int | None = (
    None  # bytes that this process has written since it looked; None: it has not yet
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the cache. used: when last, in seconds since 1970."""

    path: str
    kind: str
    size: int
    used: float

    @property
    def whole(self) -> bool:
        """Whether it is no file that somebody writes, or began to write."""
        return not os.path.basename(self.path).startswith(".")


def limit() -> int:
    """The most bytes that the cache keeps; 0: any number. Raises InputError for a size that is none."""
    return size_of(VARIABLE, os.environ.get(VARIABLE) or str(DEFAULT))


def size_of(argument: str, text: str) -> int:
    """The bytes of "2GB", "500 MB", "1.5GiB" or "1000". Raises InputError."""
    found = SIZE.fullmatch(text.strip())
    if not found or len(found[1]) > MOST_DIGITS or (found[3] and not found[2]):
        raise InputError(argument, expected="a size such as 2GB, 500MB or 0", given=repr(text))
    return int(float(found[1]) * (1024 if found[3] else 1000) ** POWERS[found[2].lower()])


def entries() -> list[Entry]:
    """All files that count, of every version of evenly, in no order."""
    return [entry for kind, folder in _folders() for entry in _within(kind, folder)]


def wrote(nbytes: int) -> None:
    """This process has written so many bytes: look after the limit now and then.

    Raises InputError for a wrong limit.
    """
    global _since_look
    most = limit()
    if most == 0:
        return
    first = _since_look is None
    _since_look = (_since_look or 0) + nbytes
    if first or _since_look > most // LOOKS:
        _since_look = 0
        trim(most)


def trim(most: int) -> tuple[int, int]:
    """Keep at most so many bytes: remove what was used longest ago. How many files went, and their bytes."""
    long_ago = time.time() - ABANDONED
    found = sorted((e for e in entries() if e.whole or e.used < long_ago), key=lambda e: e.used)
    too_much = sum(entry.size for entry in found) - most
    files = removed = 0
    for entry in found:
        if removed >= too_much and entry.whole:
            continue
        with contextlib.suppress(OSError):  # another process has just removed it
            os.unlink(entry.path)
            files, removed = files + 1, removed + entry.size
    return files, removed


def _folders() -> Iterator[tuple[str, Path]]:
    """The folders of each kind: they are evenly's own, and no links to anything else."""
    try:
        versions = list(os.scandir(places.directory()))
    except OSError:
        return
    for version in versions:
        for kind in KINDS:
            folder = Path(version.path) / kind
            if version.name[:1].isdigit() and not version.is_symlink() and not folder.is_symlink():
                yield kind, folder


def _within(kind: str, folder: Path) -> Iterator[Entry]:
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            try:
                status = os.lstat(path)
            except OSError:  # another process has just removed it
                continue
            yield Entry(path, kind, status.st_size, status.st_mtime)
