"""Whole kernels: parameters, views and the call of an engine, for each phase of a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from evenly.language import ir, walk
from evenly.language.phases import GridResult, Once, Owned, Phase, Split
from evenly.language.schedule_code import ScheduleCode, schedule_code
from evenly.language.specs import LayoutSpec
from evenly.schedules.thread_mapped import ThreadMapped

from .expressions import References, Text, ctype, processor_name
from .statements import Owner, Writer, member, range_head, value_struct

FINISH_BLOCK = 256
RULES = {
    "merge": "merge_rule",
    "nonzero": "nonzero_rule",
}  # engines that split by block, and how they cut


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a kernel. kind: array, scalar, extent (of `path`), buffer or blocks (by name)."""

    kind: str
    type: str
    path: ir.Path = ()
    axis: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class KernelCode:
    """One kernel: its source without the headers, and how it is launched.

    grid: "tiles" (the schedule's launch), "finish" and "partition" (one thread a block of the main
    kernel, and one more), or "one".
    """

    name: str
    source: str
    block: int
    grid: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class PhaseCode:
    """The kernels of one phase. `schedule` sizes the grid over the layout at `path`.

    partition: makes the partition that a plan may store, where the main kernel can take one.
    """

    kernels: tuple[KernelCode, ...]
    schedule: Any
    path: ir.Path
    lanes: ir.Expr | None = None
    persistent: bool = False
    value_fields: int = 0
    grid_fields: int = 0
    partition: KernelCode | None = None


