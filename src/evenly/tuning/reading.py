"""Read lines of a file of measured winners. The file may come from somebody else, so nothing in it is trusted.

A line is taken if each of its parts is what evenly itself would have written: printable text of
limited length; numbers in plausible ranges; a date in the past; a built-in schedule with parameters of
the right types. Otherwise it is left out.
"""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import fields
from typing import Any

from evenly import targets
from evenly.errors import shown
from evenly.schedules import TABLE, Schedule

from .key import Key

LONGEST = 1 << 16  # characters of a line, about eight times the length of one with every candidate
TEXT = {"arguments": 8192}  # characters of parts that may be longer than SHORT
SHORT = 256
TIMES = 1000
SLOWEST = 1e12  # microseconds: eleven days
PARAMETER = 1 << 31
FIRST = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)  # nothing was measured before
AHEAD = datetime.timedelta(days=1)  # another machine's clock may be ahead by this much
VERSION = re.compile(r"\d[0-9A-Za-z.+!-]*", re.ASCII)
KNOWN: dict[str, type] = {entry.make.__name__: entry.make for entry in TABLE.values()}  # type: ignore[misc]
PARTS = {"schedule", "times", "date", *(field.name for field in fields(Key))}
OPTIONAL = {"imported"}


class Unfit(ValueError):
    """Something in a line is not what it should be."""


def demand(condition: object, what: str) -> None:
    if not condition:
        raise Unfit(what)


def item_of(line: str) -> dict[str, Any]:
    """Return the object in a line. Raises Unfit."""
    demand(len(line) <= LONGEST, f"a line of {len(line):,} characters")
    try:
        item: dict[str, Any] = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Unfit("no JSON") from None
    demand(isinstance(item, dict), "no JSON object")
    return item


def check_parts(item: dict[str, Any]) -> None:
    """Raise Unfit if a part is missing or unknown."""
    given = set(item)
    demand(given >= PARTS, f"no {', '.join(sorted(PARTS - given))}")
    demand(given <= PARTS | OPTIONAL, "parts that are not known")
    demand(item.get("imported", True) is True, "imported that is not true")


def key_of(item: dict[str, Any]) -> Key:
    """Return the key in an object's parts. Raises Unfit."""
    parts = {field.name: text(item[field.name], field.name) for field in fields(Key)}
    demand(parts["target"] in targets.timed(), f"target {shown(parts['target'])}")
    demand(VERSION.fullmatch(parts["evenly"]), f"evenly {shown(parts['evenly'])}")
    return Key(**parts)


def text(given: Any, what: str) -> str:
    """Return the text if it is printable and not too long. Raises Unfit."""
    demand(isinstance(given, str) and given, f"{what} that is no text")
    most = TEXT.get(what, SHORT)
    demand(len(given) <= most, f"{what} of {len(given):,} characters")
    demand(given.isprintable(), f"{what} with characters that cannot be printed")
    return str(given)


def schedule_of(given: Any) -> Any:
    """Return the built-in schedule. Raises Unfit."""
    demand(isinstance(given, dict) and len(given) == 1, "schedule that is none")
    ((name, parameters),) = given.items()
    demand(name in KNOWN and isinstance(parameters, dict), f"schedule {shown(name)}")
    usual: Schedule = KNOWN[name]()
    for parameter, value in parameters.items():
        known: Any = (
            type(getattr(usual, parameter, None)) if parameter in _parameters(usual) else None
        )
        demand(
            type(value) is known and -PARAMETER < value < PARAMETER,
            f"schedule {name} with {shown(parameter)}",
        )
    try:
        return KNOWN[name](**parameters)
    except ValueError:  # InputError: parameters that no GPU supports
        raise Unfit(f"schedule {name} with parameters that it cannot have") from None


def times_of(given: Any) -> dict[str, float]:
    """Return microseconds by the text of a schedule, the fastest first. Raises Unfit."""
    demand(isinstance(given, dict) and 0 < len(given) <= TIMES, "times that are none")
    times = {}
    for name, us in given.items():
        # compare first: an integer of 400 digits cannot become a float
        number = type(us) in (int, float) and 0 < us <= SLOWEST
        demand(number, "times with one that no run takes")
        times[text(name, "a time's schedule")] = float(us)
    return dict(sorted(times.items(), key=lambda item: item[1]))


def date_of(given: Any) -> str:
    """Return a past time in UTC, in the one spelling that sorts as text. Raises Unfit."""
    try:
        moment = datetime.datetime.fromisoformat(text(given, "date"))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        early, late = moment < FIRST, moment > datetime.datetime.now(datetime.UTC) + AHEAD
    except (ValueError, OverflowError):
        raise Unfit("date that is none") from None
    demand(
        not early and not late, f"date {shown(given)}, {'before' if early else 'after'} its time"
    )
    return moment.astimezone(datetime.UTC).isoformat(timespec="seconds")


def _parameters(schedule: Schedule) -> set[str]:
    return {field.name for field in fields(schedule)}


def _no_number(name: str) -> float:
    raise ValueError(name)  # NaN, Infinity
