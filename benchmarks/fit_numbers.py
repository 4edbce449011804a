"""The numbers of the model of costs as one vector, for a fit, and as the text of a data file."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from evenly.choosing.model import schedule_of

Numbers = Mapping[str, Any]
Logs = npt.NDArray[np.float64]
Row = tuple[str, int]  # a table, and which of its rows

RATES: Row = ("rates", 0)
TABLES, LISTS = ("rates", "groups", "runs"), ("shares", "bins")
ALIKE = ("groups", "runs"), ("shares", "bins")  # the same key is the same kind of number there
GIVEN = ("schedule", "with", "partition")  # what is no cost of a kernel in a plan
HARDWARE = ("memory", "l2", "cache", "lines")
LOWEST = {"overlap": 1.0}
HIGHEST = {"empty": 0.95}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number stands."""

    row: Row
    key: str

    @property
    def colour(self) -> tuple[bool, str]:
        """Numbers of one colour are never terms of the same candidate, so one prediction can change all of them."""
        return self.row == RATES, self.key


def rows(numbers: Numbers) -> dict[Row, dict[str, Any]]:
    """Return every table that is fitted."""
    found = {(table, 0): numbers[table] for table in TABLES}
    return found | {(table, at): row for table in LISTS for at, row in enumerate(numbers[table])}


def places(numbers: Numbers) -> list[Place]:
    return [Place(at, key) for at, row in rows(numbers).items() for key in row if key not in GIVEN]


def logs(numbers: Numbers) -> Logs:
    """Return the logarithms of all numbers that are fitted, in the order of `places`."""
    held = rows(numbers)
    return np.log([held[place.row][place.key] for place in places(numbers)])


def with_logs(numbers: Numbers, found: Logs) -> dict[str, Any]:
    """Return the numbers with these in place of their own."""
    own = {table: dict(numbers[table]) for table in TABLES}
    own |= {table: [dict(row) for row in numbers[table]] for table in LISTS}
    made = {**numbers, **own}
    held = rows(made)
    for place, log in zip(places(numbers), found, strict=True):
        held[place.row][place.key] = math.exp(log)
    return made


def owners(numbers: Numbers) -> dict[str, Row]:
    """Return the row of each schedule that has one of its own."""
    lists = ((at, row) for at, row in rows(numbers).items() if at[0] in LISTS)
    return {str(schedule_of(row["schedule"], tuple(row["with"].items()))): at for at, row in lists}


def owner(schedule: str, own: dict[str, Row]) -> Row:
    """Return the row of a schedule, `own` or that of all groups."""
    runs = "run=" in schedule and "run=1)" not in schedule
    return own.get(schedule) or ("runs" if runs else "groups", 0)


def plain(numbers: Numbers) -> dict[str, Any]:
    """Return numbers that tell no schedule from its like: medians. A fit of other matrices begins there."""
    made = with_logs(numbers, logs(numbers))
    for tables in ALIKE:
        alike = [row for (table, _), row in rows(made).items() if table in tables]
        for key in {key for row in alike for key in row if key not in GIVEN}:
            having = [row for row in alike if key in row]
            median = float(np.median([row[key] for row in having]))
            for row in having:
                row[key] = median
    return made


# ---- as text ---------------------------------------------------------------------------------------
@functools.cache
def committed(architecture: str = "sm_90") -> str:
    """Return the data file's text from the first table on that is fitted."""
    text = resources.files("evenly.gpus").joinpath(f"{architecture}.toml").read_text()
    return text[text.index("\n[rates]\n") + 1 :]


def as_text(numbers: Numbers) -> str:
    """Return the tables as the data file has them, with its comments and these numbers."""
    held, seen, lines = rows(numbers), dict.fromkeys(TABLES + LISTS, -1), []
    row: dict[str, Any] = {}
    for line in committed().splitlines():
        table = re.match(r"\[+(\w+)\]", line)
        if table:
            seen[table[1]] += 1
            row = held[table[1], seen[table[1]]]
        entry = re.match(r"(\w+) = [\d._e+-]+(.*)", line)
        fitted = entry and entry[1] not in GIVEN
        lines.append(f"{entry[1]} = {digits(row[entry[1]])}{entry[2]}" if fitted else line)
    return "\n".join(lines) + "\n"


def digits(value: float) -> str:
    """Return four digits of a number."""
    rounded = float(f"{value:.4g}")
    if rounded >= 1000:
        return f"{int(rounded):_}"
    return f"{rounded:.3e}" if rounded < 1e-3 else f"{rounded:.4g}"
