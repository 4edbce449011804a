"""Figures 2 to 5: which points, and the lines that are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evenly.balance.sketch import percent

from ..experiment import Figure, Site
from ..tables import NONE, aligned
from . import pictures
from .particles import DISTRIBUTIONS
from .sweep import EVERY, METHODS, STATIC, Point, measure, with_counts


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. particles: of Figures 2 and 3. sets: of Figures 4 and 5."""

    particles: int
    threads: tuple[int, ...]
    blocks: tuple[int, ...]
    few: tuple[int, ...]  # blocks, of Figure 3
    sets: tuple[int, ...]


PAPER = Sizes(
    500_000,
    (16, 32, 48, 64, 72, 80, 96, 112, 128),
    (8, 20, 32, 64, 132, 528),
    (4, 8, 14, 20, 32, 64, 132, 264, 528, 1056),
    (1_000, 10_000, 100_000, 500_000, 2_000_000, 10_000_000),
)  # fmt: skip
ON_CPU = Sizes(20_000, (32,), (2,), (1, 2), (1_000, 10_000, 20_000))
QUICK = Sizes(3_000, (32, 72), (2, 8), (1, 2), (500, 3_000))


def sizes(site: Site) -> Sizes:
    """Return the paper's sizes on a GPU, smaller ones on a CPU."""
    if site.quick:
        return QUICK
    return PAPER if site.on_gpu else ON_CPU


def over_launches(site: Site) -> Iterator[list[Point]]:
    """Figure 2: every method, threads a block and blocks."""
    asked = sizes(site)
    for distribution in DISTRIBUTIONS:
        for method in EVERY:
            site.say(f"Figure 2: {distribution}, {method}")
            for threads in asked.threads:
                for blocks in asked.blocks:
                    given = site, 2, distribution, asked.particles, method, threads, blocks
                    yield [measure(*given)]


def fastest(site: Site, distribution: str, method: str) -> Point | None:
    """Return a method's fastest point of Figure 2, which is measured now if nobody has."""

    def sweep() -> list[Point]:
        return [row for rows in over_launches(site) for row in rows]

    return best(site.rows.get(2) or site.once("swept", sweep), distribution, method)


def best(rows: Iterable[Point], distribution: str, method: str) -> Point | None:
    """Return a method's fastest point."""
    mine = (r for r in right(rows) if (r.distribution, r.method) == (distribution, method))
    return min(mine, key=lambda r: r.us, default=None)


def right(rows: Iterable[Point]) -> list[Point]:
    """Return the points that were measured."""
    return [row for row in rows if row.rounds and not row.wrong]


def over_blocks(site: Site) -> Iterator[list[Point]]:
    """Figure 3: each method with the threads of its fastest point, over the blocks that run at a time."""
    for distribution in DISTRIBUTIONS:
        for method in EVERY:
            site.say(f"Figure 3: {distribution}, {method}")
            if found := fastest(site, distribution, method):
                n, threads = found.particles, found.threads
                for blocks in sizes(site).few:
                    point = measure(site, 3, distribution, n, method, threads, blocks)
                    yield [with_counts(site, point)]


def over_particles(site: Site) -> Iterator[list[Point]]:
    """Figure 4: each method as in its fastest point, over the particles."""
    for n in sizes(site).sets:
        for distribution in DISTRIBUTIONS:
            for method in EVERY:
                site.say(f"Figure 4: {distribution}, {method}, {n:,} particles")
                if found := fastest(site, distribution, method):
                    at = found.threads, found.blocks
                    yield [measure(site, 4, distribution, n, method, *at)]


def tasks(site: Site) -> Iterator[list[Point]]:
    """Figure 5: how many tasks there are; under StaticList, whose tasks are those of every method."""
    for n in sizes(site).sets:
        for distribution in DISTRIBUTIONS:
            site.say(f"Figure 5: {distribution}, {n:,} particles")
            at = sizes(site).threads[-1], sizes(site).blocks[-1]
            yield [measure(site, 5, distribution, n, STATIC, *at)]


# ---- lines -------------------------------------------------------------------------------------------
def milliseconds(found: Point | None) -> str:
    return NONE if found is None else f"{found.us / 1e3:.3f}"


