"""The command `evenly fit` and its options. It imports its code when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

FIT = (
    "Measure this GPU for some minutes, and fit the numbers that `auto` predicts times by.\n\n"
    "Kernels are timed under every schedule, on random matrices. Prints what was found beside what was there, and how "
    "well both choose, also for families of matrices that a fit has not seen. Unless it chooses worse there, it is "
    "written to a data file in evenly's cache, which `auto` uses from then on.\n\n"
    "Example: evenly fit --seconds 120"
)


def fit(
    seconds: Annotated[
        int,
        typer.Option(metavar="S", help="How long to measure; compiling and fitting come on top."),
    ] = 120,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the random matrices.")] = 1,
    largest: Annotated[
        int | None,
        typer.Option(
            metavar="NNZ",
            show_default="40 million, less where memory is small",
            help="The most nonzeros of a random matrix.",
        ),
    ] = None,
    matrices: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Also measure the matrices in these files.")
    ] = None,
    times: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep what was measured in this file (.csv.gz)."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Measure nothing, and fit to the times in this file; may be given several times.",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the data file there instead.")
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            metavar="",
            help="Fit nothing: print what the numbers of today lose on the times of --from, and why. A .csv of "
            "`evenly bench spmv --families` will do, with the --largest of its run.",
        ),
    ] = False,
) -> int:
    from evenly.cli.fit_run import Options, run

    return run(Options(seconds, seed, largest, matrices, times, tuple(source or ()), out, report))
