"""The questions that the host asks a compiled function about its layout, and the code of the answers."""

from __future__ import annotations

from collections.abc import Iterator

from evenly.language import ir, walk
from evenly.language.phases import Owned, Split

from .statements import Writer, engine_var

# Questions take the place of a worker's number, and are negative. FACTS fills facts[...]. END returns the end of the
# tile whose number is passed in place of the number of workers.
FACTS, END = -1, -2
SIZE, TILES, ATOMS, LANES = range(4)  # places in facts


def walks_atoms(phase: Owned) -> bool:
    """Whether a tile takes the longer the more atoms it has: it has a pass, or a loop, which may be over them, too."""
    return any(isinstance(s, ir.Pass | ir.For | ir.While) for s in walk.statements(phase.body))


def answers(w: Writer, phase: Owned | Split) -> None:
    """Write the function's answers to the host's questions."""
    facts = w.shared("facts")
    with w.compound("if worker < 0"):
        with w.compound(f"if worker == {END}"):
            tile = engine_var("asked")
            w.line(f"{w.text.var(tile)} = workers")
            w.line(f"return {w.text.var(w.held('its_end', phase.layout.end, tile))}")
        tiles = w.text.var(w.held("tiles", phase.layout.num_tiles))
        atoms = w.text.var(w.held("atoms", phase.layout.num_atoms))
        walks = isinstance(phase, Split) or walks_atoms(phase)
        size = [
            tiles if not walks else f"({tiles} + {atoms})",
            *(w.text.operand(e, 81) for e in _repeats(phase)),
        ]
        lanes = "1"
        if isinstance(phase, Split) and phase.lanes is not None:
            lanes = f"max(0, {w.text.expr(phase.lanes)})"
        for i, value in enumerate((" * ".join(size), tiles, atoms, lanes)):
            w.line(f"{facts}[{i}] = {value}")
        w.line("return 0")


def _repeats(phase: Owned | Split) -> Iterator[ir.Expr]:
    """Yield factors by which the work of a tile is repeated, as far as they are known before the launch."""
    if isinstance(phase, Split):
        if phase.lanes is not None:
            yield phase.lanes
        return
    for s in phase.body:
        if isinstance(s, ir.For) and isinstance(s.stop, ir.Extent | ir.Param | ir.Const):
            yield s.stop
            return
