"""From a program's phases to its kernels: the entry to emitting."""

from __future__ import annotations

from evenly.language.phases import Once, Owned, Phases
from evenly.schedules.contract import check_block

from .code import PhaseCode
from .handed_out import emit_dynamic, emit_lrb
from .owned import emit_owned
from .split import emit_split
from .statements import Writer
from .unit import Unit

HANDED_OUT = {"dynamic": emit_dynamic, "lrb": emit_lrb}


def emit(phases: Phases, unit: Unit) -> tuple[PhaseCode, ...]:
    """The kernels of every phase, in order. Raises InputError for a schedule of blocks that no GPU runs."""
    check_block(f"{type(unit.schedule).__name__}", unit.schedule.block)
    out = []
    for number, phase in enumerate(phases.phases):
        name = f"{unit.name}_{number}"
        match phase:
            case Once():
                out.append(_once(unit, phase, name))
            case Owned():
                by_engine = HANDED_OUT.get(unit.schedule.engine) if phase.has_pass else None
                out.append((by_engine or emit_owned)(unit, phase, name))
            case _:
                out.append(emit_split(unit, phase, name))
    return tuple(out)


def _once(unit: Unit, phase: Once, name: str) -> PhaseCode:
    text = unit.text(phase)
    writer = Writer(text)
    with writer.compound("if (ev::thread_rank() == 0)"):
        writer.block(phase.body)
    kernel = unit.kernel(name, 32, "one", text.references, [], writer.lines, [])
    return PhaseCode((kernel,), None, ())
