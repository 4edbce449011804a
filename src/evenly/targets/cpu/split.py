"""The split engine: each worker takes consecutive atoms, and tiles that workers share are joined afterwards.

A worker's first and last tile may be partial. It leaves every tile that starts and ends in its share.
It saves its pieces of the others: of its first tile, which ends in its share (the head), and of its
last, which ends in a later worker's (the tail). When all workers have finished, one of them walks over
these pieces in order and leaves the tiles that they form. The order in which atoms are combined depends
on the number of workers alone. A worker walks whole tiles, those that end in its share, if atoms are scanned.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenly.language import ir
from evenly.language.phases import Split
from evenly.language.scans import has_scans, running
from evenly.language.types import POS

from .grid import Grid
from .staged import both_ways
from .statements import Writer, engine_var, like


class Pieces:
    """The pieces of partial tiles in a phase: where workers save them, and how they are joined.

    A worker has two pieces: its head (number 0), which ends a tile, and its tail (1), which does not.
    """

    def __init__(self, writer: Writer, number: int, phase: Split) -> None:
        self.writer = writer
        self.number = number
        self.phase = phase
        self.fields = [v for a in phase.pass_.accumulators for v in a.fields]

    def none(self) -> None:
        """Write the code by which a worker begins with no pieces."""
        if self.phase.leave:
            for piece in ("2 * worker", "2 * worker + 1"):
                self.writer.line(f"{self._tile()}[{piece}] = -1")

    def keep(self, which: str, tile: str, fields: list[ir.Var] | None = None) -> None:
        """Write the code that saves a worker's piece of `tile`. `which` prints 0 for the head, 1 for the tail."""
        w = self.writer
        piece = w.local("piece")
        w.line(f"{piece} = 2 * worker + {which}")
        w.line(f"{self._tile()}[{piece}] = {tile}")
        for v, source in zip(self.fields, fields or self.fields, strict=True):
            w.to_scratch(self._field(v), self._index(piece), source)

    def join(self) -> None:
        """Write the walk over all pieces, in order, which leaves each tile that they form."""
        if not self.phase.leave:
            return
        w, t = self.writer, self.writer.text
        carry, piece, tile = w.local("carry"), w.local("piece"), t.var(self.phase.tile)
        carried = [like(v, "carried") for v in self.fields]
        with lanes(w, self.phase):
            w.line(f"{carry} = -1")
            self.copy(carried, [ir.Const(0, v.type) for v in carried])  # only for the types
            with w.compound(f"for {piece} in range(2 * workers)"):
                w.line(f"{tile} = {self._tile()}[{piece}]")
                with w.compound(f"if {tile} < 0"):
                    w.line("continue")
                for v in self.fields:
                    w.from_scratch(self._field(v), self._index(piece), v)
                if self.fields:
                    with w.compound(f"if {tile} == {carry}"):
                        self.combine(carried)
                with w.compound(f"if {piece} % 2 == 0"):
                    w.block(self.phase.leave)
                    w.line(f"{carry} = -1")
                with w.compound("else"):
                    self.copy(carried, self.fields)
                    w.line(f"{carry} = {tile}")

    def combine(self, earlier: list[ir.Var]) -> None:
        """Write the combination of an earlier piece with the accumulators' fields, into these fields."""
        place = dict(zip(self.fields, earlier, strict=True))
        for acc in self.phase.pass_.accumulators:
            self.writer.combine(acc, tuple(place[v] for v in acc.fields), acc.fields)

    def copy(self, into: Sequence[ir.Var], source: Sequence[ir.Expr]) -> None:
        self.writer.copy(into, source)

    def _tile(self) -> str:
        return self.writer.scratch(self.number, "piece_tile", size=2)

    def _field(self, v: ir.Var) -> str:
        name = f"piece_{self.writer.text.var(v)}"
        return self.writer.scratch(self.number, name, v, size=2, lanes=self.phase.lane is not None)

    def _index(self, piece: str) -> str:
        """Return the index of a piece's value; it has one for each lane."""
        if self.phase.lane is None:
            return piece
        t = self.writer.text
        assert self.phase.lanes is not None
        return f"{piece} * {t.operand(self.phase.lanes, 81)} + {t.var(self.phase.lane)}"


