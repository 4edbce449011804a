"""The command line: `evenly demo`, `spmv`, `graph`, `bench`, `reproduce`, `tune`, `tuning`, `fit`, `info`, `cache`, ...

    app          the commands, as Typer sees them, and what they do without a file
    of_files     the commands on a file and their options; options: those that several commands have
    entry        runs one command line
    failures     turns errors into one line on stderr and an exit status
    spmv, spgemm, graph, demo, bench, tune, tuning, trace, info, cache, listing    a command each; spmm is in spmv
    bench_run, bench_graph, bench_linalg, bench_ragged    run `evenly bench`
    fit_run, reproduce_run                                run `evenly fit` and `evenly reproduce`
    corpus       matrices or graphs that are measured within a time
    problem      one SpMV on one target: arrays, plans, results
    timing       medians of interleaved runs, on the host and on a GPU
    dtypes       the types of `--dtype`
    csv_file     timings as lines of a file; levels: a search as a picture in text
    progress     a spinner for work that takes more than a second

Exit status: 0 success, 1 a result is wrong, 2 bad input (one line on stderr), 3 a mistake in evenly.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, sys.argv by default, and return its exit status."""
    from evenly.cli.entry import guarded

    return guarded(arguments)


__all__ = ["main"]
