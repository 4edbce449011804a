"""What the paper concludes, and whether it is so here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenly.bench.summary import geomean

from ..experiment import Conclusion, Site
from .figures import best, right
from .particles import DISTRIBUTIONS, TUBE, UNIFORM
from .sweep import BLOCKING, LOCK_FREE, METHODS, STATIC, STEALING, Point

NOTHING = "not measured"
Found = tuple[str, bool] | None
FLAT = 1.1  # of times that do not change
PAPERS = 500_000  # particles


def conclusions(site: Site, rows: list[Any]) -> list[Conclusion]:
    """Hold the rows of a run against the paper. Only a full run on a GPU can tell."""
    tells = site.on_gpu and not site.quick
    made = []
    for published, ask in CLAIMS.items():
        here, holds = ask(right(rows)) or (NOTHING, None)
        made.append(Conclusion(published, here, holds if tells else None))
    return made


def of_figure(rows: list[Point], *figures: int) -> list[Point]:
    return [row for row in rows if row.figure in figures]


def ranks(rows: list[Point]) -> list[tuple[Point, ...]]:
    """Return the paper's methods from the fastest to the slowest, for each launch that all of them have."""
    places: dict[Any, dict[str, Point]] = {}
    for row in of_figure(rows, 2):
        if row.method in METHODS:
            places.setdefault((row.distribution, row.threads, row.blocks), {})[row.method] = row
    whole = (found.values() for found in places.values() if len(found) == len(METHODS))
    return [tuple(sorted(found, key=lambda r: r.us)) for found in whole]


def blocking_is_worst(rows: list[Point]) -> Found:
    found = [ranked for ranked in ranks(rows) if ranked[0].threads < 64]
    if not found:
        return None
    last = sum(ranked[-1].method == BLOCKING for ranked in found)
    return f"the slowest of the four in {last} of {len(found)} launches", last > len(found) / 2


def blocking_is_best(rows: list[Point]) -> Found:
    found = [ranked for ranked in ranks(rows) if ranked[0].blocks < 10]
    if not found:
        return None
    first = sum(ranked[0].method == BLOCKING for ranked in found)
    return f"the fastest of the four in {first} of {len(found)} launches", first > len(found) / 2


def over_blocks(rows: list[Point], method: str) -> dict[str, dict[int, float]]:
    """Return the times of Figure 3 by distribution and blocks."""
    mine = [row for row in of_figure(rows, 3) if row.method == method]
    return {d: {r.blocks: r.us for r in mine if r.distribution == d} for d in DISTRIBUTIONS}


def blocking_gets_slower(rows: list[Point]) -> Found:
    """Whether the blocking queue is slower with twice as many multiprocessors: 64 and 132 blocks."""
    found = {d: t[132] / t[64] for d, t in over_blocks(rows, BLOCKING).items() if {64, 132} <= set(t)}  # fmt: skip
    if not found:
        return None
    here = ", ".join(f"{d} {ratio:.2f}" for d, ratio in found.items())
    return f"time on 132 blocks over that on 64: {here}", min(found.values()) > 1


def lock_free_is_flat(rows: list[Point]) -> Found:
    times = {d: t for d, t in over_blocks(rows, LOCK_FREE).items() if 20 in t and max(t) > 20}
    if not times:
        return None
    found = {d: t[20] / min(v for n, v in t.items() if n > 20) for d, t in times.items()}
    here = ", ".join(f"{d} {ratio:.2f}" for d, ratio in found.items())
    return f"time on 20 blocks over the least on more: {here}", max(found.values()) < FLAT


def stealing_is_ahead(rows: list[Point]) -> Found:
    found = {}
    for d in DISTRIBUTIONS:
        one, other = (best(of_figure(rows, 2), d, m) for m in (STATIC, STEALING))
        if one and other:
            found[d] = one.us / other.us
    if not found:
        return None
    here = ", ".join(f"{d} {ratio:.2f}" for d, ratio in found.items())
    return f"best time of the static list over that of stealing: {here}", geomean(
        found.values()
    ) > 1


def the_tube_is_deeper(rows: list[Point]) -> Found:
    found = {r.distribution: r.levels for r in rows if r.particles == PAPERS}
    if set(found) != {UNIFORM, TUBE}:
        return None
    here = f"rounds of {PAPERS:,} particles: {found[TUBE]} and {found[UNIFORM]}"
    return here, found[TUBE] > found[UNIFORM]


CLAIMS: dict[str, Callable[[list[Point]], Found]] = {
    "the blocking queue is the worst below 64 threads a block": blocking_is_worst,
    "the blocking queue is the best with fewer than 10 blocks": blocking_is_best,
    "the blocking queue is slower on more multiprocessors": blocking_gets_slower,
    "the lock-free queue does not change from 20 blocks on": lock_free_is_flat,
    "stealing is ahead of the static list": stealing_is_ahead,
    "the tube needs more rounds than the uniform cube, 7": the_tube_is_deeper,
}