@dataclass
class Emitter:
    """Emits the kernels of a program for one schedule and one width of positions."""

    name: str
    schedule: Any
    layouts: dict[ir.Path, LayoutSpec]
    written: frozenset[ir.Path]
    wide: bool
    count: int = field(default=0)

    def phase(self, phase: Phase) -> PhaseCode:
        name = f"{self.name}_{self.count}"
        self.count += 1
        match phase:
            case Once():
                return self.once(phase, name)
            case Owned():
                return self.owned(phase, name)
            case Split():
                return self.split(phase, name)

    def text(self, streaming: bool = False) -> Text:
        return Text(self.wide, self.written, streaming)

    @property
    def head(self) -> list[str]:
        return [f"using pos = {'long long' if self.wide else 'int'};", ""]

    # ---- once --------------------------------------------------------------------------------
    def once(self, phase: Once, name: str) -> PhaseCode:
        text = self.text()
        writer = Writer(text)
        with writer.braces("if (ev::thread_rank() == 0)"):
            writer.block(phase.body)
        kernel = self.kernel(name, 32, "one", text.references, [], writer.lines, [])
        return PhaseCode((kernel,), None, ())

    # ---- owned ---------------------------------------------------------------------------------
    def owned(self, phase: Owned, name: str) -> PhaseCode:
        schedule = self.schedule if phase.has_pass else ThreadMapped()
        size = schedule.size if schedule.owner == "group" else 1
        code = schedule_code(schedule, self.layouts[phase.path], phase.path)
        text = self.text()
        totals = Totals(text, phase.grid)
        writer = Owner(text, size, code.atoms, totals.names, phase.body, walks_all_groups(code))
        writer.declared.update(totals.names)
        self.processor(writer, code, size, schedule.block)
        totals.start(writer)
        self.tile_loop(writer, phase, code, size)
        totals.reduce(writer, schedule.block)
        kernel = self.kernel(
            name,
            schedule.block,
            "tiles",
            text.references,
            [*totals.structs, *writer.structs],
            writer.lines,
            totals.parameters,
        )
        finals = totals.final(self, name, schedule.block)
        return PhaseCode((kernel, *finals), schedule, phase.path, grid_fields=totals.fields)

    def processor(self, writer: Writer, code: ScheduleCode, size: int, block: int) -> None:
        """Define what the schedule asks about its processor."""
        asked = {
            e
            for part in (ir.Inline((), code.setup, ()), code.tiles, code.atoms)
            for e in walk.inline_expressions(part)
            if isinstance(e, ir.Processor)
        }
        names = {processor_name(e): e for e in sorted(asked, key=processor_name)}
        writer.text.taken |= {"thread_index", "thread_count", "team", *names}
        if size > 1:
            writer.line(
                f"const ev::group<{size}, {block}{', true' if getattr(writer, 'converged', False) else ''}> team;"
            )
        others = [
            e
            for e in names.values()
            if e.what.startswith("group") and (size == 1 or e.size != size)
        ]
        if "thread_index" in names or any(e.what != "group_count" for e in others):
            writer.line(
                f"const pos thread_index = (pos)ev::block_rank() * {block} + ev::thread_rank();"
            )
        if "thread_count" in names or any(e.what == "group_count" for e in others):
            writer.line(f"const pos thread_count = (pos)ev::block_count() * {block};")
        for name, e in names.items():
            if e.what.startswith("group"):
                what = e.what.removeprefix("group_")
                plain = {
                    "index": f"thread_index / {e.size}",
                    "count": f"thread_count / {e.size}",
                    "rank": f"thread_index % {e.size}",
                }
                writer.line(
                    f"const pos {name} = {plain[what] if e in others else f'(pos)team.{what}()'};"
                )

    def tile_loop(self, writer: Owner, phase: Owned, code: ScheduleCode, size: int) -> None:
        text = writer.text
        if size > 1:
            writer.line("if (team.present()) {")
            writer.depth += 1
        writer.block(phase.prelude)
        writer.block(code.setup)
        body, (start, stop, step) = code.tiles.body, code.tiles.results
        writer.block(body)
        writer.tile = phase.tile
        name = text.var(phase.tile)
        writer.declared.add(phase.tile)
        alone = writer.converged and self.schedule.covers and not device_counts(phase.layout)
        with self.tiles(writer, name, (start, stop, step), alone, reads_at_tile(phase.body)):
            writer.block(phase.body)
        if size > 1:
            writer.depth -= 1
            writer.line("}")

    @contextmanager
    def tiles(
        self, writer: Owner, name: str, over: tuple[ir.Expr, ...], alone: bool, reads: bool
    ) -> Iterator[None]:
        """The loop over tiles.

        Converged: a warp's groups go round together, the last ones with no tile of their own;
        these stand in for the last tile where the body `reads` at tile level. `alone`: each group
        has one tile at most, so it is no loop (for whole warps that made ptxas unroll for worse).
        """
        start, stop, step = (writer.text.expr(e) for e in over)
        if not writer.converged:
            with writer.braces(range_head("pos", name, start, stop, step, over[2])):
                yield
            return
        first = writer.text.unique("first")
        writer.text.taken.add("live")
        own = start if alone else f"{first} + team.in_warp_rank()"
        with writer.braces(
            ""
            if alone
            else f"for (pos {first} = {start} - team.in_warp_rank(); {first} < {stop}; {first} += {step})"
        ):
            writer.line(f"const bool live = {own} < {stop};")
            writer.line(f"const pos {name} = {f'live ? {own} : {stop} - 1' if reads else own};")
            yield

    # ---- split ---------------------------------------------------------------------------------
    def split(self, phase: Split, name: str) -> PhaseCode:
        schedule = self.schedule
        block = schedule.block
        streaming = schedule.engine in ("merge", "nonzero", "flatten")
        text = self.text(streaming)
        totals = Totals(text, phase.grid)
        lanes = "" if phase.lanes is None else text.expr(phase.lanes)
        body = PhaseStruct(text, phase, totals).lines()
        code = (
            schedule_code(schedule, self.layouts[phase.path], phase.path)
            if schedule.engine == "share"
            else None
        )
        sched = schedule_struct(text, code, self, block) if code else []
        members = struct_members(text.references, self.written, phase.lane is not None)
        source = [*totals.structs, "struct Phase {", *members, *body, "};"]
        if code:
            source += ["struct Sched {", *members, *sched, "};"]
        persistent = device_counts(phase.layout)
        carries = [
            Parameter("buffer", t, name=n)
            for t, n in (
                ("pos*", "out_tile"),
                ("void*", "out_value"),
                ("pos*", "head_tile"),
                ("void*", "head_value"),
            )
        ]
        folds = (
            bool(phase.pass_.accumulators) and bool(phase.leave) and schedule.engine != "flatten"
        )
        extra = [
            *(carries if folds else []),
            *totals.parameters,
            *([Parameter("blocks", "int", name="all")] if phase.lane is not None else []),
        ]
        rule = RULES.get(schedule.engine) if not persistent else None
        stored = [Parameter("buffer", "const pos* __restrict__", name="first_tile")] if rule else []
        body = main_body(text, schedule, phase, folds, totals, persistent, lanes)
        kernels = [
            self.kernel(
                name, block, "tiles", text.references, source, body, [*extra, *stored], views=False
            )
        ]
        if folds:
            last = [*extra, Parameter("blocks", "int", name="main")]
            body = finish_body(text, phase, totals, lanes)
            kernels.append(
                self.kernel(
                    f"{name}_finish",
                    FINISH_BLOCK,
                    "finish",
                    text.references,
                    source,
                    body,
                    last,
                    views=False,
                )
            )
        kernels += totals.final(self, name, FINISH_BLOCK)
        fields = sum(len(a.fields) for a in phase.pass_.accumulators)
        partition = self.partition(name, phase, text, source, rule) if rule else None
        return PhaseCode(
            tuple(kernels),
            schedule,
            phase.path,
            phase.lanes,
            persistent,
            fields if folds else 0,
            totals.fields,
            partition,
        )

    def partition(
        self, name: str, phase: Split, text: Text, source: list[str], rule: str
    ) -> KernelCode:
        """The kernel that makes a stored partition."""
        share = self.schedule.block * self.schedule.items
        values = struct_values(text.references, False) + (", 0" if phase.lane is not None else "")
        body = [
            f"  const Phase phase{{{values}}};",
            f"  ev::thread_partition<Phase, {share}, ev::{rule}>(phase, first_tile, main_blocks);",
        ]
        extra = [
            Parameter("buffer", "pos*", name="first_tile"),
            Parameter("blocks", "int", name="main"),
        ]
        return self.kernel(
            f"{name}_partition",
            FINISH_BLOCK,
            "partition",
            text.references,
            source,
            body,
            extra,
            views=False,
        )

    # ---- the text of a kernel --------------------------------------------------------------------
    def kernel(
        self,
        name: str,
        block: int,
        grid: str,
        references: References,
        before: list[str],
        body: list[str],
        extra: list[Parameter],
        views: bool = True,
    ) -> KernelCode:
        parameters = [*parameters_of(references, self.written), *extra]
        declared = [f"{p.type} {parameter_name(p)}" for p in parameters]
        shown = view_lines(references, self.written) if views else []
        lines = [
            *self.head,
            *before,
            "",
            f"EV_KERNEL({block}) {name}({_wrapped(declared)}) {{",
            *shown,
            *body,
            "}",
        ]
        return KernelCode(name, "\n".join(lines) + "\n", block, grid, tuple(parameters))


