"""The part that all engines share that split tiles: they emit the phase as a struct, and join tiles that cross blocks.

A phase becomes a main kernel. If that does not join the tiles that cross blocks, a finish kernel follows.
"""

from __future__ import annotations

from typing import Any, ClassVar

from evenly.gpus.gpu import LARGEST, WARP
from evenly.language.following import Following
from evenly.language.phases import Split
from evenly.language.scans import running
from evenly.language.types import INT32, struct_words

from ..emit.code import KernelCode, PartitionCode, PhaseCode
from ..emit.dense import Dense
from ..emit.early_loads import Loads
from ..emit.following import runs_of_following
from ..emit.parameters import Parameter, struct_members, struct_values
from ..emit.phase_struct import PhaseStruct
from ..emit.runs import Runs
from ..emit.split_apart import SplitApart
from ..emit.spread_split import SpreadSplit
from ..emit.statements import fields_of
from ..emit.totals import Totals
from ..emit.unit import Unit, device_counts
from ..engine import Engine
from .counting import WARPS
from .split_launch import CARRIES, FINISH_BLOCK, LINKS, Launch

LISTED = "using Phase = ev::listed<AllTiles>;"


class SplitEngine(Engine):
    """An engine that may split a tile among threads.

    folds: whether it joins parts of a tile. streams: whether lanes read consecutive atoms, each of them once.
    looks_back: whether blocks need running values of earlier ones (device/running.cuh), if the phase scans.
    """

    owners = ("share",)
    folds: ClassVar[bool] = True
    streams: ClassVar[bool] = True
    looks_back: ClassVar[bool] = True

    def emit(self, unit: Unit, phase: Split, name: str) -> PhaseCode:
        made = SplitKernels(self, unit, phase, name)
        finish = [made.finish()] if made.folds and not made.meets else []
        clear = [made.clear()] if made.looks_back else []
        kernels = (*clear, made.main(), *finish, *made.totals.final(unit, name, FINISH_BLOCK))
        partition = self.partition(made)
        return PhaseCode(kernels, made.launch(), phase.path, phase.lanes, partition)

    def meets(self, phase: Split) -> bool:
        """Whether the main kernel joins the tiles that its blocks share (device/meet.cuh)."""
        return False

    def early_loads(self, phase: Split, unit: Unit) -> tuple[Split, Loads]:
        """Return the phase, and the elements that blocks load while they mark tiles (emit/early_loads.py)."""
        return phase, {}

    def runs(self, phase: Split, unit: Unit) -> tuple[Split, Runs | None]:
        """Return the phase, and what blocks load in runs (device/stream.cuh). None: they load atoms one by one."""
        return phase, None

    def pair(self, unit: Unit) -> Following | None:
        """Return the pair of passes of which the second follows the first at once (device/following.cuh)."""
        return None

    def dense(self, schedule: Any, phase: Split) -> Dense | None:
        """Return how teams of a block's threads lie along a dense axis (device/split_dense.cuh, split_apart.cuh)."""
        return None

    def lists(self, made: SplitKernels) -> bool:
        """Whether the kernels walk a list of the tiles that have atoms (device/listed.cuh)."""
        return False

    def structs(self, made: SplitKernels) -> list[str]:
        """Return the lines of the structs that the kernels need besides `Phase`."""
        return []

    def parameters_of(self, made: SplitKernels) -> list[Parameter]:
        """Return the parameters that only the main kernel of this engine has."""
        return []

    def partition(self, made: SplitKernels) -> PartitionCode | None:
        """Emit the kernel that makes a partition for plans to keep. None: the engine uses no partition here."""
        return None

    def body(self, made: SplitKernels, join: str, totals: str) -> list[str]:
        """Return the lines of the main kernel that call the engine; `phase` is defined before them."""
        raise NotImplementedError

    def kind(self, made: SplitKernels) -> str:
        """Return the phase, and what the engine's code is made for, as C++ text."""
        raise NotImplementedError


