"""Measured winners as lines of JSON: their format, and which of them a file keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from evenly.errors import EvenlyError
from evenly.schedules import Schedule

from . import reading
from .key import Key
from .reading import KNOWN, Unfit
from .tuned import Tuning

FORMAT = 1
HEADER = "evenly tuning, format"
MOST = 1000  # winners in a file


@dataclass(frozen=True, slots=True)
class Winner:
    """The fastest schedule for a key.

    schedule: a built-in one. times: microseconds by the text of a schedule, the fastest first. date: in UTC,
    in one spelling. imported: whether it comes from another machine's file.
    """

    key: Key
    schedule: Schedule
    times: Mapping[str, float]
    date: str
    imported: bool = False

    @property
    def worth(self) -> tuple[bool, str]:
        """The sort key for what stays in a full file: first what was measured here, then what is newer."""
        return not self.imported, self.date

    def tuning(self, kept: str, left_out: Mapping[str, str] | None = None) -> Tuning:
        """Return the winner as `plan.tuning` shows it."""
        key = self.key
        about = (key.kernel, key.arguments, key.structure, key.target, key.device)
        return Tuning(self.schedule, self.times, *about, left_out or {}, kept)


Winners = dict[Key, Winner]


class NewerFormat(EvenlyError):
    """The file is from a later version of evenly. It is neither read nor overwritten."""


def merge(into: Winners, winners: Iterable[Winner]) -> None:
    """Add winners, one for each key: one that was measured here before an imported one, else the later one."""
    for winner in winners:
        held = into.get(winner.key)
        if held is None or held.worth <= winner.worth:
            into[winner.key] = winner


def written(winners: Winners) -> bytes:
    """Return the content of a file with the MOST most valuable winners, the newest last."""
    kept = sorted(winners.values(), key=lambda winner: winner.worth)[-MOST:]
    kept.sort(key=lambda winner: winner.date)
    lines = [f'{{"{HEADER}": {FORMAT}}}', *map(line, kept)]
    return "".join(f"{text}\n" for text in lines).encode()


def parsed(text: str, name: str) -> tuple[Winners, list[str]]:
    """Parse the content of a file `name`. Returns the winners, and why lines are left out. Raises NewerFormat."""
    found: Winners = {}
    left_out: list[str] = []
    for number, content in enumerate(text.split("\n")[: 2 * MOST], 1):
        if not content.strip():
            continue
        try:
            item = reading.item_of(content)
            if number == 1:
                check_format(item, name)
            else:
                merge(found, [winner(item)])
        except Unfit as unfit:
            left_out.append(f"line {number}: {unfit}")
    return found, left_out


def check_format(item: Mapping[str, Any], name: str) -> None:
    """Raise NewerFormat if the first line says so, and Unfit if it has no format."""
    format = item.get(HEADER)
    reading.demand(type(format) is int and 0 < format < 1 << 31, "no format")
    if item[HEADER] > FORMAT:
        raise NewerFormat(f"{name}: format {format}, and this evenly knows {FORMAT}")


def line(winner: Winner) -> str:
    """Return a winner as a line of JSON."""
    parameters = {
        field.name: getattr(winner.schedule, field.name) for field in fields(winner.schedule)
    }
    about = {"schedule": {type(winner.schedule).__name__: parameters}, "times": dict(winner.times)}
    origin = {"imported": True} if winner.imported else {}
    return json.dumps({**asdict(winner.key), **about, "date": winner.date, **origin})


def winner(item: dict[str, Any]) -> Winner:
    """Return the winner in a line. Raises Unfit if the line is something else."""
    reading.check_parts(item)
    return Winner(
        reading.key_of(item),
        reading.schedule_of(item["schedule"]),
        reading.times_of(item["times"]),
        reading.date_of(item["date"]),
        item.get("imported", False),
    )


def can_be_kept(schedule: Any) -> bool:
    """Whether a schedule is a built-in one, which every process can make again."""
    return isinstance(schedule, Schedule) and KNOWN.get(type(schedule).__name__) is type(schedule)


def can_be_read(kept: Winner) -> bool:
    """Whether its line would be taken. One for a kernel with a hundred arguments would not."""
    try:
        return winner(reading.item_of(line(kept))) == kept
    except Unfit:
        return False
