"""The lines of an experiment: a table for each figure, and the conclusions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .experiment import Conclusion, Experiment, Figure, Row

UNITS = {"gflop_per_s": "GFLOP/s", "gb_per_s": "GB/s"}
NONE = "-"
HOLDS = {True: "holds", False: "does not hold", None: "cannot tell"}


def table(experiment: Experiment, figure: Figure, rows: list[Any]) -> Iterator[str]:
    """Yield the lines of a figure: its own, or a table for each of its values, then what was left out."""
    if figure.lines is not None:
        yield ""
        yield f"{figure.name}: {figure.title}"
        yield from figure.lines(rows)
        return
    for value in figure.values:
        yield ""
        yield f"{figure.name}, {UNITS[value]}: {figure.title}"
        yield from _cells(experiment, value, figure, rows)
    if figure.published:
        yield f"  published: {figure.published}"
    yield from notes(rows)


def _cells(experiment: Experiment, value: str, figure: Figure, rows: list[Row]) -> Iterator[str]:
    best: dict[tuple[str, float], dict[str, float]] = {}
    for row in rows:
        cells = best.setdefault((row.case, row.x), {})
        if row.rounds and not row.wrong:
            cells[row.curve] = max(cells.get(row.curve, 0.0), float(getattr(row, value)))
    wide = max(4, *(len(case) for case, _ in best))
    seen = {row.curve for row in rows}
    curves = [curve for curve in experiment.curves if curve in seen]
    yield f"  {'case':{wide}} {figure.axis:>21}" + "".join(f"{curve:>13}" for curve in curves)
    for (case, x), cells in best.items():
        said = "".join(_cell(cells.get(curve)) for curve in curves)
        yield f"  {case:{wide}} {x:>21,g}{said}"


def _cell(value: float | None) -> str:
    return f"{NONE if value is None else f'{value:,.{2 if value < 10 else 1}f}':>13}"


def aligned(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table: its first column to the left, the others to the right."""
    every = [heads, *lines]
    wide = [max(map(len, column)) for column in zip(*every, strict=True)]
    for first, *others in every:
        cells = "".join(f"  {cell:>{n}}" for cell, n in zip(others, wide[1:], strict=True))
        yield f"  {first:{wide[0]}}{cells}".rstrip()


def notes(rows: list[Row]) -> Iterator[str]:
    """Yield a line for each contender that was left out, with where and why, and for each that was wrong."""
    why: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.note:
            why.setdefault((row.contender, row.note), []).append(row)
    for (who, note), there in why.items():
        where = "everywhere" if _everywhere(there, rows) else _places(there)
        yield f"  left out: {who}, {where}: {note}"
    for row in rows:
        if row.wrong:
            yield f"  WRONG: {row.contender}, {row.case}, {row.x:,g}: {row.wrong:,} entries of y"


def _everywhere(there: list[Row], rows: list[Row]) -> bool:
    return len(there) == len({(row.case, row.x) for row in rows})


def _places(rows: list[Row]) -> str:
    cases: dict[str, list[float]] = {}
    for row in rows:
        cases.setdefault(row.case, []).append(row.x)
    return "; ".join(f"{case} ({', '.join(f'{x:,g}' for x in at)})" for case, at in cases.items())


def verdict(found: list[Conclusion]) -> Iterator[str]:
    """Yield the lines of the conclusions."""
    yield ""
    wide = max(len(c.published) for c in found)
    yield f"{'Conclusions of the paper':{wide}}  {'':13}  here"
    for c in found:
        yield f"{c.published:{wide}}  {HOLDS[c.holds]:13}  {c.here}"
    if any(c.holds is None for c in found):
        yield f"{HOLDS[None]}: it was not measured, or not on a GPU, or with --quick"
