"""One point of a figure: a method, its threads a block and blocks, on so many particles."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly.errors import EvenlyError
from evenly.gpus.gpu import WARP
from evenly.schedules.contract import ceil_div
from evenly.schedules.group_mapped import groups_in_block

from ..experiment import Site
from .octree import DEEPEST, FIELDS, LEAF, Tree, octants_above, octree, tasks_of, tree
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
ROUNDS, SECONDS = 5, 0.5  # runs of a point; none begins after that time
SLOW = 2.0  # seconds of a first run, after which there is one more


@dataclass(frozen=True, slots=True)
class Point:
    """One point; the fields are the columns of the CSV file.

    threads: that share a task. blocks: as many teams of them run at a time. us: the median of `rounds` whole calls.
    tasks, levels: of the octree. failed, handed: compare-and-swaps that failed, and tasks that came from another
    worker, in a run of its own; -1: not counted. wrong: particles that are not in their leaf, or 1 for a wrong total.
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
    failed: int = -1
    handed: int = -1
    wrong: int = 0
    note: str = ""


class Problem(NamedTuple):
    """Particles at a place, and the octree that is to be found. leaf_of: see Tree."""

    arguments: tuple[Any, ...]  # those of `octree`
    tree: Tree
    leaf_of: Any


def problem(site: Site, distribution: str, n: int) -> Problem:
    """Return n particles of a distribution."""

    def make() -> Problem:
        xp, points = site.xp, DISTRIBUTIONS[distribution](n)
        found = tree(points)
        x, y, z = (xp.asarray(np.ascontiguousarray(column)) for column in points.T)
        order, moved = xp.zeros(n, np.int32), xp.zeros(n, np.int32)
        octants = ev.output(tuple(FIELDS.values()), capacity=n + found.tasks, like=x)
        arguments = root(n, x), x, y, z, order, moved, octants
        return Problem(arguments, found, xp.asarray(found.leaf_of))

    found: Problem = site.once(("problem", distribution, n), make)
    return found


def root(n: int, like: Any) -> Any:
    """Return the tasks: the unit cube, with n particles."""
    return tasks_of(octants_above(np.array([0, n]), 0)[0], n // (LEAF + 1) + 1024, like)


def schedule(method: str, threads: int, blocks: int) -> Any:
    """Return the schedule of a method, in which `blocks` teams of so many threads run at a time."""
    block = ceil_div(threads, WARP) * WARP
    launched = ceil_div(blocks, groups_in_block(threads, block))
    return EVERY[method](size=threads, block=block, blocks=launched)


def measure(
    site: Site, figure: int, distribution: str, n: int, method: str, threads: int, blocks: int
) -> Point:
    """Run a method, and check what it gives."""
    machine, versions = site.once("machine", site.place.machine)
    of = problem(site, distribution, n)
    about = (machine, versions, site.place.target, figure, distribution, n, method, threads, blocks)
    made = schedule(method, threads, blocks)
    try:
        plan = octree.plan(*of.arguments, schedule=made, target=site.place.target)
        begun = time.monotonic()
        wrong = checked(site, of, lambda: plan(*of.arguments))
        rounds = 1 if site.quick or time.monotonic() - begun > SLOW else ROUNDS
        taken = list(timed(site, of, lambda: plan(*of.arguments), rounds))
    except EvenlyError as error:
        return Point(*about, schedule=str(made), note=str(error)[:200])
    times = float(np.median(taken)), min(taken), max(taken), len(taken)
    return Point(*about, str(made), *times, of.tree.tasks, of.tree.rounds, wrong=wrong)


def with_counts(site: Site, point: Point) -> Point:
    """Return a point with what workers of a GPU count in another run. Rounds count nothing."""
    if point.method == STATIC or not point.rounds or not site.on_gpu:
        return point
    of = problem(site, point.distribution, point.particles)
    made = replace(schedule(point.method, point.threads, point.blocks), counted=True)
    start(site, of)
    octree[made].on(site.place.target)(*of.arguments)
    found = of.arguments[0].counts
    return replace(point, failed=found.failed, handed=found.handed)


def start(site: Site, of: Problem) -> None:
    """Put the particles into their first order. Nothing is found yet."""
    order, octants = of.arguments[4], of.arguments[6]
    order[:] = site.xp.arange(len(order), dtype=np.int32)
    octants.clear()


def checked(site: Site, of: Problem, run: Any) -> int:
    """Run once. Return how many particles are not where they belong."""
    xp, order, octants = site.xp, of.arguments[4], of.arguments[6]
    start(site, of)
    run()
    n = len(order)
    lost = int(n - (xp.bincount(order, minlength=n) == 1).sum())
    misplaced = int((xp.diff(of.leaf_of[order]) < 0).sum())
    begins, ends, depths = octants.columns[:3]
    sizes = ends - begins
    leaf = (sizes <= LEAF) | (depths == DEEPEST)
    found = (~leaf).sum(), leaf.sum(), sizes[leaf].sum(), depths.max()
    wanted = [of.tree.tasks, of.tree.leaves, n, of.tree.rounds]
    return max(lost, misplaced, int([int(v) for v in found] != wanted))


def timed(site: Site, of: Problem, run: Any, rounds: int) -> Iterator[float]:
    """Yield the microseconds of whole calls, each of which waits for the device."""
    until = time.monotonic() + SECONDS
    for _ in range(rounds):
        start(site, of)
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
