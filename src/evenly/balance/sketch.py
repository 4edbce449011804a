"""A Balance as text: one line for each schedule, 80 columns, no colours, for any terminal or log.

The curves are sparklines (Tufte, "Beautiful Evidence", 2006) of loads in order of size.
"""

from __future__ import annotations

from evenly.layouts.task_results import STEPS

from .balance import Balance, Level, Load

WIDTH = 80
LONGEST = 24  # characters of a schedule's name
PLAIN_STEPS = "_.:-=+*#"
NUMBERS = 6, 6, 6, 6  # columns of idle, threads, warps, blocks


def sketch(balance: Balance, plain: bool = False) -> str:
    """Return the balance in lines of at most 80 columns. plain: in ASCII only."""
    names = [load.label for load in balance.loads]
    wide = min(max(map(len, names)), LONGEST)
    points = (WIDTH - 2 - wide - sum(NUMBERS) - 6) // 3
    steps = PLAIN_STEPS if plain else STEPS
    lines = [
        f"{balance.kernel}, {balance.layout}: {balance.tiles:,} tiles, {balance.atoms:,} atoms",
        "",
        *_titles(wide, points),
        *(
            _line(load, name, load is balance.chosen, wide, points, steps)
            for load, name in zip(balance.loads, names, strict=True)
        ),
        "",
        *LEGEND,
    ]
    return "\n".join(line.rstrip() for line in lines)


LEGEND = (
    "Time is counted in atoms that a thread takes one after the other.",
    "idle     threads without an atom while their blocks work, of all their time",
    "x mean   the longest time of a thread, of a block, over the mean",
    "warps    lanes without an atom while their warps work, of all their time",
    "curves   the times of all in order, the longest first and at full height",
)


def _titles(wide: int, points: int) -> tuple[str, str]:
    idle, *columns = NUMBERS
    names = zip(columns, ("threads", "warps", "blocks"), strict=True)
    first = "".join(f" {'':{n - 1}} {name:{points}}" for n, name in names)
    what = zip(columns, ("x mean", "idle", "x mean"), strict=True)
    second = "".join(f" {said:>{n - 1}} {'':{points}}" for n, said in what)
    return f"  {'':{wide}} {'':{idle}}{first}", f"  {'':{wide}} {'idle':>{idle - 1}}{second}"


def _line(load: Load, name: str, chosen: bool, wide: int, points: int, steps: str) -> str:
    if len(name) > wide:
        name = name[: wide - 2] + ".."
    cells = (
        (times(load.threads.skew), load.threads),
        (percent(load.idle_lanes), load.warps),
        (times(load.blocks.skew), load.blocks),
    )
    shown = "".join(f" {said:>5} {curve(level, points, steps)}" for said, level in cells)
    return f"{'>' if chosen else ' '} {name:{wide}} {percent(load.idle):>5}{shown}"


def curve(level: Level, points: int, steps: str) -> str:
    """Draw the times in order of size, the longest first and at full height, zero as a blank."""
    if level.most == 0:
        return " " * points
    time, _ = level.sampled(points)
    heights = -(-time * len(steps) // level.most)
    return "".join(" " if h == 0 else steps[h - 1] for h in heights)


def percent(share: float) -> str:
    """Return a share of 1 in per cent, in four characters. 0 and 100 are only shown if they are exact."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def times(ratio: float) -> str:
    """Return a ratio in five characters: 1.2x, 430x, 22kx, 7Mx."""
    if ratio < 99.95:
        return f"{ratio:.1f}x"
    for unit in ("", "k", "M"):
        if ratio < 9999.5 or unit == "M":
            break
        ratio /= 1000
    return f"{ratio:.0f}{unit}x"
