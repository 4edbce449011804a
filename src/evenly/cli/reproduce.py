"""The command `evenly reproduce` and its options. It imports its code when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

REPRODUCE = (
    "Run the experiments of a paper, and print what it published beside what is measured here.\n\n"
    "NAME: flexible-batched (Anzt et al., ScalA 2017, Figures 3 to 7). It runs on a GPU, or on a CPU with smaller "
    "sizes; a full run takes a few minutes.\n\n"
    "Example: evenly reproduce flexible-batched --matrices folder --out results"
)


def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")],
    matrices: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The paper's matrices, as Matrix Market files or .npz. Stand-ins take the places of those it lacks.",
        ),
    ] = None,
    figure: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Only this figure; may be given several times."),
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
    target: Annotated[
        str, typer.Option(metavar="NAME", help="auto (the best there is), cuda or cpu.")
    ] = "auto",
) -> int:
    from evenly.cli.reproduce_run import Options, run

    return run(Options(name, matrices, tuple(figure or ()), out, quick, target))
