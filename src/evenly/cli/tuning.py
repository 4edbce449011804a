"""The commands of `evenly tuning`: list, share and clear what tune() remembers. Each imports its code when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenly.errors import printable

tuning = typer.Typer(
    help="List, share and clear what was measured.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@tuning.callback(invoke_without_command=True)
def commands(context: typer.Context) -> None:
    """List, share and clear what was measured."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


@tuning.command("list")
def listed() -> int:
    """Print every winner: what it was measured for and on, and its time."""
    from evenly.tuning import winners
    from evenly.tuning.key import calls_of

    found = winners.everything()
    for winner in found:
        key, us = winner.key, winner.times.get(str(winner.schedule))
        origin = ", imported" if winner.imported else ""
        time = "" if us is None else f"{us:,.2f} us, "
        measured = f"({time}{winner.date[:10]}{origin})"
        types, calls = calls_of(key.arguments)
        print(f"{key.kernel} on {key.target}, for {calls}: {winner.schedule} {measured}")
        print(f"  {key.structure}")
        print(f"  ({types})")
        print(f"  {key.device}, evenly {key.evenly}")
    print(f"{len(found)} in {printable(str(winners.switched_on()))}")
    return 0


@tuning.command()
def export(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, which is replaced.")],
) -> int:
    """Copy what was measured to a file, for another machine with the same GPU."""
    from evenly.tuning import winners

    print(f"{winners.copied_to(Path(path))} written to {printable(path)}")
    return 0


@tuning.command("import")
def imported(
    path: Annotated[str, typer.Argument(metavar="PATH", help="What `evenly tuning export` wrote.")],
) -> int:
    """Add what another machine has measured; what was measured here counts more."""
    from evenly.tuning import winners

    print(f"{winners.copied_from(Path(path))} read from {printable(path)}")
    return 0


@tuning.command()
def clear() -> int:
    """Forget everything that was measured."""
    from evenly.tuning import winners

    print(f"{winners.forget()} forgotten")
    return 0
