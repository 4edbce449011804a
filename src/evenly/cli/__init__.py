"""The command line: `evenly demo`, `spmv`, `bench`, `tune`, `tuning`, `info`, `cache`, `schedules`, `layouts`.

    app          the commands and their options, as Typer sees them
    failures     what went wrong, in one line, and the exit status
    spmv, demo, bench, tune, tuning, info, cache, listing    what the commands do, one file each
    bench_run    what `evenly bench` does
    problem      one SpMV on one target: arrays, plans, results
    timing       medians of interleaved runs, on the host and on a GPU
    progress     a line on the terminal for what takes more than a second

Exit status: 0 right, 1 a result is wrong, 2 bad input (one line on stderr), 3 our own mistake.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, sys.argv by default, and return its exit status."""
    from evenly.cli.failures import guarded

    return guarded(arguments)


__all__ = ["main"]
