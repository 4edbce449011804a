"""What `evenly bench spmv` and `evenly bench graph` share: a corpus that is measured within a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from evenly.bench import plots
from evenly.bench.matrices import Source
from evenly.cli.failures import check_range
from evenly.cli.progress import Progress
from evenly.errors import InputError

T = TypeVar("T")


def check_corpus(seconds: int | None, csv: str | None, figures: str | None) -> None:
    """Raise InputError, before anything is measured, for an option that is out of range or cannot be used."""
    if seconds is not None:
        check_range("--seconds", seconds, 1)
    if csv == "":
        raise InputError("--csv", expected="a path", given="an empty one")
    if figures is not None:
        check_folder("--plots", figures)


def check_folder(option: str, folder: str) -> None:
    """Raise an error before anything is measured if figures cannot be drawn, or not into this folder."""
    plots.require()
    if folder == "" or (Path(folder).exists() and not Path(folder).is_dir()):
        given = "a file" if folder else "an empty path"
        raise InputError(option, expected="a folder for figures", given=given)


def deadline(end: float | None, left: int) -> float | None:
    """Return the time by which the next matrix should be done, if `left` matrices share the time until `end`."""
    now = time.monotonic()
    return None if end is None else now + (end - now) / left


def measured(
    chosen: list[Source],
    what: str,
    seconds: int | None,
    progress: Progress,
    measure: Callable[[Source, float | None], list[T]],
) -> Iterator[list[T]]:
    """Yield the rows of one source after the other, and print which are left out.

    what: how the user calls the sources. measure: returns the rows of one, which should be done by a time. If it raises
    InputError, the next one goes on; if there are no rows at all, the first of these errors is raised in the end.
    """
    end = None if seconds is None else time.monotonic() + seconds
    refused: list[InputError] = []
    some = False
    for at, source in enumerate(chosen):
        progress.say(f"{source.name} ({at + 1} of {len(chosen)})")
        if end is not None and time.monotonic() > end:
            print(f"out of time: {len(chosen) - at} {what} are left out", flush=True)
            break
        try:
            found = measure(source, deadline(end, len(chosen) - at))
        except InputError as error:
            print(f"{source.name:34} left out: {error}", flush=True)
            refused.append(error)
            continue
        some = some or bool(found)
        yield found
    if refused and not some:
        raise refused[0]
