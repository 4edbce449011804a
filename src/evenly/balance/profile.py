"""Compute a Balance from a layout and schedules, for `plan.profile()`."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.choosing.candidates import several
from evenly.errors import InputError
from evenly.gpus.gpu import WARP
from evenly.language.phases import Once, Owned, Phases
from evenly.layouts.contract import LayoutInstance, is_layout
from evenly.layouts.moving import move
from evenly.schedules import TABLE, Schedule
from evenly.schedules.contract import Sizes

from .balance import Balance, Level, Load, Numbers
from .shares import MOST_STEPS, Shares, shares

# Replaces a default that only repeats another one: a group of 32 is a warp.
BESIDE: dict[str, dict[str, int]] = {"group_mapped": {"size": 8}}
COMMON = 1 << 16  # smaller values are counted in a table, the few greater ones by sorting


def profile(
    kernel: str, binding: Binding, phases: Phases, schedules: list[Schedule], layout: str | None
) -> Balance:
    """Count how `schedules` divide one of a kernel's layouts: the named one, or that of the first tile loop.

    Raises InputError for a name that is not a layout, and if a user's schedule has too much to walk.
    """
    check_loops_over_tiles(f"{kernel}: profile", phases)
    there = {name: value for name, value in binding.arguments.items() if is_layout(value)}
    name = layout or _first_loop(phases)
    if name not in there:
        known = ", ".join(there) or "none (the kernel has none)"
        raise InputError("layout", expected=f"one of the kernel's: {known}", given=repr(layout))
    whole = there[name]
    sizes = Sizes(int(whole.max_tiles), int(whole.max_atoms))
    here = move(whole, "cpu")
    offsets = offsets_of(here)
    loads = tuple(load(s, shares(s, here, offsets, sizes)) for s in schedules)
    what = f"{name} ({type(whole).__name__})"
    return Balance(kernel, what, len(offsets) - 1, int(offsets[-1]), loads)


def check_loops_over_tiles(what: str, phases: Phases) -> None:
    """Raise InputError for loops over items, whose tiles have a schedule of their own."""
    expected = "a kernel with loops over tiles"
    if any(not isinstance(phase, Once) and phase.layout.items for phase in phases.phases):
        raise InputError(what, expected=expected, given="one with a loop over items")


def has_tasks(phases: Phases) -> bool:
    return any(isinstance(phase, Owned) and phase.tasks is not None for phase in phases.phases)


def _first_loop(phases: Phases) -> str:
    """Return the layout of the first loop over tiles that has a pass over atoms; "" if there is none."""
    for phase in phases.phases:
        if not isinstance(phase, Once) and (not isinstance(phase, Owned) or phase.has_pass):
            return phase.path[0]
    return ""


def beside(chosen: Schedule, against: Any, whole_tiles: bool) -> list[Schedule]:
    """Return the chosen schedule, then those of `against` (None: every built-in one), each once.

    whole_tiles: whether the kernel needs schedules that own whole tiles.
    Raises InputError for names that are not schedules.
    """
    if against is None:
        made = [entry.make(**BESIDE.get(name, {})) for name, entry in TABLE.items()]
        others = [s for s in made if s.owns_tiles or not whole_tiles]
    else:
        others = several(against)
    return list(dict.fromkeys([chosen, *others]))


def offsets_of(layout: LayoutInstance) -> Numbers:
    """Return where the tiles of a layout in CPU memory begin, and where its atoms end: (tiles + 1,) int64.

    Raises InputError if `begin` takes one tile at a time, and there are many.
    """
    tiles = int(layout.num_tiles)
    offsets = np.full(tiles + 1, int(layout.num_atoms), np.int64)
    try:
        offsets[:-1] = layout.begin(np.arange(tiles))
    except (TypeError, ValueError):  # it branches, or needs an integer
        if tiles > MOST_STEPS:
            raise InputError(
                f"{type(layout).__name__}.begin",
                expected=f"at most {MOST_STEPS:,} tiles, since Python calls it for one at a time",
                given=f"{tiles:,}",
                hint="profile some of the tiles: A.slice(range(1000))",
            ) from None
        offsets[:-1] = [int(layout.begin(tile)) for tile in range(tiles)]
    return offsets


# ---- from groups to threads, warps and blocks ------------------------------------------------------
def load(schedule: Schedule, shared: Shares) -> Load:
    """Compute the levels of a launch whose groups of lanes have these shares."""
    sizes, count = distinct(shared.atoms)
    small = shared.size < WARP
    warps = _small_groups(shared) if small else _large_groups(shared, sizes, count)
    return Load(schedule, _threads(shared, sizes, count), warps, _blocks(shared))


def distinct(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the distinct values, none of them negative, and how often each occurs."""
    common = np.bincount(values[values < COMMON])
    greater, count = np.unique(values[values >= COMMON], return_counts=True)
    found = np.flatnonzero(common)
    return np.concatenate([found, greater]), np.concatenate([common[found], count])


def _threads(shared: Shares, sizes: Numbers, count: Numbers) -> Level:
    """Compute the level of threads. The first `more` lanes of a group have one atom more than the others."""
    each, more = np.divmod(sizes, shared.size)
    spare = shared.blocks * shared.block - len(shared.atoms) * shared.size
    atoms = np.concatenate([each + 1, each, [0]])
    count = np.concatenate([more * count, (shared.size - more) * count, [spare]])
    return _level(1, atoms, atoms, count)


def _small_groups(shared: Shares) -> Level:
    """Compute the level of warps that hold several groups in lockstep: the longest group holds up the others."""
    groups = shared.atoms.reshape(-1, shared.per_block * WARP // shared.block)
    time = -(-groups.max(axis=1, initial=0) // shared.size)
    return _level(WARP, time, groups.sum(axis=1), np.ones_like(time))


def _large_groups(shared: Shares, sizes: Numbers, count: Numbers) -> Level:
    """Compute the level of warps if a group has several: their atoms follow from the group's."""
    each, more = (part[:, None] for part in np.divmod(sizes, shared.size))
    first = np.arange(0, shared.size, WARP)
    lanes = np.minimum(shared.size - first, WARP)
    atoms = each * lanes + np.clip(more - first, 0, lanes)
    time = each + (more > first)
    spare = shared.blocks * shared.block // WARP - len(shared.atoms) * len(first)
    count = np.append(np.repeat(count, len(first)), spare)
    return _level(WARP, np.append(time, 0), np.append(atoms, 0), count)


def _blocks(shared: Shares) -> Level:
    groups = shared.atoms.reshape(shared.blocks, shared.per_block)
    time = -(-groups.max(axis=1, initial=0) // shared.size)
    return Level(shared.block, time, groups.sum(axis=1), np.ones_like(time))


def _level(lanes: int, time: Numbers, atoms: Numbers, count: Numbers) -> Level:
    """Make a level without the entries that no processor has."""
    real = count > 0
    return Level(lanes, time[real], atoms[real], count[real])
