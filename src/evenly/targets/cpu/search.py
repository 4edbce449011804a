"""How the engines divide tiles and atoms among workers: searches in the emitted code.

The merge path counts a tile as one item, which stands after the tile's atoms, so that
the end of tile t is item number end(t) + t. An even cut of the items is an even cut of
the work, whatever the tiles' lengths (Merrill and Garland, SC 2016).
"""
from __future__ import annotations

from collections.abc import Callable

from evenly.language import ir

from .statements import Writer, engine_var


class Layout:
    """What the engines of one phase ask of its layout, once written into the function."""

    def __init__(self, writer: Writer, code: ir.LayoutCode) -> None:
        self.writer = writer
        self.code = code
        self.tiles = writer.held("tiles", code.num_tiles)
        self.atoms = writer.held("atoms", code.num_atoms)

    def begin(self, name: str, tile: ir.Var) -> ir.Var:
        return self.writer.held(name, self.code.begin, tile)

    def end(self, name: str, tile: ir.Var) -> ir.Var:
        return self.writer.held(name, self.code.end, tile)


def bounds(layout: Layout, rule: str) -> tuple[ir.Var, ir.Var, ir.Var, ir.Var]:
    """A worker's piece: (tile, atom) where it starts, and where it ends.

    rule: "merge" cuts the merge path evenly; "nonzero" cuts the atoms evenly, and a worker has the
    empty tiles at the end of its atoms (the first one those at the start, too).
    """
    w = layout.writer
    t = w.text
    tiles, atoms = t.var(layout.tiles), t.var(layout.atoms)
    first_tile, first_atom, last_tile, last_atom = (engine_var(n) for n in ("first_tile", "first_atom", "last_tile", "last_atom"))
    side, cut = w.local("side"), w.local("cut")
    w.line(f"{t.var(last_tile)} = {t.var(last_atom)} = 0")
    with w.under(f"for {side} in range(2)"):  # the start is where the worker before ends
        w.line(f"{t.var(first_tile)} = {t.var(last_tile)}")
        w.line(f"{t.var(first_atom)} = {t.var(last_atom)}")
        total = f"({tiles} + {atoms})" if rule == "merge" else atoms
        w.line(f"{cut} = {total} * (worker + {side}) // workers")
        if rule == "merge":
            _count_ended(layout, last_tile, lambda end, tile: f"{end} + {tile} < {cut}")
            w.line(f"{t.var(last_atom)} = {cut} - {t.var(last_tile)}")
        else:
            _count_ended(layout, last_tile, lambda end, tile: f"{end} <= {cut}")
            with w.under(f"if worker + {side} == 0"):
                w.line(f"{t.var(last_tile)} = 0")
            w.line(f"{t.var(last_atom)} = {cut}")
    return first_tile, first_atom, last_tile, last_atom


def _count_ended(layout: Layout, count: ir.Var, before: Callable[[str, str], str]) -> None:
    """`count` = how many tiles end before a cut (`before`, which holds for the first ones and no more)."""
    w = layout.writer
    t = w.text
    high, middle = engine_var("high"), engine_var("middle")
    w.line(f"{t.var(count)} = 0")
    w.line(f"{t.var(high)} = {t.var(layout.tiles)}")
    with w.under(f"while {t.var(count)} < {t.var(high)}"):
        w.line(f"{t.var(middle)} = ({t.var(count)} + {t.var(high)}) // 2")
        end = layout.end("middle_end", middle)
        with w.under(f"if {before(t.var(end), t.var(middle))}"):
            w.line(f"{t.var(count)} = {t.var(middle)} + 1")
        with w.under("else"):
            w.line(f"{t.var(high)} = {t.var(middle)}")