class lanes:
    """Write a loop over the independent lanes of a phase, if it has any."""

    def __init__(self, writer: Writer, phase: Split) -> None:
        self.loop = None
        if phase.lane is not None and phase.lanes is not None:
            stop = writer.range(ir.Const(0, POS), phase.lanes, ir.Const(1, POS))
            self.loop = writer.compound(f"for {writer.text.var(phase.lane)} in {stop}")

    def __enter__(self) -> None:
        if self.loop is not None:
            self.loop.__enter__()

    def __exit__(self, *exception: object) -> None:
        if self.loop is not None:
            self.loop.__exit__(None, None, None)


def emit_split(w: Writer, number: int, phase: Split, quick: bool = False) -> None:
    """Write the code for one worker's share of consecutive atoms. quick: whether gathers are quick on the processor."""
    pieces, grid = Pieces(w, number, phase), Grid(w, number, phase.grid)
    share = w.share()
    scans = has_scans(phase.pass_.body)
    if not scans:
        pieces.none()
    grid.start()
    if scans:
        _whole_tiles(w, phase, share[0], share[-1])
    elif phase.leave:
        _edges(w, phase, pieces, share)
        for first, end in both_ways(w, phase, share[-2], share[-1], quick):
            _whole_tiles(w, phase, first, end)
    else:
        _all_tiles(w, phase, share)
    grid.keep()


def _edges(w: Writer, phase: Split, pieces: Pieces, share: list[str]) -> None:
    """Write the code for the tiles that the worker has only in part: its head and its tail."""
    first_tile, first_atom, end_tile, end_atom, first_whole, end_whole = share
    t = w.text
    tile, edge = t.var(phase.tile), w.local("edge")
    with w.compound(f"for {edge} in range(2)"):
        w.line(f"{tile} = {first_tile} if {edge} == 0 else {end_whole}")
        head = f"{tile} < {first_whole} and {tile} < {end_whole}"
        with w.compound(f"if ({head}) if {edge} == 0 else {tile} < {end_tile}"):
            at, stop = engine_var("at"), engine_var("stop")
            begin, end = (
                w.held("begin", phase.layout.begin, phase.tile),
                w.held("end", phase.layout.end, phase.tile),
            )
            w.line(f"{t.var(at)} = max({t.var(begin)}, {first_atom})")
            w.line(f"{t.var(stop)} = min({t.var(end)}, {end_atom})")
            with lanes(w, phase):
                _atoms(w, phase, at, stop)
                pieces.keep(edge, tile)


def _whole_tiles(w: Writer, phase: Split, first_whole: str, end_whole: str) -> None:
    t = w.text
    at, tile = engine_var("at"), t.var(phase.tile)
    w.line(f"{tile} = {first_whole}")
    with w.compound(f"if {tile} < {end_whole}"):
        begin = w.held("begin", phase.layout.begin, phase.tile)
        w.line(f"{t.var(at)} = {t.var(begin)}")
        with w.compound(f"for {tile} in range({first_whole}, {end_whole})"):
            stop = w.held("stop", phase.layout.end, phase.tile)
            with lanes(w, phase):
                _atoms(w, phase, at, stop)
                w.block(phase.leave)
            w.line(f"{t.var(at)} = {t.var(stop)}")  # a tile begins where the previous one ends


def _all_tiles(w: Writer, phase: Split, share: list[str]) -> None:
    """Write the loop for a phase that only has effects. No tile is left, so partial tiles are like any other."""
    first_tile, first_atom, end_tile, end_atom, *_ = share
    t = w.text
    at, stop = engine_var("at"), engine_var("stop")
    w.line(f"{t.var(at)} = {first_atom}")
    with w.compound(f"for {t.var(phase.tile)} in range({first_tile}, {end_tile})"):
        end = w.held("end", phase.layout.end, phase.tile)
        w.line(f"{t.var(stop)} = min({t.var(end)}, {end_atom})")
        with lanes(w, phase):
            _atoms(w, phase, at, stop)
        w.line(f"{t.var(at)} = {t.var(stop)}")


def _atoms(w: Writer, phase: Split, at: ir.Var, stop: ir.Var) -> None:
    w.block(phase.enter)
    w.identities((*phase.pass_.accumulators, *running(phase.pass_)))
    w.atom_loop(phase.pass_, (at, stop, ir.Const(1, POS)))
