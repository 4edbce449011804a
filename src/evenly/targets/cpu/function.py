"""Emit a function for each phase, and the module around them.

    phase_0(worker, workers, slots) -> int

Workers 0 .. workers-1 each do their part of the phase. Called with worker == workers, the function joins the partial
results of the others. With a negative number it answers questions (see `facts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evenly.language import ir
from evenly.language.phases import Once, Owned, Phase, Split
from evenly.language.scans import has_scans
from evenly.language.schedule_code import ScheduleCode

from .facts import answers, walks_atoms
from .grid import Grid
from .helpers import imported, rarely_imported
from .owned import emit_owned
from .processors import is_plain
from .share import emit_share
from .slots import Slots
from .split import Pieces, emit_split
from .statements import Writer
from .tasks import Crew
from .text import Check, Text


@dataclass(frozen=True, slots=True)
class How:
    """What a schedule determines on a CPU.

    divided: how its engine divides the work (`on_cpu` in targets/gpu/engine.py): "merge", "nonzero" or "methods".
    owner, size: as in the schedule. codes: the code of the schedule's methods, by the path of the layout.
    quick: whether gathers are quick on the processor.
    """

    divided: str
    owner: str
    size: int
    codes: Mapping[ir.Path, ScheduleCode]
    quick: bool = False

    def code(self, phase: Owned | Split) -> ScheduleCode | None:
        """Return the schedule's own code if the engine has to follow it; else None."""
        if isinstance(phase, Owned) and phase.makes_tasks:
            return None  # workers hand each other tasks
        code = self.codes.get(phase.path) if self.divided == "methods" else None
        if phase.layout.items:
            return None  # a worker walks whole items
        if code is None or isinstance(phase, Owned) != (self.owner != "share"):
            return None  # the methods of a schedule that shares tiles do not apply to phases with whole tiles
        if isinstance(phase, Split) and has_scans(phase.pass_.body):
            return None
        if isinstance(phase, Owned) and is_plain(code, phase.layout, self.owner, self.size):
            return None
        return code

    def division(self, phase: Phase) -> str:
        """Return the rule by which the host divides a phase among workers, a key of division.RULES."""
        if isinstance(phase, Once) or self.code(phase) is not None:
            return "own"
        if isinstance(phase, Owned):
            return "merge" if walks_atoms(phase) else "tiles"
        return "nonzero" if self.divided == "nonzero" else "merge"


def emit_function(
    name: str, number: int, phase: Phase, how: How, slots: Slots, checks: list[Check] | None
) -> str:
    """Emit the function of a phase. What checks is not an entry (see `module_text`)."""
    text = Text(slots, checks)
    w = Writer(text)
    if isinstance(phase, Once):
        with w.compound("if worker == 0"):
            w.block(phase.body)
    else:
        _tile_loop(w, number, phase, how)
    w.line("return 0")
    unpacked = [f"    {n} = {source}" for n, source in text.unpacked.items()]
    if checks is not None:
        entry, record = '@njit(error_model="numpy")', ", record"
    else:
        entry, record = "@entry_that_packs" if w.packs else "@entry", ""
    head = f"def {name}(worker, workers, slots{record}):"
    return "\n".join([entry, head, *unpacked, *w.lines, ""])


def _tile_loop(w: Writer, number: int, phase: Owned | Split, how: How) -> None:
    answers(w, phase)
    grid = Grid(w, number, phase.grid)
    pieces = None
    if isinstance(phase, Owned) and phase.makes_tasks:
        crew = Crew(w, number, phase, grid)
        with w.compound("if worker < workers"):
            crew.emit()
        with w.compound("else"):
            grid.join()
            grid.store()
            crew.count()
        return
    if isinstance(phase, Split) and phase.leave and not has_scans(phase.pass_.body):
        pieces = Pieces(w, number, phase)
    code = how.code(phase)
    # Exchanges use scratch memory, so the function is called to join, too.
    exchanges = code is not None and code.exchanges
    if not (phase.grid or pieces or exchanges):
        _work(w, number, phase, how)
        return
    with w.compound("if worker < workers"):
        _work(w, number, phase, how)
    with w.compound("else"):
        grid.join()
        if pieces is not None:
            pieces.join()
        grid.store()


def _work(w: Writer, number: int, phase: Owned | Split, how: How) -> None:
    """Write the work of one worker."""
    code = how.code(phase)
    if isinstance(phase, Owned):
        emit_owned(w, number, phase, code, how.owner, how.size, how.quick)
    elif code is not None:
        emit_share(w, number, phase, code)
    else:
        emit_split(w, number, phase, how.quick)


# ---- modules -----------------------------------------------------------------------------------
_HEAD = '''\
"""{title}"""
import math

import numpy as np
from numba import njit, types
from numpy import complex64, complex128, float32, float64, int32, int64, uint8, uint16

from evenly.targets.cpu.atomics import (
    atomic_add, atomic_cas, atomic_exch, atomic_max, atomic_min
)
from evenly.targets.cpu.checks import check_divisor, check_index, check_shift, check_that, record_of
{complexes}
from evenly.targets.cpu.kept import kept_callback
from evenly.targets.cpu.narrow import (
    brain_bits, brain_value, half_bits, half_value, rounded_to_odd
)
{primitives}{rare}

inf, nan = math.inf, math.nan
signature = types.int64(types.int64, types.int64, types.CPointer(types.int64))
entry = kept_callback(signature, error_model="numpy")
'''

_PACKS = 'entry_that_packs = kept_callback(signature, packs=True, error_model="numpy")\n'

# A check raises an exception. A native function cannot raise, so it is caught here; the record says what was wrong.
_CHECKED = """\
@entry
def {name}(worker, workers, slots):
    record = record_of(slots, {records}, worker if worker >= 0 else 0)
    try:
        return run_{name}(worker, workers, slots, record)
    except Exception:
        return -1
"""


def module_text(title: str, functions: dict[str, str], records: int | None) -> str:
    """Emit a module of compiled functions. records: the slot of the records, in debug mode."""
    imports = {file: imported(file) for file in ("complexes", "primitives")}
    rare = rarely_imported("\n".join(functions.values()))
    parts = [_HEAD.format(title=title, rare=rare, **imports)]
    if any(text.startswith("@entry_that_packs") for text in functions.values()):
        parts = [parts[0] + _PACKS]
    for name, text in functions.items():
        if records is None:
            parts.append(text)
        else:
            parts.append(text.replace(f"def {name}(", f"def run_{name}(", 1))
            parts.append(_CHECKED.format(name=name, records=records))
    return "\n\n".join(parts)
