"""One command line from its arguments to its exit status."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from evenly.cli.failures import INTERRUPTED, OUR_MISTAKE, RIGHT, said
from evenly.errors import one_line


def guarded(arguments: Sequence[str] | None) -> int:
    """Run the command line and return the exit status. An error becomes one line on stderr."""
    if arguments is None and hasattr(signal, "SIGPIPE"):
        # `evenly layouts | head -1` ends without a message, as other programs do.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escape what it cannot encode
            stream.reconfigure(errors="backslashreplace")
    try:
        from evenly.cli.app import app

        with warnings.catch_warnings():
            warnings.showwarning = in_one_line
            status = app(args=arguments, prog_name="evenly", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else RIGHT
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        line, status = said(error)
        print(f"evenly: {line}", file=sys.stderr)
        if status == OUR_MISTAKE and os.environ.get("EVENLY_TRACEBACK"):
            traceback.print_exc()
        return status


def in_one_line(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line on stderr."""
    print(f"evenly: {one_line(str(message))}", file=sys.stderr)
