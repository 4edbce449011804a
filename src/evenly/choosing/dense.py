"""The rule of `auto` for kernels with a dense axis around passes: who takes a tile's atoms, and who its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenly import schedules as s
from evenly.gpus.gpu import WARP
from evenly.gpus.numbers import numbers
from evenly.language import ir, walk
from evenly.language.beforehand import known_beforehand, value_of
from evenly.language.dense import around_passes, by_columns, side_by_side
from evenly.schedules.contract import ceil_div

from .statistics import Statistics

WORD = 16  # the bytes that one instruction loads at most
UNKNOWN = 32  # columns, where tiles compute how many there are


@dataclass(frozen=True, slots=True)
class Axis:
    """A dense axis around a kernel's passes.

    width: the bytes of the widest element that is read or stored along it. adjacent: whether adjacent columns lie side
    by side. length: how many there are, if that is known; else `extent` says it before a launch.
    """

    width: int
    adjacent: bool
    length: int = UNKNOWN
    extent: ir.Expr | None = None

    def at(self, scalar: Callable[[ir.Path], Any], extent: Callable[[Any, int], int]) -> Axis:
        """Return the axis of a call: its length is known. scalar, extent: as `value_of` takes them."""
        if self.extent is None:
            return self
        return Axis(self.width, self.adjacent, max(0, value_of(self.extent, scalar, extent)))


def axis_of(program: ir.Program) -> Axis | None:
    """Return the dense axis of a program's passes; None if it has none, or if it is walked lane by lane."""
    loops = [step for step in program.pieces if isinstance(step, ir.TileLoop)]
    found = [lanes for loop in loops for lanes in around_passes(loop.body) if by_columns(lanes)]
    if not found:
        return None
    loop, *_ = found
    read = [e for e in walk.expressions(loop.body) if isinstance(e, ir.Element)]
    stored = [x for x in walk.statements(loop.body) if isinstance(x, ir.Store)]
    along = [e for e in (*read, *stored) if loop.var in walk.variables(e.indices)]
    width = max((e.array.dtype.dtype.itemsize for e in along), default=4)
    adjacent = all(side_by_side(e, loop.var) for e in along)
    return Axis(width, adjacent, extent=loop.stop if known_beforehand(loop.stop) else None)


def for_dense(st: Statistics, axis: Axis, atom_bytes: int, kept: bool) -> tuple[s.Schedule, str]:
    """Return the schedule for tiles with a dense axis on a GPU, and why."""
    held = numbers()["dense"]
    lanes, vector = (1, min(axis.length, held["apart"])) if not axis.adjacent else _columns(axis)
    ranks = _ranks(st, lanes, held)
    items = held["few"] if st.mean < held["short"] else held["items"]
    said = f"{axis.length} columns for tiles of {st.mean:.1f} atoms"
    if _uneven(st, axis, atom_bytes, lanes * vector, ranks * items, kept, held):
        few, warp = max(lanes, 2), held["narrow" if lanes < held["lanes"] else "wide"]
        vector = max(vector, 2)
        made = s.Lrb(held["block"], few, 1, held["group"], warp, held["items"], vector)
        return made, f"{said}, the longest has {st.greatest:,}: longer tiles get more threads"
    size = lanes * ranks
    if size == 1:
        return s.ThreadMapped(items=items, vector=vector), said
    return s.GroupMapped(size, items=items, lanes=lanes, vector=vector), said


def _columns(axis: Axis) -> tuple[int, int]:
    """Return the threads along an axis whose columns lie side by side, and the columns of each.

    They have at most one word each, so that a warp's loads are of whole sectors. If rows are not of whole words, they
    have as many columns as leave the fewest threads without one.
    """
    n, word = axis.length, max(WORD // axis.width, 1)
    if n % word == 0:
        # Fewest columns that no thread needs; walking the atoms once more costs as much as two words.
        able = [1 << i for i in range(6)]
        return min(able, key=lambda k: ceil_div(n // word, k) * (k + 2)), word
    lanes = min(_power(ceil_div(n, 5)), WARP) if n > 2 else 1
    times = ceil_div(n, lanes * 6)
    return lanes, ceil_div(n, lanes * times)


def _ranks(st: Statistics, lanes: int, held: dict[str, Any]) -> int:
    """Return how many threads share the atoms of a column: so few that each has some, more where tiles are few."""
    most = max(1, min(held["ranks"], WARP // lanes))
    found = min(_power(st.mean / held["atoms"] / lanes, up=False), most)
    while st.tiles * lanes * found < held["busy"] and found * lanes < held["block"]:
        if st.mean < 2 * found:
            break
        found *= 2
    return found


def _uneven(
    st: Statistics, axis: Axis, atom_bytes: int, columns: int, at_once: int, kept: bool, held: Any
) -> bool:
    """Whether the longest tile would take a good part of the time that all bytes take."""
    times = ceil_div(max(axis.length, 1), columns)
    chain = st.greatest / at_once * times * held["latency"]
    moved = st.atoms * (atom_bytes + axis.length * axis.width) / numbers()["rates"]["memory"]
    sorting = 0.0 if kept else held["sorting"]
    return st.greatest > held["longest"] * st.mean and chain > moved / 2 + sorting


def _power(x: float, up: bool = True) -> int:
    """Return the next power of two, at least 1: the next greater one, or the next smaller."""
    n = 1
    while (n if up else 2 * n - 1) < x:
        n *= 2
    return n if up or n <= max(x, 1) else n // 2
