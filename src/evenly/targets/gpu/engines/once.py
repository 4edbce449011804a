"""The engine for statements outside all loops over tiles: one thread runs them."""

from __future__ import annotations

from evenly.gpus.gpu import WARP, Gpu
from evenly.language.phases import Once
from evenly.schedules.contract import Sizes

from ..emit.code import PhaseCode
from ..emit.statements import Writer
from ..emit.unit import Unit
from ..engine import Engine
from ..sizing import ONE, Sizing


class OnceEngine(Engine):
    """Runs a phase on one thread. No schedule names this engine, since there is no work to divide."""

    def emit(self, unit: Unit, phase: Once, name: str) -> PhaseCode:
        text = unit.text(phase)
        writer = Writer(text)
        with writer.compound("if (ev::thread_rank() == 0)"):
            writer.block(phase.body)
        kernel = unit.kernel(name, WARP, "one", text.references, [], writer.lines, [])
        return PhaseCode((kernel,), one_block)


def one_block(sizes: Sizes, lanes: int, gpu: Gpu) -> Sizing:
    return Sizing({"one": ONE}, {})
