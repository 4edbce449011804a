"""The rule of `auto` for kernels with a dense axis around passes: who takes a tile's atoms, and who its columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from evenly import schedules as s
from evenly.gpus.gpu import WARP, WORD
from evenly.language import ir
from evenly.language.beforehand import known_beforehand, value_of
from evenly.language.dense import (
    along_lanes,
    around_passes,
    by_columns,
    has_lanes_inside,
    inside_passes,
    one_sum,
    side_by_side,
)
from evenly.schedules.contract import ceil_div

from .columns import columns, word_of
from .powers import power_from, power_up_to
from .statistics import Statistics

UNKNOWN = 32  # columns, where tiles compute how many there are


@dataclass(frozen=True, slots=True)
class Axis:
    """A dense axis around a kernel's passes.

    width: the bytes of the widest element that is read or stored along it. adjacent: whether adjacent columns lie side
    by side. inside: whether each atom has the axis, rather than each tile. length: how many columns there are, if that
    is known; else `extent` says it before a launch. both: whether atoms have an axis inside of that of the tile, and so
    compute what all columns have in common again in every round over the columns. moves: whether atoms only store
    elements along their axes: they have nothing in common.
    """

    width: int
    adjacent: bool
    inside: bool = False
    length: int = UNKNOWN
    extent: ir.Expr | None = None
    splits: bool = False
    both: bool = False
    moves: bool = False

    def at(self, scalar: Callable[[ir.Path], Any], extent: Callable[[Any, int], int]) -> Axis:
        """Return the axis of a call: its length is known. scalar, extent: as `value_of` takes them."""
        if self.extent is None:
            return self
        length = max(0, value_of(self.extent, scalar, extent))
        return replace(self, length=length, extent=None)


def axis_of(program: ir.Program) -> Axis | None:
    """Return the dense axis around a program's passes, or inside; None if it is walked lane by lane, or not there."""
    # Late, so that `import evenly` is quick.
    from evenly.targets.gpu.emit.split_apart import moves_rows
    from evenly.targets.gpu.emit.unit import device_counts

    steps = [step for step in program.pieces if isinstance(step, ir.TileLoop)]
    bodies = [step.body for step in steps]
    loops = [x for body in bodies for x in around_passes(body)]
    both = any(map(has_lanes_inside, loops))
    around = [x for x in loops if by_columns(x) or has_lanes_inside(x)]
    inside = [x for body in bodies for x in inside_passes(body)]
    if not (around or inside):
        return None
    loop, *_ = (*around, *inside)
    along = along_lanes(loop)
    width = max((e.array.dtype.dtype.itemsize for e in along), default=4)
    adjacent = all(side_by_side(e, loop.var) for e in along)
    extent = loop.stop if known_beforehand(loop.stop) else None
    splits = all(one_sum(step) and not device_counts(step.layout) for step in steps)
    splits = splits and adjacent and extent is not None
    moves = not around and len(steps) == len(program.steps) and all(map(moves_rows, steps))
    kind = {"splits": splits, "both": both, "moves": moves and adjacent}
    return Axis(width, adjacent, both or not around, extent=extent, **kind)


