"""`ev.verify`: prove, by counting, that a schedule does all the work of a layout, and none twice.

There are two runs. The first calls the schedule's own methods as plain Python, for each processor
of its launch and for a few other numbers of processors. The second runs a counting kernel on a
target, through the engine that runs all kernels under this schedule.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly import targets
from evenly.errors import EvenlyError
from evenly.interop.transfer import to_numpy, to_place
from evenly.language import names
from evenly.layouts import convert
from evenly.layouts.contract import LayoutInstance, is_layout
from evenly.layouts.moving import move
from evenly.layouts.positions import Positions
from evenly.runtime.kernel import kernel
from evenly.schedules import Schedule, by_name
from evenly.schedules.contract import Sizes, check_groups, launch_of
from evenly.schedules.partition import Partition, Walked, partition
from evenly.targets.gpu.engines import engine_of

OTHER_COUNTS = (1, 2, 3, 7)  # processors; a schedule must be right for any number
MOST_STEPS = 5_000_000  # tiles, atoms and processors that the plain Python run may visit


class VerificationError(EvenlyError, AssertionError):
    """A schedule leaves out work, or does some twice. The message names the first tile or atom."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of `ev.verify`. `str()` describes it in a line."""

    schedule: Schedule
    tiles: int
    atoms: int
    processors: tuple[int, ...]
    target: str

    def __str__(self) -> str:
        walked = ", ".join(map(str, self.processors))
        return (
            f"{self.schedule}: {self.tiles} tiles left once, {self.atoms} atoms visited once, "
            f"by {walked} processors and on {self.target}"
        )


