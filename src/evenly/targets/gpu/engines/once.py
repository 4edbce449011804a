"""The engine for statements outside all loops over tiles: one thread runs them."""

from __future__ import annotations

from evenly.gpus.gpu import WARP, Gpu
from evenly.language.phases import Once
from evenly.schedules.contract import Sizes

from ..emit.code import PhaseCode
from ..emit.parameters import Parameter
from ..emit.statements import Writer
from ..emit.unit import Unit
from ..engine import Engine
from ..sizing import ONE, Sizing

# The handle of the CUDA graph's condition; 0: the host reads the condition.
ROUNDS = Parameter("handle", "unsigned long long", name="rounds")


class OnceEngine(Engine):
    """Runs a phase on one thread. No schedule names this engine, since there is no work to divide."""

    def emit(self, unit: Unit, phase: Once, name: str) -> PhaseCode:
        text = unit.text(phase)
        writer = Writer(text)
        going = f" && {text.array(unit.running)}[0]" if unit.running else ""
        decides: list[Parameter] = []
        with writer.compound(f"if (ev::thread_rank() == 0{going})"):
            writer.block(phase.body)
            if phase.decides:
                condition = f"{text.array(phase.decides)}[0]"
                writer.line(f"ev::another_round({ROUNDS.name}, {condition});")
                decides = [ROUNDS]
        given = name, WARP, "one", text.references
        kernel = unit.kernel(*given, [], writer.lines, decides, always=True)
        return PhaseCode((kernel,), one_block)


def one_block(sizes: Sizes, lanes: int, gpu: Gpu) -> Sizing:
    return Sizing({"one": ONE}, {})