def _wrapped(items: list[str]) -> str:
    """A parameter list, broken into lines."""
    return ",\n    ".join(items)


# ---- parameters ------------------------------------------------------------------------------------
def parameter_name(p: Parameter) -> str:
    if p.kind in ("buffer", "blocks"):
        return {"all": "all_blocks", "main": "main_blocks"}.get(p.name, p.name)
    base = "_".join(x for x in p.path if x != "$")
    return {"array": f"{base}_", "scalar": base, "extent": f"{base}_extent{p.axis}"}[p.kind]


def parameters_of(references: References, written: frozenset[ir.Path]) -> list[Parameter]:
    out = []
    for path, a in references.arrays.items():
        const = "" if path in written or path[0] == "$" else "const "
        out.append(
            Parameter(
                "array",
                f"{const}{ctype(a.dtype) if a.dtype.name != 'index' else 'pos'}* __restrict__",
                path,
            )
        )
    out += [Parameter("extent", "long long", path, axis) for path, axis in references.extents]
    out += [Parameter("scalar", ctype(p.type), path) for path, p in references.scalars.items()]
    return out


def view_type(a: ir.Array, written: frozenset[ir.Path]) -> str:
    kind = "out" if a.path in written or a.path[0] == "$" else "in"
    return f"ev::{kind}<{ctype(a.dtype)}>"


def view_lines(references: References, written: frozenset[ir.Path]) -> list[str]:
    """Inside a kernel: each pointer as a view under the array's own name."""
    out = []
    for path, a in references.arrays.items():
        name = "_".join(x for x in path if x != "$")
        out.append(f"  const {view_type(a, written)} {name}({name}_);")
    return out


def struct_members(references: References, written: frozenset[ir.Path], lane: bool) -> list[str]:
    """The same as members of a struct, in the order of `struct_values`."""
    out = [
        f"  {view_type(a, written)} {'_'.join(x for x in path if x != '$')};"
        for path, a in references.arrays.items()
    ]
    out += [
        f"  long long {'_'.join(x for x in path if x != '$')}_extent{axis};"
        for path, axis in references.extents
    ]
    out += [f"  {ctype(p.type)} {'_'.join(path)};" for path, p in references.scalars.items()]
    return out + (["  pos lane;"] if lane else [])


