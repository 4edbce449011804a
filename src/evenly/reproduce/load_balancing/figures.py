"""Table 1 and Figures 2 to 4 of the paper: which rows they have, and what is printed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from evenly.bench.contender import HAND, OURS
from evenly.bench.hardwired import PREFIX
from evenly.bench.record import Row
from evenly.bench.summary import Chooses, Ratio, Sides, contender, geomean, ratios, rivals

from ..experiment import Figure, Site
from ..tables import NONE, aligned
from . import pictures, published
from .counting import Lines, counted, shared
from .counting import lines as cells_of
from .matrices import chosen
from .rule import BEST, CHOOSERS, MERGE, RULE
from .sweep import EVERYTHING, NAMES, SCHEDULES, rows_of

ENOUGH = 0.9  # of the speed by hand
Takes = Callable[[list[Row]], Iterable[Row]]


# ---- which rows -----------------------------------------------------------------------------------------
SCHEDULE, CHOOSER, OTHER = "schedule", "chooser", "other"


def kind(row: Row) -> str:
    """Return what a row is of, whether it has times or was left out."""
    if row.contender.startswith(PREFIX):
        return HAND
    if row.contender in CHOOSERS:
        return CHOOSER
    return SCHEDULE if row.contender in map(str, SCHEDULES) else OTHER


def of_figure_2(rows: list[Row]) -> Iterator[Row]:
    """Yield the kernels by hand, the same generated, and why a matrix was left out."""
    names = {row.contender for row in rows}
    for row in rows:
        if kind(row) == HAND or PREFIX + row.contender in names or row.contender == EVERYTHING:
            yield row


def of_kind(*kinds: str) -> Takes:
    return lambda rows: (row for row in rows if kind(row) in kinds)


def measured(
    number: int, takes: Takes, needs_gpu: bool = False
) -> Callable[[Site], Iterator[list[Row]]]:
    """Return a function that yields the rows of a figure, those of a matrix at a time."""

    def measure(site: Site) -> Iterator[list[Row]]:
        every = [] if needs_gpu and not site.on_gpu else chosen(site)
        for at, source in enumerate(every):
            site.say(f"Figure {number}: {source.name} ({at + 1} of {len(every)})")
            yield list(takes(rows_of(site, source)))

    return measure


# ---- what is printed ------------------------------------------------------------------------------------
def speedups(rows: list[Row], mine: Chooses) -> list[Ratio]:
    """Return how many times as fast as the library."""
    return ratios(rows, Sides("", mine, rivals(rows)))


def against_hand(rows: list[Row]) -> dict[str, list[Ratio]]:
    """Return the speed of generated kernels relative to that of the same by hand, by the names of the schedules."""
    hands = dict.fromkeys(row.contender for row in rows if row.contender.startswith(PREFIX))
    names = {hand.removeprefix(PREFIX): hand for hand in hands}
    found = {
        name: ratios(rows, Sides("", contender(name), contender(hand)))
        for name, hand in names.items()
    }
    return {name: values for name, values in found.items() if values}


def reached(speeds: list[float]) -> float:
    """Return the share of speeds that are at least 90%."""
    return sum(speed >= ENOUGH for speed in speeds) / len(speeds)


def overhead(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of Figure 2. What is published is merge-path's speed relative to CUB's."""
    found = against_hand(rows)
    if not found:
        yield "  not measured: kernels by hand run on a GPU"
    else:
        heads = (
            "speed relative to by hand",
            "matrices",
            "geometric mean",
            "published",
            "90% reached",
            "published",
            "least",
        )
        yield from aligned(heads, (_overhead(name, values, rows) for name, values in found.items()))
    yield from left_out(rows)


def _overhead(name: str, found: list[Ratio], rows: list[Row]) -> tuple[str, ...]:
    values = [ratio.value for ratio in found]
    known = published.speedups(rows, MERGE, over=published.CUB) if name == NAMES[MERGE] else []
    share = f"{reached(known):.0%} ({len(known)})" if known else NONE
    least = said(min(found, key=lambda ratio: ratio.value))
    cells = f"{geomean(values):.3f}", published.mean(known), f"{reached(values):.0%}", share
    return name, str(len(found)), *cells, least


