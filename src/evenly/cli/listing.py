"""Run `evenly schedules` and `evenly layouts`: list them, one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenly.layouts import TABLE as LAYOUTS
from evenly.schedules import OF_TASKS
from evenly.schedules import TABLE as SCHEDULES

TITLES = ("name", "what it does", "when to use it", "source")


def schedules() -> Iterator[str]:
    """Yield the lines of the table of schedules."""
    yield from aligned(SCHEDULES)
    yield ""
    yield "`evenly spmv --schedule auto` chooses by the lengths of the tiles."
    *names, last = OF_TASKS
    yield f"Kernels that make tasks have {', '.join(names)} and {last} as well, in Python (docs/tasks.md)."


def layouts() -> Iterator[str]:
    """Yield the lines of the table of layouts."""
    yield from aligned(LAYOUTS)
    in_python = [name for name, entry in LAYOUTS.items() if not entry.of_matrix]
    yield ""
    yield f"`evenly spmv --layout` takes all but {', '.join(in_python)}, which are made in Python."


def aligned(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line of titles, then one line for each entry, in aligned columns."""
    rows = [TITLES, *((name, e.what, e.when, e.source) for name, e in table.items())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(TITLES))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
