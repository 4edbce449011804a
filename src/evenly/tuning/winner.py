"""Measured winners as lines of JSON: what a file of them says, and how it is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from evenly.errors import EvenlyError
from evenly.schedules import TABLE, Schedule

from .key import Key
from .tuned import Tuning

FORMAT = 1
HEADER = "evenly tuning, format"
MOST = 1000  # winners in a file, the newest
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


def merge(into: Winners, winners: Iterable[Winner]) -> None:
    """Add winners; of two for the same, the later one counts."""
    for winner in winners:
        held = into.get(winner.key)
        if held is None or held.date <= winner.date:
            into[winner.key] = winner


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
                        f"{name}: format {item[HEADER]}, and this evenly knows {FORMAT}"
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
    return json.dumps({**asdict(winner.key), **about, "date": winner.date})


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