def struct_values(references: References, lane: bool) -> str:
    out = ["_".join(x for x in path if x != "$") + "_" for path in references.arrays]
    out += [
        f"{'_'.join(x for x in path if x != '$')}_extent{axis}" for path, axis in references.extents
    ]
    out += ["_".join(path) for path in references.scalars]
    return ", ".join(out + (["lane"] if lane else []))


def walks_all_groups(code: ScheduleCode) -> bool:
    """Whether the groups walk the tiles in turn: range(group.index, n, group.count)."""
    start, _, step = code.tiles.results
    return (
        isinstance(start, ir.Processor)
        and start.what == "group_index"
        and isinstance(step, ir.Processor)
        and step.what == "group_count"
    )


def reads_at_tile(body: ir.Block) -> bool:
    """Whether the tile itself, not only a pass over its atoms, reads memory."""
    outside = tuple(s for s in body if not isinstance(s, ir.Pass))
    return any(isinstance(e, ir.Element) for e in walk.expressions(outside))


def device_counts(layout: ir.LayoutCode) -> bool:
    """Whether the number of tiles or atoms is only known on the device."""
    return any(
        isinstance(e, ir.Element)
        for code in (layout.num_tiles, layout.num_atoms)
        for e in walk.inline_expressions(code)
    )


# ---- the bodies of split kernels -----------------------------------------------------------------------
def main_body(
    text: Text,
    schedule: Any,
    phase: Split,
    folds: bool,
    totals: Totals,
    persistent: bool,
    lanes: str,
) -> list[str]:
    block = schedule.block
    lane = phase.lane is not None
    partials = totals.partials("lane * (pos)all_blocks" if lane else "")
    carries = (
        carries_value("lane * (pos)ev::block_count()" if lane else "")
        if folds
        else "ev::Carries<Phase>{}"
    )
    if schedule.engine in RULES:
        kind = f"{block}, {schedule.items}, ev::{RULES[schedule.engine]}, {str(persistent).lower()}"
        call = f"ev::split_block<Phase, {kind}>(phase, {carries}, {partials}{'' if persistent else ', first_tile'});"
    elif schedule.engine == "share":
        call = f"ev::share<Phase, Sched, {block}>(phase, sched, {carries}, {partials});"
    else:
        call = f"ev::flatten<Phase, {schedule.size}, {block}>(phase, {partials});"
    lines = [f"const Phase phase{{{struct_values(text.references, lane)}}};"]
    if schedule.engine == "share":
        lines.append(f"const Sched sched{{{struct_values(text.references, lane)}}};")
    return over_lanes([*lines, call], lanes)


def finish_body(text: Text, phase: Split, totals: Totals, lanes: str) -> list[str]:
    lane = phase.lane is not None
    partials = totals.partials("lane * (pos)all_blocks + main_blocks" if lane else "main_blocks")
    carries = carries_value("lane * (pos)main_blocks" if lane else "")
    lines = [
        f"const Phase phase{{{struct_values(text.references, lane)}}};",
        f"ev::finish<Phase, {FINISH_BLOCK}>(phase, {carries}, main_blocks, {partials});",
    ]
    return over_lanes(lines, lanes)


def over_lanes(lines: list[str], lanes: str) -> list[str]:
    """One round a lane of the dense axis; shared memory is used again after a barrier."""
    if not lanes:
        return [f"  {line}" for line in lines]
    return [
        f"  for (pos lane = ev::block_y(); lane < (pos)({lanes}); lane += ev::block_y_count()) {{",
        *(f"    {line}" for line in lines),
        "    ev::barrier();",
        "  }",
    ]


def carries_value(offset: str) -> str:
    add = f" + {offset}" if offset else ""
    return f"ev::Carries<Phase>{{out_tile{add}, (Phase::Value*)out_value{add}, head_tile{add}, (Phase::Value*)head_value{add}}}"


