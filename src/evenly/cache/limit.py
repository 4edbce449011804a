"""The size limit of the cache. When it is exceeded, the files that were used longest ago are removed.

The limit is EVENLY_CACHE_LIMIT: 2 GB by default, 0 for no limit. A process checks it when it first writes to
the cache, and each time it has written another sixteenth of the limit. A call that finds its code in the cache
checks nothing. Measured winners do not count and are kept: they are small, and it takes long to measure them again.
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
ABANDONED = 3600  # seconds after which a partly written file is taken for abandoned
LOOKS = 16  # checks while a process writes as many bytes as the limit

_since_look: int | None = (
    None  # bytes that this process has written since its last check; None: no check yet
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the cache. size: in bytes. used: the time of the last use, in seconds since 1970."""

    path: str
    kind: str
    size: int
    used: float

    @property
    def whole(self) -> bool:
        """Whether the file is complete. The names of files that are being written begin with a dot."""
        return not os.path.basename(self.path).startswith(".")


def limit() -> int:
    """Return the limit in bytes; 0 means no limit. Raises InputError if the variable is not a size."""
    return size_of(VARIABLE, os.environ.get(VARIABLE) or str(DEFAULT))


def size_of(argument: str, text: str) -> int:
    """Convert "2GB", "500 MB", "1.5GiB" or "1000" to bytes. Raises InputError."""
    found = SIZE.fullmatch(text.strip())
    if not found or len(found[1]) > MOST_DIGITS or (found[3] and not found[2]):
        raise InputError(argument, expected="a size such as 2GB, 500MB or 0", given=repr(text))
    return int(float(found[1]) * (1024 if found[3] else 1000) ** POWERS[found[2].lower()])


def entries() -> list[Entry]:
    """Return all files that count towards the limit, of every version of evenly, in no order."""
    return [entry for kind, folder in _folders() for entry in _within(kind, folder)]


def wrote(nbytes: int) -> None:
    """Note that this process has written so many bytes to the cache, and check the limit from time to time.

    Raises InputError if the limit is not a size.
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
    """Remove the files used longest ago, until at most `most` bytes are left. Returns (files, bytes) removed."""
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
    """Yield (kind, folder) for every version of evenly, leaving out links."""
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
