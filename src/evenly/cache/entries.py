"""Files of the cache: they appear whole, and are given out only as they were written.

A file starts with what it should be: its length, and a digest of its name and content. One that is
anything else (cut short, changed, renamed, a link, another user's) is thrown away, and made anew by whoever
asked for it. That keeps accidents out; `places` keeps people out.
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
HOUR = 3600  # seconds: how exactly the last use is kept
NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(
    os, "O_NONBLOCK", 0
)  # no links; no wait for a pipe's writer


def read_file(kind: str, name: str) -> bytes | None:
    """What was kept under this name; None where there is nothing, or nothing that can be trusted."""
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
    """Keep a file; it appears whole or not at all. Whether the cache could be written."""
    folder = places.directory(kind)
    with contextlib.suppress(OSError):
        places.make_folder(folder)
    head = HEAD.pack(MAGIC, len(content), _digest(name, content))
    if not places.usable(folder) or not places.replace_file(folder / name, head + content):
        return False
    limit.wrote(len(head) + len(content))
    return True


def discard(kind: str, name: str) -> None:
    """Remove a file that is of no use after all."""
    _throw_away(places.directory(kind) / name)


@contextlib.contextmanager
def borrowed(kind: str, content: bytes, ending: str) -> Iterator[Path]:
    """A file of this content for as long as it is needed, that nobody else knows of. Raises OSError.

    It lies in the cache, since programs may not be run from everywhere, else among temporary files.
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
    """The content of an open file; None where it is not what was written."""
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
