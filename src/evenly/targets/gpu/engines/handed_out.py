"""The part that dynamic and bins share: they assign whole tiles to teams of threads on the device.

The code of a tile is a function that the engine calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.gpus.gpu import Gpu
from evenly.language import ir
from evenly.language.phases import Owned
from evenly.language.types import POS
from evenly.schedules.contract import Sizes, items_of, run_of, teams_of
from evenly.schedules.nested import levels

from ..emit.code import KernelCode
from ..emit.dense import dense_of
from ..emit.items import TilesOfItem
from ..emit.owner import Owner, strided
from ..emit.parameters import Parameter
from ..emit.scratch import Shares
from ..emit.several import SEVERAL, Several
from ..emit.totals import Totals
from ..emit.unit import Unit
from ..engine import Counts, Engine, Teams
from . import engine_of

WIDTH = ir.Var("width", POS)


class HandedOutEngine(Engine):
    """An engine with persistent blocks, which take one tile after another. The grid is what a GPU runs at once.

    rounds: a factor for that number, so that later blocks fill in for those that have finished.
    """

    rounds = 1

    def blocks(self, schedule: Any, sizes: Sizes, gpu: Gpu) -> int:
        return min(super().blocks(schedule, sizes, gpu), self.rounds * gpu.at_once(schedule.block))

    def teams(self, schedule: Any, offsets: Counts, blocks: int) -> Teams | None:
        raise NotImplementedError

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts] | None:
        """Count the atoms of each thread: lane r of a team has every size-th of a tile's atoms, from r on."""
        teams = self.teams(schedule, offsets, blocks)
        if teams is None:
            return None
        atoms = np.diff(offsets)[teams.tiles]
        out = np.zeros(blocks * schedule.block, np.int64)
        for size in np.unique(teams.size):
            these = teams.size == size
            each, more = np.divmod(atoms[these], size)
            for rank in range(size):
                np.add.at(out, teams.first[these] + rank, each + (rank < more))
        return 1, out


class HandedOut:
    """A kernel that begins with the function `tile`, which says what a team of threads does with one tile.

    size: the threads of a team. If an engine has teams of several sizes, this is one of them, at most a warp.
    width: the distance from one atom of a thread to its next. walks: the condition under which a team walks atoms.
    several: a team that has more than one block, if there is such a team.
    resident: the threads that a multiprocessor has to hold, if a tile's code does not say; 0: the compiler decides.
    """

    resident = 0

    def __init__(
        self,
        unit: Unit,
        phase: Owned,
        size: int,
        width: ir.Expr,
        walks: str = "",
        several: Several | None = None,
    ) -> None:
        self.unit, self.phase, self.several = unit, phase, several
        self.text = unit.text(phase)
        self.text.names[WIDTH] = "team.size()"
        self.totals = Totals(self.text, phase.grid)
        outer, inner = levels(unit.schedule)
        self.teams = tuple(threads for _, threads in teams_of(outer))
        atoms = strided(phase.layout, size, width)
        asked = items_of(outer), run_of(outer)
        given = size, *asked, atoms, self.totals.names
        dense = dense_of(outer, phase, max(self.teams))
        self.writer = Owner(self.text, *given, phase.body, True, dense=dense)
        self.writer.walks, self.writer.upward = walks, True
        self.writer.several = several
        if phase.layout.items:
            teams = (*self.teams, SEVERAL) if several else self.teams
            within = phase, inner, engine_of(inner), outer.block, teams
            self.writer.over_tiles = TilesOfItem(self.writer, unit, *within)
        self.scratch = phase.scratch
        self.writer.shares = Shares(unit.schedule.block, self.scratch, "team")
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
            if self.scratch:
                writer.line("team.sync();")  # a team of another size may get the same memory
        writer.lines[-1] += ";"
        writer.at = None

    @property
    def converged(self) -> str:
        """Whether the teams of a warp process their tiles together, as C++ text."""
        return str(self.writer.converged).lower()

    def num_tiles(self) -> str:
        code = self.phase.layout.num_tiles
        self.writer.block(code.body)
        return self.text.expr(code.results[0])

    def kernel(self, name: str, parameters: list[Parameter]) -> KernelCode:
        several = self.several
        constants = several.constants if several else []
        before = [*constants, *self.totals.structs, *self.writer.structs]
        block, references = self.unit.schedule.block, self.text.references
        extra = [*self.totals.parameters, *(several.parameters if several else []), *parameters]
        given = name, block, "tiles", references, before, self.writer.lines, extra
        least = self.writer.min_blocks(block) or self.resident // block
        return self.unit.kernel(
            *given,
            min_blocks=least,
            cooperative=several is not None,
            facts=tuple(self.writer.facts.found),
            known_blocks=self.writer.resident_known // block,
        )
