"""One point of a figure: a method, its threads a block and blocks, on so many particles."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly.errors import EvenlyError
from evenly.gpus.gpu import WARP
from evenly.interop.transfer import to_numpy
from evenly.schedules.contract import ceil_div
from evenly.schedules.group_mapped import groups_in_block

from ..experiment import Site
from .octree import DEEPEST, FIELDS, LEAF, Tree, octree, root, tree
from .particles import DISTRIBUTIONS

BLOCKING, LOCK_FREE, STEALING, STATIC = "blocking", "lock-free", "stealing", "static"
METHODS = {
    BLOCKING: ev.BlockingQueue,
    LOCK_FREE: ev.LockFreeQueue,
    STEALING: ev.WorkStealing,
    STATIC: ev.StaticList,
}
POOL = "task pool"  # not in the paper
EVERY = {**METHODS, POOL: ev.TaskPool}
ROUNDS, SECONDS = 3, 0.05  # runs of a point; none but the first begins after that time


ABOUT = 10  # the first fields of a Point: what it is about, and not what was found


@dataclass(frozen=True, slots=True)
class Point:
    """One point; the fields are the columns of the CSV file.

    threads: that share a task. blocks: as many teams of them run at a time. us: the median of `rounds` whole calls.
    tasks, levels: of the octree. workers: that counted what they did, in a run of its own; 0: nobody counted. failed,
    handed: compare-and-swaps that failed, and tasks that came from another worker. idle: the share of the workers' time
    without a task. wrong: particles that are not in their leaf, or 1 for a wrong total.
    """

    machine: str
    versions: str
    target: str
    figure: int
    distribution: str
    particles: int
    method: str
    threads: int
    blocks: int
    schedule: str = ""
    us: float = 0.0
    us_min: float = 0.0
    us_max: float = 0.0
    rounds: int = 0
    tasks: int = 0
    levels: int = 0
    workers: int = 0
    failed: int = 0
    handed: int = 0
    idle: float = 0.0
    wrong: int = 0
    note: str = ""


class Problem(NamedTuple):
    """Particles at a place, and the octree that is to be found. first: (n,), their first order."""

    arguments: tuple[Any, ...]  # those of `octree`
    tree: Tree
    first: Any


def problem(site: Site, distribution: str, n: int) -> Problem:
    """Return n particles of a distribution."""

    def make() -> Problem:
        xp, points = site.xp, DISTRIBUTIONS[distribution](n)
        found = tree(points)
        x, y, z = (xp.asarray(np.ascontiguousarray(column)) for column in points.T)
        order, moved = xp.zeros(n, np.int32), xp.zeros(n, np.int32)
        octants = ev.output(tuple(FIELDS.values()), capacity=n + found.tasks, like=x)
        arguments = root(n, n // (LEAF + 1) + 1024, x), x, y, z, order, moved, octants
        return Problem(arguments, found, xp.asarray(np.arange(n, dtype=np.int32)))

    found: Problem = site.once(("problem", distribution, n), make)
    return found


def schedule(method: str, threads: int, blocks: int) -> Any:
    """Return the schedule of a method, in which `blocks` teams of so many threads run at a time."""
    block = ceil_div(threads, WARP) * WARP
    launched = ceil_div(blocks, groups_in_block(threads, block))
    return EVERY[method](size=threads, block=block, blocks=launched)


def measure(
    site: Site, figure: int, distribution: str, n: int, method: str, threads: int, blocks: int
) -> Point:
    """Run a method, and check what it gives. What another figure, or an earlier run, has measured is that point."""
    machine, versions = site.once("machine", site.place.machine)
    at = site.place.target, figure, distribution, n, method, threads, blocks
    about = Point(machine, versions, *at, str(schedule(method, threads, blocks)))
    known: dict[tuple[Any, ...], Point] = site.once("known", lambda: earlier(site))
    if key(about) not in known:
        found = measured(site, about)
        if found.rounds and not found.wrong:
            known[key(about)] = found
        return found
    return replace(known[key(about)], figure=figure)


def earlier(site: Site) -> dict[tuple[Any, ...], Point]:
    """Return the points that an earlier run has found to be right, by their keys."""
    every = (row for rows in site.rows.values() for row in rows if row.rounds and not row.wrong)
    return {key(row): row for row in every}


def key(point: Point) -> tuple[Any, ...]:
    """Return what a point is about, without the figure and what was found."""
    return astuple(replace(point, figure=0))[:ABOUT]


def measured(site: Site, about: Point) -> Point:
    of = problem(site, about.distribution, about.particles)
    made = schedule(about.method, about.threads, about.blocks)
    try:
        plan = octree.plan(*of.arguments, schedule=made, target=site.place.target)
        with plan.bind(*of.arguments) as call:
            if not site.on_gpu:
                list(timed(site, of, call, 1))  # a first call compiles there
            taken = list(timed(site, of, call, 1 if site.quick else ROUNDS))
    except EvenlyError as error:
        return replace(about, note=str(error)[:200])
    return replace(
        about, us=float(np.median(taken)), us_min=min(taken), us_max=max(taken), rounds=len(taken),
        tasks=of.tree.tasks, levels=of.tree.rounds, wrong=wrong(of),
    )  # fmt: skip


def with_counts(site: Site, point: Point) -> Point:
    """Return a point with what workers of a GPU count in another run. Rounds count nothing."""
    if point.method == STATIC or not point.rounds or point.workers or not site.on_gpu:
        return point
    of = problem(site, point.distribution, point.particles)
    made = replace(schedule(point.method, point.threads, point.blocks), counted=True)
    start(of)
    octree[made].on(site.place.target)(*of.arguments)
    found = of.arguments[0].counts
    workers, failed, handed = found.workers, found.failed, found.handed
    return replace(point, workers=workers, failed=failed, handed=handed, idle=found.idle_share)


def start(of: Problem) -> None:
    """Put the particles into their first order. Nothing is found yet."""
    order, octants = of.arguments[4], of.arguments[6]
    order[:] = of.first
    octants.clear()


def wrong(of: Problem) -> int:
    """Return how many particles are not where they belong after a run; 1 for a wrong total.

    The tasks have found all octants but the first.
    NumPy does it: the first use of each of CuPy's functions compiles, which took 20 s.
    """
    order = to_numpy(of.arguments[4])
    begins, ends, depths = map(to_numpy, of.arguments[6].columns[:3])
    n = len(order)
    lost = int(n - (np.bincount(order, minlength=n) == 1).sum())
    misplaced = int((np.diff(of.tree.leaf_of[order]) < 0).sum())
    sizes = ends - begins
    leaf = (sizes <= LEAF) | (depths == DEEPEST)
    found = 1 + (~leaf).sum(), leaf.sum(), sizes[leaf].sum(), depths.max()
    wanted = [of.tree.tasks, of.tree.leaves, n, of.tree.rounds]
    return max(lost, misplaced, int([int(v) for v in found] != wanted))


def timed(site: Site, of: Problem, run: Any, rounds: int) -> Iterator[float]:
    """Yield the microseconds of whole calls, each of which waits for the device. The last one's results stay."""
    until = time.monotonic() + SECONDS
    for _ in range(rounds):
        start(of)
        finished(site)
        begun = time.perf_counter()
        run()
        finished(site)
        yield 1e6 * (time.perf_counter() - begun)
        if time.monotonic() > until:
            return


def finished(site: Site) -> None:
    if site.on_gpu:
        site.xp.cuda.Device().synchronize()