def verify(schedule: Any, A: Any, target: str = "cpu", **options: Any) -> Verified:
    """Prove that `schedule` visits each valid atom of a layout once and leaves each tile once.

    schedule: a schedule, or its name.
    A: a layout in CPU memory, or a sparse matrix of SciPy, which becomes CSR.
    target: where the counting kernel runs: "cpu", "cuda" or "simt". "python" runs none.
    options: of target "simt": seeds=range(20) runs the kernel in twenty orders of threads.

    Raises VerificationError with the first tile or atom that is wrong, and the processors that visit it.
    Raises SimtError if target "simt" finds a mistake in the code.
    """
    schedule = by_name(schedule)
    if isinstance(target, str) and target == "auto":
        target = "cpu"
    runs = not targets.find(target).reference
    counted = A if is_layout(A) else convert(A, "csr")
    sizes = Sizes(int(counted.max_tiles), int(counted.max_atoms))
    blocks, threads = launch_of(schedule, sizes)
    launched = blocks * threads // _group_size(schedule)
    each = _whole_groups(schedule, counted, launched or max(1, threads // _group_size(schedule)))
    wanted = sorted({*(n * each for n in OTHER_COUNTS), max(launched, each)})
    walked = tuple(n for n in wanted if n * 2 + sizes.num_tiles + sizes.num_atoms <= MOST_STEPS)
    for n in walked:
        try:
            _walk(partition(schedule, counted, n).keeping())
        except EvenlyError:
            raise
        except Exception as error:
            raise VerificationError(
                f"{type(schedule).__name__} raises {type(error).__name__} for {n} "
                f"processor{'s' * (n > 1)}: {error}"
            ) from error
    if runs or options:  # options that a target does not have are refused there
        _count_on(schedule, counted, target, options)
    return Verified(schedule, int(counted.num_tiles), int(counted.num_atoms), walked, target)


def _whole_groups(schedule: Schedule, counted: LayoutInstance, launched: int) -> int:
    """Return the least number of processors that form whole groups of every size that the schedule uses."""
    p, own = partition(schedule, counted, launched), _group_size(schedule)
    # Errors of the schedule's methods are reported by the walks.
    with names.groups_asked() as asked, contextlib.suppress(Exception):
        p.atoms(0, p.tiles(0)[0])
    if engine_of(schedule).runs_methods:
        check_groups(schedule, asked)
    return math.lcm(own, *asked) // own


def _group_size(schedule: Schedule) -> int:
    return int(schedule.size) if schedule.owner == "group" else 1


# ---- the schedule's own methods, walked ------------------------------------------------------------
def _walk(p: Partition) -> None:
    visits = np.zeros(int(p.layout.num_atoms), np.int64)
    left = np.zeros(int(p.layout.num_tiles), np.int64)
    previous = 0
    for processor in range(p.num_processors):
        for tile in _tiles(p, processor, len(left)):
            begin, end = int(p.layout.begin(tile)), int(p.layout.end(tile))
            if p.schedule.owner == "share":
                previous = _share(p, processor, tile, begin, end, visits, left, previous)
            else:
                for rank in range(_group_size(p.schedule)):
                    _visit(p, processor, tile, p.atoms(processor, tile, rank), begin, end, visits)
                left[tile] += 1
    _once(visits, left, f"by {p.num_processors} processor{'s' * (p.num_processors > 1)}")


def _tiles(p: Partition, processor: int, count: int) -> Walked:
    tiles = p.tiles(processor)
    if p.schedule.owner == "share":
        _one_by_one(p, processor, "tiles", tiles)
    for tile in _ends(tiles):
        if not 0 <= tile < count:
            raise VerificationError(
                f"processor {processor} of {p.num_processors} walks tile {tile}, and there are {count}"
            )
    if p.schedule.owner == "group":
        for rank in range(1, p.schedule.size):
            seen = p.tiles(processor, rank)
            if seen != tiles:
                raise VerificationError(
                    f"the members of group {processor} of {p.num_processors} see different tiles: "
                    f"rank 0 {tiles}, rank {rank} {seen}"
                )
    return tiles


def _visit(
    p: Partition, processor: int, tile: int, atoms: Walked, begin: int, end: int, visits: np.ndarray
) -> None:
    for atom in _ends(atoms):
        if not begin <= atom < end:
            raise VerificationError(
                f"processor {processor} of {p.num_processors} takes atom {atom} "
                f"for tile {tile}, whose atoms are {begin} to {end - 1}"
            )
    if len(atoms) > 0:
        np.add.at(visits, np.asarray(atoms, np.int64), 1)


def _ends(given: Walked) -> Walked:
    """Return the positions that are looked at: the ends of a range, or all that a method yields."""
    return given if isinstance(given, tuple) else (*given[:1], *given[-1:])


def _share(
    p: Partition,
    processor: int,
    tile: int,
    begin: int,
    end: int,
    visits: np.ndarray,
    left: np.ndarray,
    previous: int,
) -> int:
    """Count the part of a shared tile, which must follow the part before it. Returns the atom after it."""
    atoms = p.atoms(processor, tile)
    _one_by_one(p, processor, f"atoms of tile {tile}", atoms)
    _visit(p, processor, tile, atoms, begin, end, visits)
    if begin == end:
        left[tile] += 1
    elif len(atoms):
        if atoms[0] != previous:
            raise VerificationError(
                f"processor {processor} of {p.num_processors} takes atoms {atoms} of tile {tile}: "
                f"the next atom, in the order of processors, is {previous}"
            )
        previous = atoms[-1] + 1
        if previous == end:
            left[tile] += 1
    return previous


def _one_by_one(p: Partition, processor: int, what: str, given: Walked) -> None:
    who = f"processor {processor} of {p.num_processors} takes {what}"
    if isinstance(given, range) and given.step != 1:
        raise VerificationError(f"{who} {given}: where tiles are shared, the step is 1")
    if isinstance(given, tuple) and any(b <= a for a, b in itertools.pairwise(given)):
        raise VerificationError(f"{who} {given}: where tiles are shared, they ascend")


def _once(visits: np.ndarray, left: np.ndarray, where: str) -> None:
    for what, verb, counts in (("atom", "visited", visits), ("tile", "left", left)):
        wrong = np.flatnonzero(counts != 1)
        if len(wrong):
            times = int(counts[wrong[0]])
            said = f"never {verb}" if times == 0 else f"{verb} {times} times"
            raise VerificationError(
                f"{what} {wrong[0]} is {said} {where} ({len(wrong)} of {len(counts)} {what}s are wrong)"
            )


# ---- the counting kernel ------------------------------------------------------------------------------
@kernel
def _count(L, visits, sizes, left):
    for tile in L.tiles():
        size = 0
        for k in L.atoms(tile):
            size += 1
            names.atomic_add(visits, k, 1)
        sizes[tile] = size
        names.atomic_add(left, tile, 1)


def _count_on(
    schedule: Schedule, counted: LayoutInstance, target: str, options: dict[str, Any]
) -> None:
    tiles, atoms = int(counted.num_tiles), int(counted.num_atoms)
    most, most_atoms = (
        int(counted.max_tiles),
        int(counted.max_atoms),
    )  # what a kernel may be told to expect
    host = np.zeros(most_atoms, np.int32), np.full(most, -1, np.int64), np.zeros(most, np.int32)
    visits, sizes, left = _run(schedule, counted, target, options, host)
    visits, sizes, left = visits[:atoms], sizes[:tiles], left[:tiles]
    valid = np.array(
        [
            bool(counted.valid(t, p))
            for t in range(tiles)
            for p in range(int(counted.begin(t)), int(counted.end(t)))
        ],
        bool,
    )
    visits = np.where(valid, visits, visits + 1)  # a masked atom is not visited
    _once(visits, left, f"on {target}")
    expected = np.array(
        [valid[int(counted.begin(t)) : int(counted.end(t))].sum() for t in range(tiles)], np.int64
    )
    wrong = np.flatnonzero(sizes != expected)
    if len(wrong):
        raise VerificationError(
            f"tile {wrong[0]} is left with {sizes[wrong[0]]} of its {expected[wrong[0]]} atoms on {target}"
        )


def _run(
    schedule: Schedule,
    counted: LayoutInstance,
    target: str,
    options: dict[str, Any],
    host: tuple[np.ndarray, ...],
) -> tuple[np.ndarray, ...]:
    place = targets.get(target).place
    arrays = tuple(to_place(a, place) for a in host)
    _count[schedule].on(target, **options)(move(Positions(counted), place), *arrays)
    return tuple(to_numpy(a) for a in arrays)
