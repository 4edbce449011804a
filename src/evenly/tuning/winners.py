"""The file of measured winners: lines of JSON, shared by processes.

The first line gives the format. Each other line is a winner: the parts of its key, the schedule, and
all times that were measured with it. Lines that cannot be used are left out with one warning, and are gone
after the next write. A file of a newer format is left alone. Writers hold a lock while they read, merge and
replace the file, so that no winner is lost. Readers need no lock, because the file is replaced as a whole.

The path of the file is EVENLY_TUNING; default: a file in evenly's cache. EVENLY_TUNING=off switches it off.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenly.cache import directory, locked, make_folder, replace_file
from evenly.errors import InputError, one_line

from .winner import NewerFormat, Winner, Winners, can_be_read, merge, parsed, written

OFF = "off"
LARGEST = 1 << 26  # how many characters of a file are read


def path() -> Path | None:
    """Return the path of the file, or None if EVENLY_TUNING=off."""
    given = os.environ.get("EVENLY_TUNING", "")
    if given == OFF:
        return None
    return Path(given) if given else directory("tuning") / "winners.jsonl"


_read: tuple[Any, dict[str, Winners]] = (None, {})  # the state of the file, and its winners
_reading = threading.Lock()


def remembered() -> Mapping[str, Winners]:
    """Return the winners of the file by the structure of their keys. The file is read if it has changed."""
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
    """Add winners to the file, and return its path.

    Returns "" if the file is switched off or cannot be written, or if a winner could not be read back.
    """
    file, winners = path(), list(winners)
    if file is None or not all(map(can_be_read, winners)):
        return ""
    try:
        make_folder(file.parent)
        with locked(file):  # without locks, the last of two writers wins
            merged = _known(file)
            merge(merged, winners)
            return str(file) if replace_file(file, written(merged)) else ""
    except (OSError, NewerFormat):
        return ""


def forget() -> int:
    """Remove the file, and return how many winners it had. Raises OSError if that is not allowed."""
    file = switched_on()
    if not file.exists():
        return 0
    with locked(file):
        count = len(_known(file))
        file.unlink()
    return count


def _known(file: Path) -> Winners:
    """Return the winners of a file, if it exists. Warns of lines that cannot be used. Raises NewerFormat."""
    try:
        text = _text(file)
    except OSError:
        return {}
    found, left_out = parsed(text, str(file))
    _warn(file, left_out)
    return found


def _text(file: Path) -> str:
    """Read as much of a file as winners may take. Raises OSError."""
    with file.open(encoding="utf-8", errors="replace", newline="\n") as opened:
        return opened.read(LARGEST)


def _warn(file: Path, left_out: list[str]) -> None:
    if left_out:
        count = len(left_out)
        said = f"{file}: {count} line{'s' * (count > 1)} left out, which cannot be read ({left_out[0]})"
        warnings.warn(
            one_line(said), RuntimeWarning, stacklevel=1
        )  # always this line, so that Python shows the warning once


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
    """Return what changes when the file does, or None if it cannot be read."""
    try:
        found = file.stat()
    except OSError:
        return None
    return str(file), found.st_ino, found.st_size, found.st_mtime_ns


# ---- other files ---------------------------------------------------------------------------------------
def switched_on() -> Path:
    """Return the path of the file. Raises InputError if it is switched off."""
    file = path()
    if file is None:
        raise InputError("EVENLY_TUNING", expected="a file of measured winners", given=repr(OFF))
    return file


def everything() -> list[Winner]:
    """Return all winners of the file, the newest last. Raises InputError if it is switched off, and NewerFormat."""
    return sorted(_known(switched_on()).values(), key=lambda winner: winner.date)


def copied_to(target: Path) -> int:
    """Replace another file by all winners, and return how many they are. Raises OSError."""
    winners = everything()
    target.write_bytes(written({winner.key: winner for winner in winners}))
    return len(winners)


def copied_from(source: Path) -> int:
    """Add the winners of another file, and return how many it has.

    Raises InputError if it is not such a file, NewerFormat, OSError.
    """
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
