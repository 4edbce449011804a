"""The command `evenly reproduce` and its options. It imports its code when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

REPRODUCE = (
    "Run the experiments of a paper, and print what it published beside what is measured here.\n\n"
    "NAME: dynamic-load-balancing (Cederman, Tsigas, Graphics Hardware 2008, Figures 2 to 5), flexible-batched (Anzt "
    "et al., ScalA 2017, Figures 3 to 7) or load-balancing (Osama et al., PPoPP 2023, Table 1, Figures 2 to 4). They "
    "run on a GPU, or on a CPU with smaller sizes; a full run takes a few minutes.\n\n"
    "Example: evenly reproduce load-balancing --matrices folder --out results"
)


def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")],
    matrices: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="A folder of Matrix Market files or .npz. flexible-batched takes the paper's matrices from it, and "
            "stand-ins for the others; load-balancing takes all.",
        ),
    ] = None,
    figure: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            help="Only this figure (load-balancing: 1 is Table 1); may be given several times.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Write CSV files, and draw the figures (needs Matplotlib)."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", metavar="", help="Smallest sizes: see that it works, in seconds."),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            metavar="",
            help="Go on with the run that wrote to --out: what its files have is not measured again "
            "(dynamic-load-balancing).",
        ),
    ] = False,
    target: Annotated[
        str, typer.Option(metavar="NAME", help="auto (the best there is), cuda or cpu.")
    ] = "auto",
) -> int:
    from evenly.cli.reproduce_run import Options, run

    return run(Options(name, matrices, tuple(figure or ()), out, quick, target, resume))
