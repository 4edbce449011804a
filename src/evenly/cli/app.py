"""The commands and their options. Each command imports its code when it runs, so that `--help` is fast."""

from __future__ import annotations

from typing import Annotated

import typer

from evenly.cli.bench import bench
from evenly.cli.fit import FIT, fit
from evenly.cli.of_files import COMMANDS
from evenly.cli.options import OneTarget
from evenly.cli.reproduce import REPRODUCE, reproduce
from evenly.cli.tuning import tuning

app = typer.Typer(
    help="Irregular parallel work, written once, balanced by a schedule: SpMV on your matrices.",
    epilog="Exit status: 0 right, 1 a result is wrong, 2 bad input.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def evenly(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.")
    ] = False,
) -> int:
    """Irregular parallel work, written once, balanced by a schedule."""
    if version:
        from evenly.version import __version__

        print(f"evenly {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit
    return 0


DEMO = (
    "Multiply two generated matrices under every schedule, beside SciPy.\n\n"
    "A power-law (R-MAT) matrix and a 5-point stencil. Every result is checked against "
    "SciPy's in float64."
)


@app.command(help=DEMO)
def demo(
    target: OneTarget = "auto",
    scale: Annotated[int, typer.Option(metavar="N", help="2**N rows a matrix, 4 to 24.")] = 18,
    repeat: Annotated[int, typer.Option(metavar="N", help="Timed runs of each.")] = 15,
) -> int:
    from evenly.cli.demo import run

    return run(target, scale, repeat)


for command, text in COMMANDS.items():
    app.command(help=text)(command)
app.add_typer(bench, name="bench")
app.command(help=REPRODUCE)(reproduce)
app.command(help=FIT)(fit)
app.add_typer(tuning, name="tuning")


@app.command()
def info() -> int:
    """Show targets, devices, versions and the cache."""
    from evenly.cli.info import lines

    for line in lines():
        print(line)
    return 0


CACHE = (
    "Show the cache of compiled code: where it is, what is in it, its limit.\n\n"
    "What tune() measured is no part of it: see `evenly tuning`. The limit that is always kept is in "
    "EVENLY_CACHE_LIMIT.\n\n"
    "Example: evenly cache --limit 500MB"
)


@app.command(help=CACHE)
def cache(
    clear: Annotated[bool, typer.Option("--clear", metavar="", help="Remove everything.")] = False,
    limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Remove, now, what was used longest ago, until so much is left."
        ),
    ] = None,
) -> int:
    from evenly.cli.cache import run

    for line in run(clear, limit):
        print(line)
    return 0


@app.command()
def schedules() -> int:
    """List the schedules: who does what."""
    from evenly.cli.listing import schedules as lines

    for line in lines():
        print(line)
    return 0


@app.command()
def layouts() -> int:
    """List the layouts: what the work is."""
    from evenly.cli.listing import layouts as lines

    for line in lines():
        print(line)
    return 0
