"""Lines of emitted text that know which line of Python they were made from."""

from __future__ import annotations

from collections.abc import Iterable

from evenly.language.diagnostics import Location


class Line(str):
    """A line that was made from the Python at `at`. A line that only the engine needs is a plain string."""

    __slots__ = ("at",)
    at: Location | None

    def __new__(cls, text: str, at: Location | None) -> Line:
        line = super().__new__(cls, text)
        line.at = at
        return line


def origin(line: str) -> Location | None:
    return line.at if isinstance(line, Line) else None


def indented(lines: Iterable[str], by: str) -> list[str]:
    return [Line(by + line, origin(line)) for line in lines]


def origins(lines: Iterable[str]) -> tuple[Location | None, ...]:
    """Return the origin of each line of the joined text. One of `lines` may be several lines of the text."""
    return tuple(origin(line) for line in lines for _ in line.split("\n"))
