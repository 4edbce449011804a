"""Turn errors into one line on stderr and an exit status, so that a user never sees a traceback."""

from __future__ import annotations

import re
from typing import Any

from evenly import targets
from evenly.errors import EvenlyError, InputError, InternalError, one_line, unknown
from evenly.targets.simt.report import SimtError

# Typer's message for an option that is not an integer. It is replaced by one in our own style.
NO_INTEGER = re.compile(r"Input should be a valid integer.*")
RIGHT, WRONG, BAD_INPUT, OUR_MISTAKE, INTERRUPTED = 0, 1, 2, 3, 130


def check_range(option: str, given: int, least: int, most: int | None = None) -> None:
    """Raise InputError if an option's number is out of range."""
    if given < least or (most is not None and given > most):
        upto = "or more" if most is None else f"to {most}"
        raise InputError(option, expected=f"{least} {upto}", given=str(given))


def check_timed(target: str) -> None:
    """Raise InputError unless a target is "auto", or one whose times mean something."""
    if target not in (known := ["auto", *targets.timed()]):
        raise unknown("--target", target, known)


def said(error: Exception) -> tuple[str, int]:
    """Return the message of an error (one line; several for a report of target simt) and the exit status."""
    if isinstance(error, SimtError):
        return str(error), WRONG
    if isinstance(error, EvenlyError) and not isinstance(error, InternalError):
        return one_line(str(error)), BAD_INPUT
    if _is_usage(error):
        return _usage(error), BAD_INPUT
    if isinstance(error, MemoryError):
        return f"not enough memory ({one_line(str(error)) or 'none is left'})", BAD_INPUT
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return one_line(f"{where}{error.strerror or error}"), BAD_INPUT
    what = f"{type(error).__name__}: {one_line(str(error))}".rstrip(": ")
    return f"{what} (a mistake of evenly's own: EVENLY_TRACEBACK=1 shows where)", OUR_MISTAKE


def _is_usage(error: Any) -> bool:
    """Whether the error is Typer's, about the command line. (Its base class has no public name.)"""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def _usage(error: Any) -> str:
    text = one_line(error.format_message()).rstrip(".")
    text = NO_INTEGER.sub("expected an integer", text[:1].lower() + text[1:])
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "evenly"
    return f"{text}; `{command} --help` says what there is"
