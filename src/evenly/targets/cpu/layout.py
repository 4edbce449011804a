"""What an engine asks of a layout, and what the host asks a compiled function about its layout."""

from __future__ import annotations

from collections.abc import Iterator

from evenly.language import ir, walk
from evenly.language.phases import Owned, Split
from evenly.language.types import POS

from .statements import Writer, engine_var

# Questions, below zero, where no worker stands. FACTS fills facts[...]; END gives the end of the
# tile whose number stands in place of the number of workers.
FACTS, END = -1, -2
SIZE, TILES, ATOMS, LANES = range(4)  # places in facts


class Layout:
    """Begin and end of tiles, written where an engine needs them."""

    def __init__(self, writer: Writer, code: ir.LayoutCode) -> None:
        self.writer = writer
        self.code = code

    def begin(self, name: str, tile: ir.Var) -> ir.Var:
        return self.writer.held(name, self.code.begin, tile)

    def end(self, name: str, tile: ir.Var) -> ir.Var:
        return self.writer.held(name, self.code.end, tile)

    def atoms(self) -> ir.Inline:
        """The range of all atoms of a tile."""
        tile = engine_var("tile")
        before, begin = walk.substitute(self.code.begin, (tile,))
        after, end = walk.substitute(self.code.end, (tile,))
        return ir.Inline((tile,), (*before, *after), (*begin, *end, ir.Const(1, POS)))


def answers(w: Writer, phase: Owned | Split, layout: Layout) -> None:
    """The function's answers to the host's questions."""
    facts = w.shared("facts")
    with w.compound("if worker < 0"):
        with w.compound(f"if worker == {END}"):
            tile = engine_var("asked")
            w.line(f"{w.text.var(tile)} = workers")
            w.line(f"return {w.text.var(layout.end('its_end', tile))}")
        tiles = w.text.var(w.held("tiles", layout.code.num_tiles))
        atoms = w.text.var(w.held("atoms", layout.code.num_atoms))
        walks = isinstance(phase, Split) or phase.has_pass
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
    """How often the work of a tile is repeated, as far as that is known before the launch."""
    if isinstance(phase, Split):
        if phase.lanes is not None:
            yield phase.lanes
        return
    for s in phase.body:
        if isinstance(s, ir.For) and isinstance(s.stop, ir.Extent | ir.Param | ir.Const):
            yield s.stop
            return