def by(rows: list[Point], key: str, title: str) -> Iterator[str]:
    """Yield a table for each distribution: the least milliseconds of each method, over one of the columns."""
    for distribution in DISTRIBUTIONS:
        here = [row for row in rows if row.distribution == distribution]
        lines = []
        for at in sorted({getattr(row, key) for row in here}):
            there = [row for row in here if getattr(row, key) == at]
            lines.append([f"{at:,}", *(milliseconds(best(there, distribution, m)) for m in EVERY)])
        yield f"  {distribution}, ms over {title}"
        yield from aligned(["", *EVERY], lines)


def launches(rows: list[Point]) -> Iterator[str]:
    """Yield the lines of Figure 2."""
    yield from by(rows, "threads", "threads a block, with the best number of blocks")
    yield from by(rows, "blocks", "blocks, with the best number of threads")
    for distribution in DISTRIBUTIONS:
        yield f"  {distribution}, the paper's launches and each method's best: ms"
        lines = []
        for threads, blocks in ((72, 8), (72, 20), (64, 32)):
            here = [r for r in rows if (r.threads, r.blocks) == (threads, blocks)]
            cells = (milliseconds(best(here, distribution, m)) for m in EVERY)
            lines.append([f"{threads} x {blocks}", *cells])
        at = {m: best(rows, distribution, m) for m in EVERY}
        lines.append(["best", *map(milliseconds, at.values())])
        shown = (NONE if p is None else f"{p.threads} x {p.blocks}" for p in at.values())
        lines.append(["at", *shown])
        yield from aligned(["threads x blocks", *EVERY], lines)
    yield from said(rows)


def blocks(rows: list[Point]) -> Iterator[str]:
    """Yield the lines of Figure 3."""
    yield from by(rows, "blocks", "blocks that run at a time")
    for distribution in DISTRIBUTIONS:
        here = [r for r in right(rows) if r.distribution == distribution and r.workers]
        if here:
            yield f"  {distribution}: for each task, and of the workers' time"
            yield from aligned(["", "blocks", *CONTENTION], map(contention, here))
    yield from said(rows)


CONTENTION = "failed swaps", "from others", "idle"


def contention(r: Point) -> list[str]:
    each = f"{r.failed / r.tasks:.2f}", f"{r.handed / r.tasks:.2f}"
    return [r.method, f"{r.blocks:,}", *each, percent(r.idle)]


def particles(rows: list[Point]) -> Iterator[str]:
    """Yield the lines of Figure 4."""
    yield from by(rows, "particles", "particles")
    yield from said(rows)


def counts(rows: list[Point]) -> Iterator[str]:
    """Yield the lines of Figure 5."""
    for distribution in DISTRIBUTIONS:
        here = [r for r in right(rows) if r.distribution == distribution]
        yield f"  {distribution}"
        lines = [[f"{r.particles:,}", f"{r.tasks:,}", str(r.levels)] for r in here]
        yield from aligned(["particles", "tasks", "rounds of the static list"], lines)
    yield from said(rows)


def said(rows: list[Point]) -> Iterator[str]:
    """Yield a line for each point that was left out or wrong."""
    for row in rows:
        where = f"{row.method}, {row.distribution}, {row.threads} x {row.blocks}, {row.particles:,} particles"
        if row.note:
            yield f"  left out: {where}: {row.note}"
        if row.wrong:
            yield f"  WRONG: {where}: {row.wrong:,}"


AXIS = "threads a block x blocks"
FIGURES = (
    Figure(
        2, "time of an octree, over threads a block and blocks", AXIS, (), "", over_launches,
        row=Point, lines=launches, draw=pictures.launches,
    ),
    Figure(
        3, "the same, over the blocks that run at a time", "blocks", (), "", over_blocks,
        row=Point, lines=blocks, draw=pictures.blocks,
    ),
    Figure(
        4, "the same, over the number of particles", "particles", (), "", over_particles,
        row=Point, lines=particles, draw=pictures.particles,
    ),
    Figure(
        5, "the number of tasks", "particles", (), "", tasks, row=Point, lines=counts, draw=pictures.tasks
    ),
)  # fmt: skip
__all__ = ["FIGURES", "METHODS", "best", "right", "sizes"]
