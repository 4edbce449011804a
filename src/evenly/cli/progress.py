"""A spinner on stderr for work that takes more than a second. It is shown on a terminal only."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any

from rich.text import Text

AFTER = 1.0  # seconds


class Progress:
    """`with Progress("reading") as progress: ...; progress.say("compiling")`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._status: Any = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._timer = threading.Timer(AFTER, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def say(self, text: str) -> None:
        """Show what is being done now."""
        with self._lock:
            self._text = text
            if self._status is not None:
                self._status.update(Text(text))

    def _show(self) -> None:
        from rich.console import Console

        with self._lock:
            if self._timer is not None:
                self._status = Console(stderr=True).status(Text(self._text))
                self._status.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._status is not None:
                self._status.stop()
                self._status = None