# ---- accumulators of the grid ----------------------------------------------------------------------------
class Totals:
    """The accumulators of the whole grid that a phase contributes to."""

    def __init__(self, text: Text, grid: tuple[GridResult, ...]) -> None:
        self.grid = grid
        self.accumulators = tuple(g.accumulator for g in grid)
        self.all_fields = [v for a in self.accumulators for v in a.fields]
        self.fields = len(self.all_fields)
        self.names = {v: f"grid.{member(self.all_fields, v)}" for v in self.all_fields}
        text.names.update(self.names)
        text.taken.add("grid")
        self.structs = self._structs(text) if grid else ["struct grid_value {};"]
        self.parameters = [Parameter("buffer", "void*", name="grid_partials")] if grid else []

    def _structs(self, text: Text) -> list[str]:
        identity = ", ".join(text.expr(e) for a in self.accumulators for e in a.identity)
        return [
            value_struct(text, "grid_value", self.accumulators),
            "struct totals {",
            "  using Grid = grid_value;",
            "  static constexpr bool has_grid = true;",
            f"  static EV_DEVICE Grid grid_identity() {{ return {{{identity}}}; }}",
            "  static EV_DEVICE Grid grid_combine(const Grid& a, const Grid& b) { return Grid::combine(a, b); }",
            "};",
        ]

    def partials(self, offset: str) -> str:
        if not self.grid:
            return "(Phase::Grid*)0"
        return f"(Phase::Grid*)grid_partials{' + ' + offset if offset else ''}"

    def start(self, writer: Writer) -> None:
        if self.grid:
            writer.line("grid_value grid = totals::grid_identity();")

    def reduce(self, writer: Writer, block: int) -> None:
        if self.grid:
            writer.line(
                f"ev::block_reduce_grid<totals, {block}>(grid, (grid_value*)grid_partials);"
            )

    def final(self, emitter: Emitter, name: str, block: int) -> list[KernelCode]:
        """The last kernel of a grid reduction: partials to results."""
        if not self.grid:
            return []
        text = emitter.text()
        lines = [
            f"  const grid_value grid = ev::final_grid<totals, {block}>((const grid_value*)grid_partials, all_lanes);",
            "  if (ev::thread_rank() == 0) {",
        ]
        for g in self.grid:
            lines += [
                f"    {text.array(a)}[0] = {self.names[v]};"
                for a, v in zip(g.arrays, g.accumulator.fields, strict=True)
            ]
        lines.append("  }")
        extra = [*self.parameters, Parameter("blocks", "int", name="all_lanes")]
        return [
            emitter.kernel(
                f"{name}_grid", block, "one", text.references, self.structs, lines, extra
            )
        ]


