"""Locations in the user's source, and the errors that point at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from evenly.errors import KernelError as _KernelErrorBase

Span = tuple[str, int, int, int]  # file, line, first column, column after the last


@dataclass(frozen=True, slots=True)
class Location:
    """A span of one line of the user's source; columns count from 1."""

    file: str
    line: int
    column: int
    end_column: int
    text: str
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def place(self) -> Span:
        return self.file, self.line, self.column, self.end_column


class LanguageError(_KernelErrorBase):
    """A kernel, layout method or schedule method that the language does not allow.

    Attributes: `message`, `hint` (may be empty), `location` (file, line, column, text).
    """

    def __init__(self, message: str, location: Location, hint: str = "") -> None:
        self.message, self.location, self.hint = message, location, hint
        super().__init__(self._render())

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.location, self.hint)  # for other processes

    def _render(self) -> str:
        at = self.location
        width = max(1, at.end_column - at.column)
        lines = [
            f"{self.message}",
            f"  --> {at} in {at.function}",
            f"   | {at.text}",
            f"   | {' ' * (at.column - 1)}{'^' * width}",
        ]
        if self.hint:
            lines.append(f"   = hint: {self.hint}")
        return "\n".join(lines)


def refuse(location: Location | None, message: str, hint: str = "") -> NoReturn:
    """Raise LanguageError for the code at `location`, which a statement has unless a pass of the compiler made it."""
    assert location is not None
    raise LanguageError(message, location, hint)