class SplitKernels:
    """The kernels of one phase under such an engine. persistent: whether blocks run until no work is left."""

    def __init__(self, engine: SplitEngine, unit: Unit, phase: Split, name: str) -> None:
        self.engine, self.unit, self.name, self.schedule = engine, unit, name, unit.schedule
        self.persistent = device_counts(phase.layout) and not phase.scans
        self.looks_back = engine.looks_back and phase.scans
        fields = fields_of(phase.pass_.accumulators)
        self.value_words = struct_words(v.type for v in fields)
        self.folds = engine.folds and bool(fields) and bool(phase.leave)
        self.dense = engine.dense(self.schedule, phase)
        self.meets = self.folds and not (self.persistent or self.dense) and engine.meets(phase)
        self.loads: Loads = {}
        if self.meets and self.value_words == 1:  # the values of tiles take few registers
            phase, self.loads = engine.early_loads(phase, unit)
        self.runs: Runs | None = None
        if self.folds and not (self.persistent or self.dense):
            phase, self.runs = engine.runs(phase, unit)
        self.pair = f = engine.pair(unit)
        self.follows = f is not None and phase is f.then
        if f is not None and self.follows:
            self.runs = runs_of_following(f, unit)
        self.phase, self.lane = phase, phase.lane is not None
        # Scans read atoms twice, and teams along an axis an element in several loads.
        self.text = unit.text(phase, engine.streams and not (phase.scans or self.dense))
        self.totals = Totals(self.text, phase.grid)
        self.lanes = "" if phase.lanes is None else self.text.expr(phase.lanes)
        self.lists = engine.lists(self)
        self.spread = self.spread_split()
        # First, since the structs have members for what these lines refer to.
        self.spread_lines = self.spread.lines(self.schedule.block) if self.spread else []
        self.source = self.structs()

    def spread_split(self) -> SpreadSplit | SplitApart | None:
        """Return what writes the main kernel of teams along a dense axis."""
        if self.dense is None:
            return None
        kind, given = self.engine.kind(self), (self.text.child(), self.phase, self.dense)
        if self.lane:
            return SpreadSplit(*given, kind, joint(True, False, ""))
        return SplitApart(*given, kind)

    def launch(self) -> Launch:
        return Launch(
            self.engine,
            self.schedule,
            self.value_words if self.folds else 0,
            self.totals.words,
            self.unit.position,
            self.scan_words(),
            self.meets,
            self.persistent,
            self.lists,
            self.dense.lanes * self.dense.vector if self.dense and self.lane else 0,
            self.schedule.block // WARP if self.follows else 1,
        )

    def scan_words(self) -> int:
        """Return an upper bound of the links that hold what a block leaves open; 0 if blocks do not look back."""
        fields = fields_of(running(self.phase.pass_))
        return 2 * struct_words([*(v.type for v in fields), INT32]) if self.looks_back else 0

    def structs(self) -> list[str]:
        """Return the lines of all structs that the kernels use."""
        body = PhaseStruct(
            self.text, self.phase, self.totals, self.loads, runs=self.runs, following=self.pair
        ).lines()
        more = self.engine.structs(self)
        name, listed = ("AllTiles", [LISTED]) if self.lists else ("Phase", [])
        return [
            *self.totals.structs,
            *(self.spread.writer.structs if self.spread else []),
            f"struct {name} {{",
            *self.members(),
            *body,
            "};",
            *listed,
            *more,
        ]

    def members(self) -> list[str]:
        """Return the kernel's arguments as members of a struct. `pos` comes first, since members use it."""
        unit, references = self.unit, self.text.references
        links = ["  long long* links;"] if self.looks_back else []
        return [
            f"  {unit.position_type}",
            *struct_members(references, unit.written, self.lane),
            *links,
        ]

    def values(self, lane: str = "lane", links: str = "nullptr") -> str:
        """Return the values of `members`. lane: of a dense axis, if there is one. links: those of the main kernel."""
        values = struct_values(self.text.references, lane if self.lane else "")
        return f"{values}, {links}" if self.looks_back else values

    # ---- kernels ---------------------------------------------------------------------------------
    def main(self) -> KernelCode:
        schedule, totals = self.schedule, self.totals
        if self.spread is not None:
            return self.unit.kernel(
                self.name, schedule.block, "tiles", self.text.references, self.source,
                [f"  {self.phase_value(lane='0')}", *self.spread_lines],
                [*self.carries(), *self.more(), *self.engine.parameters_of(self)],
                min_blocks=schedule.min_blocks or self.spread.min_blocks(schedule.block),
                carveout=getattr(schedule, "carveout", -1),
                facts=tuple(self.spread.writer.facts.found),
            )  # fmt: skip
        join = joint(self.folds, self.meets, "ev::block_count()" if self.lane else "")
        partial_totals = totals.partials("lane * (pos)all_blocks" if self.lane else "")
        body = self.engine.body(self, join, partial_totals)
        cells = [Parameter("buffer", "long long*", name="cells")]
        joins = cells if self.meets else self.carries()
        links = [LINKS] if self.looks_back else []
        extra = [*joins, *self.more(), *self.engine.parameters_of(self), *links]
        extra += [WARPS] if self.lists else []
        full = LARGEST.at_once(schedule.block) if self.loads else 0  # all loads are issued at once
        return self.unit.kernel(
            self.name, schedule.block, "tiles", self.text.references, self.source,
            over_lanes([self.phase_value(links=self.links()), *body], self.lanes), extra, views=False,
            min_blocks=getattr(schedule, "min_blocks", 0) or full,
            carveout=getattr(schedule, "carveout", -1),
        )  # fmt: skip

    def finish(self) -> KernelCode:
        blocks = "main_blocks" if self.lane else ""
        totals = self.totals.partials(
            "lane * (pos)all_blocks + main_blocks" if self.lane else "main_blocks"
        )
        join = joint(True, False, blocks, alike=self.dense is not None)
        call = f"ev::finish<Phase, {FINISH_BLOCK}>(phase, {join}, main_blocks, {totals});"
        extra = [*self.carries(), *self.more(), Parameter("blocks", "int", name="main")]
        extra += [*self.engine.parameters_of(self), WARPS] if self.lists else []
        phase = self.phase_value(blocks="main_blocks")
        return self.following("finish", over_lanes([phase, call], self.lanes), extra)

    def links(self) -> str:
        """Return the links of this lane."""
        each = "ev::links_of<Phase::Scan>(ev::block_count())"
        return f"links + lane * {each}" if self.lane else "links"

    def clear(self) -> KernelCode:
        lanes = f" * (long long)({self.lanes})" if self.lane else ""
        body = f"  ev::clear(links, ev::links_of<Phase::Scan>(main_blocks){lanes});"
        return self.following("clear", [body], [LINKS, Parameter("blocks", "int", name="main")])

    def following(
        self,
        what: str,
        body: list[str],
        extra: list[Parameter],
        always: bool = False,
        grid: str = "",
        block: int = FINISH_BLOCK,
    ) -> KernelCode:
        """Emit a kernel besides the main one. grid: the name of its grid, if that is not its own name."""
        return self.unit.kernel(
            f"{self.name}_{what}", block, grid or what, self.text.references, self.source,
            body, extra, views=False, always=always,
        )  # fmt: skip

    # ---- parts -----------------------------------------------------------------------------------
    def phase_value(
        self, lane: str = "lane", links: str = "nullptr", blocks: str = "ev::block_count()"
    ) -> str:
        """Return the line that defines `phase`. blocks: how many the main kernel has for a lane of a dense axis."""
        values = self.values(lane, links)
        if self.lists:
            return f"const Phase phase(AllTiles{{{values}}}, first_tile, {blocks}, bin_warps);"
        return f"const Phase phase{{{values}}};"

    def carries(self) -> list[Parameter]:
        found = [Parameter("buffer", "void*" if cast else "pos*", name=n) for cast, n in CARRIES]
        return found if self.folds else []

    def more(self) -> list[Parameter]:
        blocks = [Parameter("blocks", "int", name="all")] if self.lane else []
        return [*self.totals.parameters, *blocks]


