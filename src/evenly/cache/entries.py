"""Files of the cache. They are written atomically, and verified when they are read.

A file starts with the length of its content, and a digest of its name and content. A file that does not
match (truncated, changed, renamed), is a link or belongs to another user is removed, and its caller makes
it again. This protects against accidents; `places` protects against other users.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import struct
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from evenly.cache import limit, places

MAGIC = b"evenly 1"
HEAD = struct.Struct("<8sQ32s")  # MAGIC, bytes of content, digest
HOUR = 3600  # seconds; the time of the last use is updated no more often than this
NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(
    os, "O_NONBLOCK", 0
)  # refuse links; do not wait for the writer of a pipe


def read_file(kind: str, name: str) -> bytes | None:
    """Return the content of a file of the cache. None if there is no file, or it cannot be trusted."""
    folder = places.directory(kind)
    path = folder / name
    if not os.path.lexists(path) or not places.usable(folder):
        return None
    try:
        handle = os.open(path, os.O_RDONLY | NOT_FOLLOWED | getattr(os, "O_BINARY", 0))
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link
            _throw_away(path)
        return None
    try:
        content = _content(handle, path)
    finally:
        os.close(handle)
    if content is None:
        _throw_away(path)
    return content


def write_file(kind: str, name: str, content: bytes) -> bool:
    """Write a file to the cache, atomically. Returns whether the cache could be written."""
    folder = places.directory(kind)
    with contextlib.suppress(OSError):
        places.make_folder(folder)
    head = HEAD.pack(MAGIC, len(content), _digest(name, content))
    if not places.usable(folder) or not places.replace_file(folder / name, head + content):
        return False
    limit.wrote(len(head) + len(content))
    return True


@contextlib.contextmanager
def alone(kind: str, name: str) -> Iterator[None]:
    """A context in which one process is at a time: it makes this file, and others then find it."""
    folder = places.directory(kind)
    with contextlib.suppress(OSError):
        places.make_folder(folder)
    usable = places.usable(folder)
    with places.locked(folder / name) if usable else contextlib.nullcontext():
        yield


def discard(kind: str, name: str) -> None:
    """Remove a file of the cache."""
    _throw_away(places.directory(kind) / name)


@contextlib.contextmanager
def borrowed(kind: str, content: bytes, ending: str) -> Iterator[Path]:
    """A context that makes a private temporary file with this content, and yields its path. Raises OSError.

    The file is in the cache if that is usable, since some systems run no programs from their folder for
    temporary files.
    """
    path = _written(kind, content, ending)
    try:
        yield path
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def _written(kind: str, content: bytes, ending: str) -> Path:
    folder = places.directory(kind)
    if places.usable(folder):
        with contextlib.suppress(OSError):
            return _temporary(content, ending, folder)
    return _temporary(content, ending, None)


def _temporary(content: bytes, ending: str, folder: Path | None) -> Path:
    handle, path = tempfile.mkstemp(suffix=ending, prefix=".evenly-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError:
        os.unlink(path)
        raise
    return Path(path)


# ---- pieces ----------------------------------------------------------------------------------------
def _content(handle: int, path: Path) -> bytes | None:
    """Return the content of an open file. None if it is not what was written."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        return None
    if why := places.another(status):
        places.warn(f"{path} {why}")
        return None
    try:
        with open(handle, "rb", closefd=False) as file:
            head = file.read(HEAD.size)
            if len(head) < HEAD.size:
                return None
            magic, size, digest = HEAD.unpack(head)
            if magic != MAGIC or status.st_size != HEAD.size + size:
                return None
            content = file.read(size)
    except OSError:
        return None
    if digest != _digest(path.name, content):
        return None
    if time.time() - status.st_mtime > HOUR:
        with contextlib.suppress(OSError):
            os.utime(path)
    return content


def _digest(name: str, content: bytes) -> bytes:
    found = hashlib.blake2b(name.encode() + b"\0", digest_size=32)
    found.update(content)
    return found.digest()


def _throw_away(path: Path) -> None:
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
