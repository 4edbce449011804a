"""Where the cache is, and whether its contents can be trusted.

evenly runs code that it reads from the cache, so no other user may be able to put files there. evenly's
folders must belong to the user, and no folder above them may be writable by others, as ssh demands for its
keys. A folder with the sticky bit, such as /tmp, is fine.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from evenly.version import __version__

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MOST_LINKS = 40  # on one path; Linux has the same limit
_warned: set[Path] = set()


def base() -> Path:
    """Return EVENLY_CACHE_DIR, else evenly's folder in the user's cache directory. RuntimeError: the user has none."""
    given = os.environ.get("EVENLY_CACHE_DIR")
    if given:
        return Path(given)
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "evenly"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evenly"


def directory(kind: str = "") -> Path:
    """Return the cache's folder, or the folder in it for files of a `kind` of this version of evenly."""
    try:
        found = base()
    except (
        RuntimeError
    ):  # without a home: a folder that does not exist and cannot be made, so the cache stays unused
        found = Path(os.devnull) / "evenly"
    return found.joinpath(__version__, kind) if kind else found


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents, for this user alone (mode 700). Raises OSError."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):  # another process has just made it
        folder.mkdir(mode=0o700)


def replace_file(path: Path, content: bytes) -> bool:
    """Write a file atomically. Returns whether it could be written."""
    try:
        make_folder(path.parent)
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


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold a lock that has the file's name. Where a system or a folder has no locks, nobody waits."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            lock = held.enter_context((file.parent / f".{file.name}.lock").open("a"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ---- trust -----------------------------------------------------------------------------------------
def usable(folder: Path) -> bool:
    """Whether a folder of the cache exists and no other user can write to it. Warns once if one can."""
    try:
        found = fault(folder)
    except OSError:
        return False
    if found:
        warn(found)
    return not found


def warn(found: str) -> None:
    """Warn once for each cache that it cannot be trusted."""
    where = directory()
    if where not in _warned:
        _warned.add(where)
        text = (
            f"evenly's cache: {found}, so it is not used: what is there could have been planted. Remove it, "
            "or take it away from others (chown, chmod go-w), or name another folder in EVENLY_CACHE_DIR"
        )
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def fault(folder: Path) -> str:
    """Return why the contents of a folder of the cache cannot be trusted, or "" if they can.

    Raises OSError if there is no such folder.
    """
    if os.name == "nt":  # folders in a user's profile are private; there are no permission bits
        os.scandir(folder).close()
        return ""
    own = os.path.realpath(directory())
    for path, status in _way(os.path.join(os.getcwd(), folder)):
        inside = path == own or path.startswith(own + os.sep)
        if not stat.S_ISLNK(status.st_mode):
            why = another(status) if inside else _open_to_others(status)
        else:  # the owner of a link can change where it leads
            why = "" if status.st_uid in (0, os.geteuid()) else "belongs to another user"
        if why:
            return f"{path} {why}"
    return ""


def another(status: os.stat_result) -> str:
    """Return why one of evenly's own files or folders cannot be trusted, or "" if it can."""
    if os.name == "nt":
        return ""
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written by others" if status.st_mode & OTHERS_WRITE else ""


def _open_to_others(status: os.stat_result) -> str:
    """Return why a folder above the cache cannot be trusted, or "". It may belong to root, or be shared as /tmp is."""
    if status.st_uid not in (0, os.geteuid()):
        return "belongs to another user"
    mode = status.st_mode
    if mode & stat.S_ISVTX or not mode & OTHERS_WRITE:
        return ""
    alone = not mode & stat.S_IWOTH and _private_group(status.st_gid)
    return "" if alone else "can be written by others"


def _private_group(group: int) -> bool:
    """Whether the user is the only member of a group. Some systems give each user a group of that kind."""
    try:
        import grp
        import pwd  # which Pyodide lacks

        name, found = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}


def _way(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every folder and link that an absolute path leads through, from the root on. Raises OSError."""
    at, parts, links = os.sep, path.split(os.sep)[::-1], 0
    yield at, os.lstat(at)
    while parts:
        part = parts.pop()
        if part in ("", os.curdir):
            continue
        if part == os.pardir:
            at = os.path.dirname(at)
            continue
        step = os.path.join(at, part)
        status = os.lstat(step)
        if not stat.S_ISDIR(status.st_mode) and not stat.S_ISLNK(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), step)
        yield step, status
        if stat.S_ISDIR(status.st_mode):
            at = step
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(step)
        at = os.sep if target.startswith(os.sep) else at
        parts += target.split(os.sep)[::-1]
