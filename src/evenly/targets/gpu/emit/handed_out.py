"""Kernels of the owned engines that hand out tiles themselves: a tile's code is a function that they call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly.language import ir
from evenly.language.phases import Owned
from evenly.language.types import POS
from evenly.schedules.contract import items_of, run_of

from .bins import GIVEN, bins_of
from .code import KernelCode, PhaseCode
from .owner import Owner, strided
from .parameters import Parameter
from .totals import Chunked, Totals

if TYPE_CHECKING:
    from .unit import Unit

WIDTH = ir.Var("width", POS)


def emit_dynamic(unit: Unit, phase: Owned, name: str) -> PhaseCode:
    """Takers take chunks of tiles from a counter (device/dynamic.cuh)."""
    schedule = unit.schedule
    made = HandedOut(unit, phase, schedule.size, ir.Const(schedule.size, POS))
    kind = f"pos, {schedule.size}, {schedule.block}, {schedule.chunk}, {made.converged}"
    made.writer.line(f"ev::chunks<{kind}> chunks(chunks_taken, {made.num_tiles()});")
    with made.writer.compound("while (chunks.take())"):
        made.writer.line("chunks.each(tile);")
        if phase.grid:
            made.writer.line("chunks.keep<totals>(grid, (grid_value*)grid_partials);")
    taken = Parameter("buffer", "long long*", name="chunks_taken")
    finals = made.totals.final(unit, name, schedule.block, Chunked(phase.layout, schedule.chunk))
    return PhaseCode(
        (made.kernel(name, [taken]), *finals),
        schedule,
        phase.path,
        grid_words=made.totals.words,
        chunk=schedule.chunk,
    )


def emit_lrb(unit: Unit, phase: Owned, name: str) -> PhaseCode:
    """Tiles are binned by the logarithm of their size, and teams of four widths have them (device/bins.cuh)."""
    schedule, block = unit.schedule, unit.schedule.block
    made = HandedOut(unit, phase, schedule.lanes, WIDTH, walks="team.walks()")
    bins = (first_bin(n) for n in (schedule.warp, schedule.group, schedule.thread))
    kind = ", ".join(map(str, (block, schedule.lanes, *bins, made.converged, "pos")))
    made.writer.line(f"ev::walk_bins<{kind}>(tile_bins, {made.num_tiles()}, bin_warps, tile);")
    made.totals.reduce(made.writer, block)
    sorted_tiles = Parameter("buffer", "const pos* __restrict__", name="tile_bins")
    return PhaseCode(
        (
            made.kernel(name, [sorted_tiles, GIVEN["bin_warps"]]),
            *made.totals.final(unit, name, block),
        ),
        schedule,
        phase.path,
        grid_words=made.totals.words,
        partition=bins_of(unit, phase, name),
    )


def first_bin(atoms: int) -> int:
    """The first bin of tiles of fewer atoms; `atoms` is a power of two."""
    return 32 - atoms.bit_length()


class HandedOut:
    """A kernel that begins with the function `tile`: what a team of threads does with one tile.

    size: the threads of a team; where engines have teams of several sizes, one of them that is a warp's or less.
    width: the step from one of a thread's atoms to the next. walks: the condition on which a team walks atoms at all.
    """

    def __init__(
        self, unit: Unit, phase: Owned, size: int, width: ir.Expr, walks: str = ""
    ) -> None:
        self.unit, self.phase = unit, phase
        self.text = unit.text(phase)
        self.text.names[WIDTH] = "team.size()"
        self.totals = Totals(self.text, phase.grid)
        atoms = strided(phase.layout, size, width)
        asked = items_of(unit.schedule), run_of(unit.schedule)
        given = size, *asked, atoms, self.totals.names
        self.writer = Owner(self.text, *given, phase.body, True)
        self.writer.walks, self.writer.upward = walks, True
        self.writer.declared.update(self.totals.names)
        self.tile_function()

    def tile_function(self) -> None:
        writer, phase = self.writer, self.phase
        self.totals.start(writer)
        writer.at = phase.at
        writer.block(phase.prelude)
        writer.tile = phase.tile
        writer.declared.add(phase.tile)
        name = self.text.var(phase.tile)
        with writer.compound(
            f"auto tile = [&](const auto& team, const pos {name}, const bool live)"
        ):
            writer.block(phase.body)
        writer.lines[-1] += ";"
        writer.at = None

    @property
    def converged(self) -> str:
        """Whether the teams of a warp do their tiles together, for C++."""
        return str(self.writer.converged).lower()

    def num_tiles(self) -> str:
        code = self.phase.layout.num_tiles
        self.writer.block(code.body)
        return self.text.expr(code.results[0])

    def kernel(self, name: str, parameters: list[Parameter]) -> KernelCode:
        before = [*self.totals.structs, *self.writer.structs]
        block, references = self.unit.schedule.block, self.text.references
        extra = [*self.totals.parameters, *parameters]
        given = name, block, "tiles", references, before, self.writer.lines, extra
        return self.unit.kernel(*given, min_blocks=self.writer.min_blocks(block))