def landscape(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of Figure 3."""
    heads = (
        "schedule",
        "matrices",
        "the fastest",
        "times as fast as the library",
        "published",
        "least",
        "peak",
    )
    first = fastest(rows)
    papers = {contender: name for name, contender in NAMES.items()}
    lines = []
    for name in map(str, SCHEDULES):
        found = speedups(rows, contender(name))
        if found:
            known = (
                published.mean(published.speedups(rows, papers[name])) if name in papers else NONE
            )
            mean = f"{geomean(ratio.value for ratio in found):.2f}"
            lines.append(
                (name, str(len(found)), str(first.count(name)), mean, known, *extremes(found))
            )
    yield from aligned(heads, lines)
    yield from left_out(rows)


def fastest(rows: list[Row], among: Iterable[str] = ()) -> list[str]:
    """Return the fastest schedule of each matrix, of all or of those named."""
    best: dict[str, Row] = {}
    for row in rows:
        if (
            row.family == OURS
            and row.rounds
            and not row.wrong
            and (not among or row.contender in among)
        ):
            best[row.matrix] = min(best.get(row.matrix, row), row, key=lambda r: r.us)
    return [row.contender for row in best.values()]


def choosing(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of Figure 4: a line a matrix, then the means."""
    by_name = {name: speedups(rows, contender(name)) for name in CHOOSERS}
    yield from aligned(
        ("times as fast as the library", "nonzeros", *CHOOSERS, "published rule", "published best"),
        by_matrix(by_name),
    )
    yield ""
    heads = (
        "times as fast as the library",
        "matrices",
        "geometric mean",
        "published",
        "least",
        "peak",
        "slower on",
    )
    lines = []
    for name, found in by_name.items():
        if found:
            mean, slower = geomean(r.value for r in found), sum(r.value < 1 for r in found)
            known = published.mean(published.speedups(rows, name))
            lines.append(
                (name, str(len(found)), f"{mean:.2f}", known, *extremes(found), str(slower))
            )
    yield from aligned(heads, lines)
    yield from left_out(rows)


def by_matrix(by_name: dict[str, list[Ratio]]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each matrix, the smallest first."""
    values = {name: {r.ours.matrix: r.value for r in found} for name, found in by_name.items()}
    every = {ratio.ours.matrix: ratio.ours for found in by_name.values() for ratio in found}
    for row in sorted(every.values(), key=lambda row: row.nnz):
        known = published.of(row)
        cells = [values[name].get(row.matrix) for name in CHOOSERS]
        cells += [known.speedup(name) if known else None for name in (RULE, BEST)]
        yield (
            row.matrix,
            f"{row.nnz:,}",
            *(NONE if cell is None else f"{cell:.2f}" for cell in cells),
        )


def extremes(found: list[Ratio]) -> tuple[str, str]:
    least, peak = (of(found, key=lambda ratio: ratio.value) for of in (min, max))
    return said(least), said(peak)


def said(ratio: Ratio) -> str:
    return f"{ratio.value:.2f} {ratio.ours.matrix}"


def left_out(rows: list[Row]) -> Iterator[str]:
    """Yield a line for each contender that was left out, with why and where, and for each that was wrong."""
    why: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.note:
            why.setdefault((row.contender, row.note), []).append(row.matrix)
    for (who, note), where in why.items():
        yield f"  left out: {who}, {', '.join(dict.fromkeys(where))}: {note}"
    for row in rows:
        if row.wrong:
            yield f"  WRONG: {row.contender}, {row.matrix}: {row.wrong:,} entries of y"


def line_counts(rows: list[Lines]) -> Iterator[str]:
    """Yield the lines of Table 1."""
    heads = "schedule", "kernel", "the schedule", "the kernel by hand", "gunrock/loops, the kernel"
    yield from aligned(heads, cells_of(rows))
    python, cuda = shared()
    yield f"  shared by all schedules and kernels, on a GPU: engines {python:,} (Python), headers {cuda:,} (CUDA C++)"
    yield "  counted: lines that are neither blank nor comments; the kernel is the same under every schedule"
    yield "  the paper's own numbers are not known here; gunrock/loops is the authors' code, counted by the same rule"


FIGURES = (
    Figure(
        1, "lines of code", "", (), "", counted, kind="Table", row=Lines, lines=line_counts
    ),
    Figure(
        2, "time of generated kernels and of the same algorithm by hand, over nonzeros", "nonzeros", (), "",
        measured(2, of_figure_2, needs_gpu=True), row=Row, lines=overhead, draw=pictures.overhead,
    ),
    Figure(
        3, "time of every schedule over nonzeros, and of the library", "nonzeros", (), "",
        measured(3, of_kind(SCHEDULE, OTHER)), row=Row, lines=landscape, draw=pictures.landscape,
    ),
    Figure(
        4, "speedup over the library, of ways to choose a schedule", "nonzeros", (), "",
        measured(4, of_kind(CHOOSER, OTHER)), row=Row, lines=choosing, draw=pictures.speedup,
    ),
)  # fmt: skip