def over_lanes(lines: list[str], lanes: str) -> list[str]:
    """Wrap lines in a loop over the lanes of the dense axis. A barrier lets the next iteration reuse shared memory."""
    if not lanes:
        return [f"  {line}" for line in lines]
    return [
        f"  for (pos lane = ev::block_y(); lane < (pos)({lanes}); lane += ev::block_y_count()) {{",
        *(f"    {line}" for line in lines),
        "    ev::barrier();",
        "  }",
    ]


def joint(folds: bool, meets: bool, blocks: str, alike: bool = False) -> str:
    """Return what the kernel joins tiles with that cross blocks: nothing, a Meeting, or Carries for a finish kernel.

    blocks: the number of blocks for each lane of a dense axis, where there is one. alike: all lanes have the same tiles
    in common, which are stored once.
    """
    if not folds:
        return "ev::Carries<Phase>{}"
    if meets:
        add = f" + lane * ev::cells_of({blocks}) * ev::cell_links<Phase::Value>()" if blocks else ""
        return f"ev::Meeting<Phase>{{cells{add}}}"
    add = f" + (long long)lane * {blocks}" if blocks else ""
    values = [f"{cast}{name}{'' if alike and not cast else add}" for cast, name in CARRIES]
    return f"ev::Carries<Phase>{{{', '.join(values)}}}"
