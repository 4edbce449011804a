"""One compiled function a phase, and the text around it.

    phase_0(worker, workers, slots) -> int

worker 0 .. workers-1 does its part of the phase. `workers` itself joins what the others
left. Below 0 the function answers questions, so that the host need not know what a layout
is: SIZE, TILES, LANES.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evenly.language import ir
from evenly.language.phases import Once, Owned, Phase, Split
from evenly.language.schedule_code import ScheduleCode

from .grid import Grid
from .owned import emit_owned
from .search import Layout
from .share import emit_share
from .slots import Slots
from .split import Pieces, emit_split
from .statements import Writer
from .text import Place, Text

SIZE, TILES, LANES = -1, -2, -3  # how much work there is; how many tiles; how many lanes


@dataclass(frozen=True, slots=True)
class How:
    """What a schedule decides for the CPU. rule: owned, merge, nonzero or share.

    codes: the schedule's own code, by the path of the layout, where it has any.
    """

    rule: str
    owner: str
    size: int
    codes: Mapping[ir.Path, ScheduleCode]


def emit_function(name: str, number: int, phase: Phase, how: How, slots: Slots, places: list[Place] | None) -> str:
    """The text of one phase's function, without what stands above it in a module."""
    text = Text(slots, places)
    w = Writer(text)
    if isinstance(phase, Once):
        with w.under("if worker == 0"):
            w.block(phase.body)
        w.line("return 1")
    else:
        _tile_loop(w, number, phase, how)
    lines = [f"    {n} = {source}" for n, source in text.unpacked.items()]
    head = f"def {name}(worker, workers, slots{', record' if places is not None else ''}):"
    return "\n".join([head, *lines, *w.lines, ""])


def _tile_loop(w: Writer, number: int, phase: Owned | Split, how: How) -> None:
    layout = Layout(w, phase.layout)
    _questions(w, phase, layout)
    grid, pieces = Grid(w, number, phase.grid), Pieces(w, number, phase) if isinstance(phase, Split) else None
    if not phase.grid and (pieces is None or not phase.leave):  # type: ignore[union-attr]
        _work(w, number, phase, layout, how)
        w.line("return 0")
        return
    with w.under("if worker < workers"):
        _work(w, number, phase, layout, how)
    with w.under("else"):
        grid.join()
        if pieces is not None:
            pieces.join()
        grid.store()
    w.line("return 0")


def _work(w: Writer, number: int, phase: Owned | Split, layout: Layout, how: How) -> None:
    """What one worker does."""
    code = how.codes.get(phase.path)
    if isinstance(phase, Owned):
        owns = how.rule == "owned"  # else the schedule speaks of shared tiles, and here are whole ones
        emit_owned(w, number, phase, layout, code if owns else None, how.owner, how.size)
    elif how.rule == "share" and code is not None:
        emit_share(w, number, phase, layout, code)
    else:
        emit_split(w, number, phase, layout, "nonzero" if how.rule == "nonzero" else "merge")


def _questions(w: Writer, phase: Owned | Split, layout: Layout) -> None:
    t = w.text
    tiles, atoms = t.var(layout.tiles), t.var(layout.atoms)
    lanes = t.expr(phase.lanes) if isinstance(phase, Split) and phase.lanes is not None else "1"
    walks = isinstance(phase, Split) or phase.has_pass
    size = f"({tiles} + {atoms})" if walks else tiles
    factors = [size, *(t.operand(e, 81) for e in _repeats(phase))]
    with w.under("if worker < 0"):
        w.line(f"return {' * '.join(factors)} if worker == {SIZE} else {tiles} if worker == {TILES} else {lanes}")


def _repeats(phase: Owned | Split) -> Iterator[ir.Expr]:
    """How often the work of a tile is repeated, as far as that is known before the launch."""
    if isinstance(phase, Split):
        if phase.lanes is not None:
            yield phase.lanes
        return
    for s in phase.body:
        if isinstance(s, ir.For) and isinstance(s.stop, ir.Extent | ir.Param | ir.Const):
            yield s.stop
            return


# ---- modules -----------------------------------------------------------------------------------
_HEAD = '''\
"""{title}"""
import math

import numpy as np
from numba import cfunc, njit, types
from numpy import float32, float64, int32, int64, uint8

from evenly.targets.cpu.atomics import atomic_add, atomic_cas, atomic_exch, atomic_max, atomic_min
from evenly.targets.cpu.checks import RECORD, check_divisor, check_index, check_shift
from evenly.targets.cpu.primitives import as_float, maximum, minimum, pointer, prefetch

inf, nan = math.inf, math.nan
entry = cfunc(
    types.int64(types.int64, types.int64, types.CPointer(types.int64)), cache={cache}, error_model="numpy"
)
'''

# The checks raise; a native function cannot, so the exception ends here. The record tells.
_CHECKED = '''\
@entry
def {name}(worker, workers, slots):
    record = pointer(slots[{record}] + 8 * RECORD * (worker if worker >= 0 else workers + 1), int64)
    try:
        return run_{name}(worker, workers, slots, record)
    except Exception:
        return -1
'''


def module_text(title: str, functions: list[str], names: list[str], record: int | None, cache: bool) -> str:
    """A module of compiled functions; record: the slot of the checks' records, in debug mode."""
    parts = [_HEAD.format(title=title, cache=cache)]
    for name, text in zip(names, functions, strict=True):
        if record is None:
            parts.append(f"@entry\n{text}")
        else:
            parts.append('@njit(error_model="numpy")\n' + text.replace(f"def {name}(", f"def run_{name}(", 1))
            parts.append(_CHECKED.format(name=name, record=record))
    return "\n\n".join(parts)


__all__ = ["LANES", "SIZE", "TILES", "How", "emit_function", "module_text"]
