"""The file of measured winners: JSON, a line each, that processes share.

The first line says the format; each other one is a winner: the parts of its key, the schedule, and
all times that were measured with it. Lines that cannot be used are left out, with one warning, and gone
after the next write; a file of a newer format is left alone. Writers hold a lock while they read,
merge and replace the file, so that none loses another's; readers need none, since a file is
replaced as a whole.

The file is EVENLY_TUNING, else one in evenly's cache; EVENLY_TUNING=off is none at all.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenly.cache import directory, make_folder, replace_file
from evenly.errors import InputError, one_line

from .winner import NewerFormat, Winner, Winners, can_be_read, merge, parsed, written

OFF = "off"
LARGEST = 1 << 26  # characters of a file that are read


def path() -> Path | None:
    """The file; None where EVENLY_TUNING=off."""
    given = os.environ.get("EVENLY_TUNING", "")
    if given == OFF:
        return None
    return Path(given) if given else directory("tuning") / "winners.jsonl"


_read: tuple[Any, dict[str, Winners]] = (None, {})  # what the file was like, and what it held
_reading = threading.Lock()


def remembered() -> Mapping[str, Winners]:
    """The winners of the file by the structure of their keys. It is read when it has changed."""
    global _read
    file = path()
    state = None if file is None else _state(file)
    if file is None or state is None:
        return {}
    with _reading:
        if _read[0] != state:
            _read = state, _by_structure(file)
        return _read[1]


def keep(winners: Iterable[Winner]) -> str:
    """Add winners to the file. Where it is; "" where it is switched off, it cannot be written, or they not read."""
    file, winners = path(), list(winners)
    if file is None or not all(map(can_be_read, winners)):
        return ""
    try:
        make_folder(file.parent)
        with _locked(file):
            merged = _known(file)
            merge(merged, winners)
            return str(file) if replace_file(file, written(merged)) else ""
    except (OSError, NewerFormat):
        return ""


def forget() -> int:
    """Remove the file. How many winners were in it. Raises OSError where that is not allowed."""
    file = switched_on()
    if not file.exists():
        return 0
    with _locked(file):
        count = len(_known(file))
        file.unlink()
    return count


def _known(file: Path) -> Winners:
    """The winners of a file, none where there is none. Warns of lines that cannot be used. Raises NewerFormat."""
    try:
        text = _text(file)
    except OSError:
        return {}
    found, left_out = parsed(text, str(file))
    _warn(file, left_out)
    return found


def _text(file: Path) -> str:
    """As much of a file as winners may take. Raises OSError."""
    with file.open(encoding="utf-8", errors="replace", newline="\n") as opened:
        return opened.read(LARGEST)


def _warn(file: Path, left_out: list[str]) -> None:
    if left_out:
        count = len(left_out)
        said = f"{file}: {count} line{'s' * (count > 1)} left out, which cannot be read ({left_out[0]})"
        warnings.warn(
            one_line(said), RuntimeWarning, stacklevel=1
        )  # always from here: so it is said once


def _by_structure(file: Path) -> dict[str, Winners]:
    out: dict[str, Winners] = {}
    try:
        found = _known(file)
    except NewerFormat as error:
        warnings.warn(f"{error}; it is not used", RuntimeWarning, stacklevel=1)
        return out
    for key, winner in found.items():
        out.setdefault(key.structure, {})[key] = winner
    return out


def _state(file: Path) -> Any:
    """What changes when the file does; None where it cannot be seen."""
    try:
        found = file.stat()
    except OSError:
        return None
    return str(file), found.st_ino, found.st_size, found.st_mtime_ns


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Alone among writers. Where there are no such locks, the last of two that write at once counts."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (file.parent / f".{file.name}.lock").open("a") as lock:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# ---- other files ---------------------------------------------------------------------------------------
def switched_on() -> Path:
    """The file. Raises InputError where there is none."""
    file = path()
    if file is None:
        raise InputError("EVENLY_TUNING", expected="a file of measured winners", given=repr(OFF))
    return file


def everything() -> list[Winner]:
    """All winners of the file, the newest last. Raises InputError where it is switched off, and NewerFormat."""
    return sorted(_known(switched_on()).values(), key=lambda winner: winner.date)


def copied_to(target: Path) -> int:
    """Write all winners to another file, which it replaces. How many they are. Raises OSError."""
    winners = everything()
    target.write_bytes(written({winner.key: winner for winner in winners}))
    return len(winners)


def copied_from(source: Path) -> int:
    """Add the winners of another file. How many it has. Raises InputError for what is none, NewerFormat, OSError."""
    file = switched_on()
    found, left_out = parsed(_text(source), str(source))
    if not found:
        given = left_out[0] if left_out else "none"
        hint = "`evenly tuning export PATH` writes one"
        raise InputError(str(source), expected="measured winners", given=given, hint=hint)
    _warn(source, left_out)
    others = [replace(winner, imported=True) for winner in found.values()]
    if not keep(others):
        raise InputError(str(file), expected="a file that can be written", given="one that cannot")
    return len(found)