def for_dense(
    st: Statistics,
    axis: Axis,
    atom_bytes: int,
    kept: bool,
    numbers: dict[str, Any],
    fits: Callable[[s.Schedule], bool],
) -> tuple[s.Schedule, str]:
    """Return the schedule for tiles with a dense axis on a GPU whose numbers are given, and why.

    fits: whether what a block keeps in shared memory fits there.
    """
    held = numbers["dense"]
    said = (
        f"{axis.length} columns for {'an atom' if axis.inside else 'tiles'} of {st.mean:.1f} atoms"
    )
    lanes, vector = columns(st, axis, held)
    ranks = _ranks(st, lanes, axis.inside, held)
    word = word_of(axis)
    items = _items(st, axis, word, held)
    moved = st.atoms * (atom_bytes + axis.length * axis.width) / numbers["rates"]["memory"]
    if axis.moves and lanes >= held["reduce"]:
        shares = s.NonzeroSplit(held["shares"], WARP // lanes, lanes=lanes, vector=vector)
        if fits(shares) and _shares_rows(st, axis, lanes, ranks, 2 * moved, held):
            return shares, f"{said}, of which blocks take equal shares"
    elif st.greatest > held["longest"] * st.mean:
        made, sorting = _for_lengths(st, axis, (lanes, vector), moved, held, fits)
        least = moved / 2 + (0.0 if kept else sorting)
        if _chain(st, axis, lanes * vector, ranks * items, held) > least:
            return made, f"{said}, the longest has {st.greatest:,}: {_why(made)}"
    size = lanes * ranks
    if size == 1:
        return s.ThreadMapped(items=items, vector=vector), said
    return s.GroupMapped(size, items=items, lanes=lanes, vector=vector), said


def _shares_rows(
    st: Statistics, axis: Axis, lanes: int, ranks: int, moved: float, held: dict[str, Any]
) -> bool:
    """Whether blocks should take equal shares of rows that are moved, rather than groups whole tiles.

    A team of so many lanes then moves WARP rows, which takes a while where rows are few; in a group, so many `ranks`
    have the rows of a tile. moved: the us for all rows, read and stored.
    """
    row = axis.length * axis.width / lanes / held["moved"] * held["latency"]
    return bool(WARP * row <= max(moved, st.greatest / ranks * row))


def _items(st: Statistics, axis: Axis, word: int, held: dict[str, Any]) -> int:
    """Return how many atoms a thread loads at once."""
    few = st.mean < held["short"]
    if axis.inside:  # of short tiles all, as threads take them in step
        if few:
            return max(1, min(math.ceil(st.mean), int(held["short"])))
        many = axis.both or held["reduce"] * word <= axis.length < WARP * word
        many = many and st.mean >= held["long"]
        return int(held["inside" if many else "items"])
    return int(held["few" if few else "items"])


def _ranks(st: Statistics, lanes: int, inside: bool, held: dict[str, Any]) -> int:
    """Return how many threads share the atoms of a column: so few that each has some, more where tiles are few."""
    most = max(1, min(held["ranks"], WARP // lanes))
    found = 1
    if inside and st.mean >= 2 * held["short"]:  # a team as large as an atom may have
        found = max(held["reduce"] // lanes, 1)
    elif not inside and st.mean >= held["short"]:
        found = min(power_up_to(st.mean / held["atoms"] / lanes), most)
    while st.tiles * lanes * found < held["busy"] and found * lanes < held["block"]:
        if st.mean < 2 * found:
            break
        found *= 2
    return found


def _for_lengths(
    st: Statistics,
    axis: Axis,
    columns: tuple[int, int],
    moved: float,
    held: dict[str, Any],
    fits: Callable[[s.Schedule], bool],
) -> tuple[s.Schedule, float]:
    """Return the schedule for tiles of very different lengths, and the us that one call takes to sort them."""
    by_length = _by_length(axis, *columns, held)
    if axis.splits and _is_split(st, axis, moved, by_length, held):
        split = _split(st, axis, *columns, held)
        if fits(split):
            return split, 0.0
    return by_length, held["sorting"]


def _by_length(axis: Axis, lanes: int, vector: int, held: dict[str, Any]) -> s.Lrb:
    """Return the schedule for tiles of very different lengths: teams of several sizes, of fewer lanes than a warp."""
    word = word_of(axis)
    words = axis.length // word
    if axis.adjacent and not axis.inside and axis.length % word == 0 and words >= WARP // 2:
        lanes, vector = min(power_from(words // 2), WARP // 2), 2 * word
    few = axis.length <= held["reduce"] * held["singles"]
    if axis.inside and axis.adjacent and axis.length % word and few:
        lanes, pair = max(min(lanes, held["reduce"]), 2), 2 - axis.length % 2
        words = ceil_div(axis.length, lanes * pair)
        vector = pair * (words | 1) if pair == 2 else words  # a word of four would not fit
    group, warp = held["group"], held["few_lanes" if lanes < held["reduce"] else "many_lanes"]
    if axis.inside and lanes == held["reduce"] and words < WARP:  # an atom's own threads are many
        group, warp = held["many_lanes"], held["few_lanes"]
    given = held["block"], max(lanes, 2), 1, group, warp, held["items"]
    return s.Lrb(*given, vector=max(vector, 2))


def _is_split(st: Statistics, axis: Axis, moved: float, made: s.Lrb, held: dict[str, Any]) -> bool:
    """Whether blocks split tiles: there are many columns, or the longest tile would hold up a block of its own."""
    columns, at_once = made.lanes * made.vector, made.block // made.lanes * made.items
    longest = _chain(st, axis, columns, at_once, held)
    least = held["reduce"] + 1 if axis.length % word_of(axis) else held["split"]
    return bool(axis.length >= least or longest > moved + held["joining"])


def _split(
    st: Statistics, axis: Axis, lanes: int, vector: int, held: dict[str, Any]
) -> s.MergePath:
    """Return the schedule that splits tiles among teams, each of which walks its atoms alone."""
    word = word_of(axis)
    if axis.length % word == 0:
        vector = max(word, min(4, 2 * word))
        parts = ceil_div(axis.length, vector)
        able = [1 << i for i in reversed(range(6))]
        lanes = min(able, key=lambda k: ceil_div(parts, k) * (k + 2))
    most = max(held["team"] // lanes, 1)
    items = min(held["path"], most, max(2, (st.tiles + st.atoms) // held["busy"]))
    # Two words a thread take so many registers that small blocks fill a multiprocessor better.
    block = held["block"] // (2 if vector * axis.width >= 2 * WORD else 1)
    return s.MergePath(block, items, lanes=lanes, vector=vector)


def _why(made: s.Schedule) -> str:
    return "teams split it" if isinstance(made, s.MergePath) else "longer tiles get more threads"


def _chain(st: Statistics, axis: Axis, columns: int, at_once: int, held: dict[str, Any]) -> float:
    """Return the us that the longest tile takes, of which so many atoms and columns are loaded at once."""
    times = ceil_div(max(axis.length, 1), columns)
    taken: float = st.greatest / at_once * times * held["latency"]
    return taken