# ---- the struct of a split phase ---------------------------------------------------------------------------
class PhaseStruct:
    """A split phase as the engines want it: see device/split.cuh."""

    def __init__(self, text: Text, phase: Split, totals: Totals) -> None:
        self.text, self.phase, self.totals = text, phase, totals
        self.accumulators = phase.pass_.accumulators
        self.fields = [v for a in self.accumulators for v in a.fields]

    def lines(self) -> list[str]:
        p = self.phase
        flags = {
            "needs_tile": p.needs_tile,
            "has_value": bool(self.accumulators),
            "has_effects": p.has_effects,
            "has_leave": bool(p.leave),
            "has_grid": bool(p.grid),
        }
        return [
            f"  using pos = {'long long' if self.text.wide else 'int'};",
            "  struct State {"
            + "".join(f" {ctype(v.type)} {self.state_member(v)};" for v in p.state)
            + " };",
            *self.value(),
            "  using Grid = grid_value;",
            *(
                f"  static constexpr bool {name} = {str(flag).lower()};"
                for name, flag in flags.items()
            ),
            *self.count("num_tiles", p.layout.num_tiles),
            *self.count("num_atoms", p.layout.num_atoms),
            *self.count("begin", p.layout.begin),
            *self.count("end", p.layout.end),
            *self.enter(),
            *self.step(),
            *self.leave(),
            *self.grid(),
        ]

    def state_member(self, v: ir.Var) -> str:
        return f"{v.name}{self.phase.state.index(v) if sum(x.name == v.name for x in self.phase.state) > 1 else ''}"

    def value(self) -> list[str]:
        if not self.accumulators:
            return [
                "  struct Value { template <class F> EV_DEVICE Value each(F) const { return {}; } };",
                "  static EV_DEVICE Value identity() { return {}; }",
                "  static EV_DEVICE Value combine(const Value&, const Value&) { return {}; }",
            ]
        struct = value_struct(self.text, "Value", self.accumulators)
        identity = ", ".join(self.text.expr(e) for a in self.accumulators for e in a.identity)
        return [
            *("  " + line for line in struct.splitlines()),
            f"  static EV_DEVICE Value identity() {{ return {{{identity}}}; }}",
            "  static EV_DEVICE Value combine(const Value& a, const Value& b) { return Value::combine(a, b); }",
        ]

    def writer(self, **names: dict[ir.Var, str]) -> Writer:
        text = self.text.child()
        if self.phase.lane is not None:
            text.names[self.phase.lane] = "lane"
            text.taken.add("lane")
        for table in names.values():
            text.names.update(table)
            text.taken.update(table.values())
        writer = Writer(text)
        writer.depth = 2
        return writer

    def count(self, name: str, code: ir.Inline) -> list[str]:
        """begin, end, num_tiles, num_atoms."""
        writer = self.writer(params=dict.fromkeys(code.params, "tile"))
        writer.block(code.body)
        parameter = "pos tile" if code.params else ""
        result = writer.text.expr(code.results[0])
        if not writer.lines:
            return [f"  EV_DEVICE pos {name}({parameter}) const {{ return {result}; }}"]
        return [
            f"  EV_DEVICE pos {name}({parameter}) const {{",
            *writer.lines,
            f"    return {result};",
            "  }",
        ]

    def enter(self) -> list[str]:
        p = self.phase
        tile = p.tile.name
        writer = self.writer(tile={p.tile: tile})
        writer.block(p.enter)
        values = ", ".join(writer.text.var(v) for v in p.state)
        return [
            f"  EV_DEVICE State enter(pos {tile}) const {{",
            *writer.lines,
            f"    return {{{values}}};",
            "  }",
        ]

    def step(self) -> list[str]:
        p = self.phase
        tile, atom = p.tile.name, p.pass_.atom.name
        writer = self.writer(
            position={p.tile: tile, p.pass_.atom: atom},
            state={v: f"state.{self.state_member(v)}" for v in p.state},
            fields={v: f"acc.{member(self.fields, v)}" for v in self.fields},
        )
        writer.text.taken |= {"state", "acc"}
        writer.block(p.pass_.body)
        return [
            f"  EV_DEVICE void step(Value& acc, const State& state, pos {tile}, pos {atom}) const {{",
            *writer.lines,
            "  }",
        ]

    def leave(self) -> list[str]:
        p = self.phase
        tile = p.tile.name
        writer = self.writer(
            tile={p.tile: tile},
            fields={v: f"value.{member(self.fields, v)}" for v in self.fields},
            grid=self.totals.names,
        )
        writer.text.taken |= {"value", "grid"}
        writer.block(p.leave)
        return [
            f"  EV_DEVICE void leave(pos {tile}, const Value& value, Grid& grid) const {{",
            *writer.lines,
            "  }",
        ]

    def grid(self) -> list[str]:
        if not self.phase.grid:
            return [
                "  static EV_DEVICE Grid grid_identity() { return {}; }",
                "  static EV_DEVICE Grid grid_combine(const Grid&, const Grid&) { return {}; }",
            ]
        return [
            "  static EV_DEVICE Grid grid_identity() { return totals::grid_identity(); }",
            "  static EV_DEVICE Grid grid_combine(const Grid& a, const Grid& b) { return Grid::combine(a, b); }",
        ]


def schedule_struct(text: Text, code: ScheduleCode, emitter: Emitter, block: int) -> list[str]:
    """A user's share schedule as the engine wants it."""
    fields = [f"state{i}" for i in range(len(code.state))]
    lines = [
        f"  using pos = {'long long' if text.wide else 'int'};",
        "  struct State {"
        + "".join(f" {ctype(v.type)} {f};" for v, f in zip(code.state, fields, strict=True))
        + " };",
        "  struct range { pos start, stop, step; };",
    ]

    def function(
        head: str,
        body: ir.Block,
        result: str,
        names: dict[ir.Var, str],
        results: tuple[ir.Expr, ...],
    ) -> list[str]:
        inner = text.child()
        inner.names.update(names)
        inner.taken |= {*names.values(), "state", "tile"}
        writer = Writer(inner)
        writer.depth = 2
        emitter.processor(
            writer,
            ScheduleCode(body, (), ir.Inline((), (), results), ir.Inline((), (), ())),
            1,
            block,
        )
        writer.block(body)
        values = ", ".join(inner.expr(e) for e in results)
        return [f"  EV_DEVICE {head} {{", *writer.lines, f"    return {{{values}}};", "  }"]

    state = {v: f"state.{f}" for v, f in zip(code.state, fields, strict=True)}
    tile = dict.fromkeys(code.atoms.params, "tile")
    return [
        *lines,
        *function("State setup() const", code.setup, "State", {}, code.state),
        *function(
            "range tiles(const State& state) const",
            code.tiles.body,
            "range",
            state,
            code.tiles.results,
        ),
        *function(
            "range atoms(const State& state, pos tile) const",
            code.atoms.body,
            "range",
            state | tile,
            code.atoms.results,
        ),
    ]
