"""The numbers of the model of costs as one vector, for a fit, and as the text of a data file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenly.choosing.rows import schedule_of
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import DEFAULT, text_of
from evenly.gpus.scaling import LISTS

Numbers = Mapping[str, Any]
Logs = npt.NDArray[np.float64]
Row = tuple[str, int]  # a table, and which of its rows

RATES: Row = ("rates", 0)
TABLES = "rates", "groups", "runs"
GIVEN = ("schedule", "with", "partition")  # what is no cost of a kernel in a plan
# How far logarithms of the hardware's numbers may move: what memory can do stands in the GPU's data sheet.
HELD = {"memory": 0.0, "l2": 0.15, "cache": 0.15, "lines": 0.15}
LOWEST = {"overlap": 1.0}


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
    own: dict[str, Any] = {table: dict(numbers[table]) for table in TABLES}
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


# ---- as text ---------------------------------------------------------------------------------------
def as_text(numbers: Numbers, gpu: Gpu) -> str:
    """Return the data file of a GPU: that of the default one with its comments, and these numbers and properties."""
    held, seen, lines = rows(numbers), dict.fromkeys(TABLES + LISTS, -1), []
    row: dict[str, Any] = {}
    for line in text_of(DEFAULT).splitlines():
        table = re.match(r"\[+(\w+)\]", line)
        if table and table[1] == "gpu":
            row = {name: getattr(gpu, name) for name in gpu.__slots__}
        elif table:
            seen[table[1]] += 1
            row = held[table[1], seen[table[1]]]
        entry = re.match(r"(\w+) = (?:[\d._e+-]+|\"[^\"]*\")(.*)", line)
        if entry and entry[1] not in GIVEN:
            line = f"{entry[1]} = {literal(row[entry[1]])}{entry[2]}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def literal(value: Any) -> str:
    """Return a value of the data file: a name, a property, or four digits of a fitted number."""
    if isinstance(value, str):
        return json.dumps(value)
    return f"{value:_}" if isinstance(value, int) else digits(value)


def digits(value: float) -> str:
    """Return four digits of a number."""
    rounded = float(f"{value:.4g}")
    if rounded >= 1000:
        return f"{int(rounded):_}"
    return f"{rounded:.3e}" if rounded < 1e-3 else f"{rounded:.4g}"
