"""The file of measured winners: JSON, a line each, that processes share.

The first line says the format; each other one is a winner: the parts of its key, the schedule, and
all times that were measured with it. Lines that cannot be read are left out, with one warning, and gone
after the next write; a file of a newer format is left alone. Writers hold a lock while they read,
merge and replace the file, so that none loses another's; readers need none, since a file is
replaced as a whole.

The file is EVENLY_TUNING, else one in evenly's cache; EVENLY_TUNING=off is none at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from evenly.cache import directory, replace_file
from evenly.errors import EvenlyError, InputError
from evenly.schedules import TABLE, Schedule

from .key import Key
from .tuned import Tuning

FORMAT = 1
HEADER = "evenly tuning, format"
MOST = 1000  # winners kept, the newest
OFF = "off"
KNOWN: dict[str, type] = {entry.make.__name__: entry.make for entry in TABLE.values()}  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Winner:
    """schedule: a built-in one. times: microseconds by the text of a schedule, the fastest first. date: in UTC."""

    key: Key
    schedule: Any
    times: Mapping[str, float]
    date: str

    def tuning(self, kept: str, left_out: Mapping[str, str] | None = None) -> Tuning:
        """As `plan.tuning` shows it."""
        key = self.key
        about = (key.kernel, key.arguments, key.structure, key.target, key.device)
        return Tuning(self.schedule, self.times, *about, left_out or {}, kept)


Winners = dict[Key, Winner]


class NewerFormat(EvenlyError):
    """The file is of a later evenly: it is neither understood nor overwritten."""


# ---- the file --------------------------------------------------------------------------------------
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
    """Add winners to the file. Where it is; "" where it is switched off or cannot be written."""
    file = path()
    if file is None:
        return ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
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


def merge(into: Winners, winners: Iterable[Winner]) -> None:
    """Add winners; of two for the same, the later one counts."""
    for winner in winners:
        held = into.get(winner.key)
        if held is None or held.date <= winner.date:
            into[winner.key] = winner


def _known(file: Path) -> Winners:
    """The winners of a file, none where there is none. Warns of lines that cannot be read. Raises NewerFormat."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found, broken = parsed(text, str(file))
    if broken:
        said = f"{file}: {broken} line{'s' * (broken > 1)} left out, which cannot be read"
        warnings.warn(said, RuntimeWarning, stacklevel=3)
    return found


def _by_structure(file: Path) -> dict[str, Winners]:
    out: dict[str, Winners] = {}
    try:
        found = _known(file)
    except NewerFormat as error:
        warnings.warn(f"{error}; it is not used", RuntimeWarning, stacklevel=3)
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


# ---- lines -------------------------------------------------------------------------------------------
def written(winners: Winners) -> bytes:
    """The content of a file, the newest MOST winners."""
    newest = sorted(winners.values(), key=lambda winner: winner.date)[-MOST:]
    lines = [f'{{"{HEADER}": {FORMAT}}}', *map(line, newest)]
    return "".join(f"{text}\n" for text in lines).encode()


def parsed(text: str, name: str) -> tuple[Winners, int]:
    """The winners of the content of a file `name`, and how many lines cannot be read. Raises NewerFormat."""
    found: Winners = {}
    broken = 0
    for number, content in enumerate(text.splitlines()):
        try:
            item = json.loads(content)
            if number == 0:
                if item[HEADER] > FORMAT:
                    raise NewerFormat(
                        f"it has format {item[HEADER]}, and this evenly knows {FORMAT}"
                    )
                continue
            merge(found, [winner(item)])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            broken += 1
    return found, broken


def line(winner: Winner) -> str:
    """One winner as JSON."""
    parameters = {
        field.name: getattr(winner.schedule, field.name) for field in fields(winner.schedule)
    }
    about = {"schedule": {type(winner.schedule).__name__: parameters}, "times": dict(winner.times)}
    return json.dumps({**asdict(winner.key), **about, "date": winner.date}, ensure_ascii=False)


def winner(item: Any) -> Winner:
    """The winner in a line. Raises ValueError, TypeError or KeyError where it says something else."""
    parts = {field.name: item[field.name] for field in fields(Key)}
    ((name, parameters),) = item["schedule"].items()
    if not all(isinstance(part, str) for part in (*parts.values(), item["date"])):
        raise TypeError("the parts of a key are text")
    times = {str(schedule): float(us) for schedule, us in item["times"].items()}
    return Winner(Key(**parts), KNOWN[name](**parameters), times, item["date"])


def can_be_kept(schedule: Any) -> bool:
    """Whether a schedule is a built-in one, which every process can make again."""
    return isinstance(schedule, Schedule) and KNOWN.get(type(schedule).__name__) is type(schedule)


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
    found, broken = parsed(source.read_text(encoding="utf-8", errors="replace"), str(source))
    if broken or not found:
        given = f"{broken} line{'s' * (broken > 1)} of something else" if broken else "none"
        hint = "`evenly tuning export PATH` writes one"
        raise InputError(str(source), expected="measured winners", given=given, hint=hint)
    if not keep(found.values()):
        raise InputError(str(file), expected="a file that can be written", given="one that cannot")
    return len(found)
