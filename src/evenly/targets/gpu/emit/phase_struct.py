"""Emit a split phase as the struct that the engines take (device/split.cuh)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from evenly.language import ir, walk
from evenly.language.accesses import always
from evenly.language.diagnostics import Location
from evenly.language.following import Following
from evenly.language.phases import Split
from evenly.language.scans import contributions, given, running

from .early_loads import Loads, stages
from .expressions import Text, ctype
from .following import functions_of_following
from .layout_struct import position_function
from .lines import Line, indented
from .running import variables
from .runs import Runs, functions_of, loads_of
from .statements import Writer, combine_body, fields_of, identity, members, value_struct
from .totals import Totals


class PhaseStruct:
    """Emits a split phase as the struct that the engines take (device/split.cuh).

    loads: the elements that blocks load early, in functions of their own (early_loads.py). If there are none, `step`
    loads everything. runs: the elements that they load in runs, if the engine does so. following: the pair of passes
    that the phase is one of, if the engine lets the second follow at once.
    held: the names of variables that the struct has as members.
    """

    def __init__(
        self,
        text: Text,
        phase: Split,
        totals: Totals,
        loads: Loads,
        held: Mapping[ir.Var, str] = MappingProxyType({}),
        runs: Runs | None = None,
        following: Following | None = None,
    ) -> None:
        self.text, self.phase, self.totals, self.loads = text, phase, totals, loads
        self.held, self.runs, self.following = held, runs, following
        self.accumulators = phase.pass_.accumulators
        self.fields = members(fields_of(self.accumulators))
        self.state = members(phase.state)
        self.tile, self.atom = members((phase.tile, phase.pass_.atom)).values()

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
            "  struct State {"
            + "".join(f" {ctype(v.type)} {m};" for v, m in self.state.items())
            + " };",
            *self.value(),
            "  using Grid = grid_value;",
            *(
                f"  static constexpr bool {name} = {str(flag).lower()};"
                for name, flag in flags.items()
            ),
            *self.count("num_tiles", p.layout.num_tiles, p.at),
            *self.count("num_atoms", p.layout.num_atoms, p.at),
            *self.count("begin", p.layout.begin, p.pass_.at),
            *self.count("end", p.layout.end, p.pass_.at),
            *self.enter(),
            *self.steps(),
            *self.leave(),
            *self.grid(),
        ]

    def value(self) -> list[str]:
        if not self.accumulators:
            return [
                "  struct Value { template <class F> EV_DEVICE Value each(F) const { return {}; } };",
                "  static EV_DEVICE Value identity() { return {}; }",
                "  static EV_DEVICE Value combine(const Value&, const Value&) { return {}; }",
                "  static EV_DEVICE Value then(const Value&, const Value&) { return {}; }",
            ]
        struct = value_struct(self.text, "Value", self.accumulators)
        start = identity(self.text, self.accumulators)
        return [
            *indented(struct, "  "),
            f"  static EV_DEVICE Value identity() {{ return {{{start}}}; }}",
            "  static EV_DEVICE Value combine(const Value& a, const Value& b) { return Value::combine(a, b); }",
            "  static EV_DEVICE Value then(const Value& a, const Value& b) {",
            *self.then(),
            "  }",
        ]

    def then(self) -> list[str]:
        """Emit the body of `then`: `combine` for the case that no atom of `b` comes before one of `a`."""
        if any(a.op in ("argmin", "argmax") for a in self.accumulators):
            return combine_body(self.text, self.accumulators, later=True)
        return ["    return Value::combine(a, b);"]

    def writer(self, at: Location | None, **names: dict[ir.Var, str]) -> Writer:
        text = self.text.child()
        if self.phase.lane is not None:
            text.on_lane(self.phase.lane)
        for table in (self.held, *names.values()):
            for v, name in table.items():
                text.names[v] = text.unique(name)
        writer = Writer(text, at)
        writer.depth = 2
        return writer

    def count(self, name: str, code: ir.Inline, at: Location | None) -> list[str]:
        """Emit one of begin, end, num_tiles and num_atoms, on a single line if it fits."""
        lines = position_function(self.text, name, code, at)
        if len(lines) > 3:
            return lines
        head, body, _ = lines
        return [Line(f"{head} {body.strip()} }}", at)]

    def enter(self) -> list[str]:
        p = self.phase
        tile = self.tile
        writer = self.writer(p.pass_.at, tile={p.tile: tile})
        writer.block(p.enter, after=p.state)
        values = ", ".join(writer.text.var(v) for v in p.state)
        writer.line(f"return {{{values}}};")
        return [f"  EV_DEVICE State enter(pos {tile}) const {{", *writer.lines, "  }"]

    def steps(self) -> list[str]:
        if self.phase.scans:
            return self.scan()
        if self.runs is not None:
            return self.in_runs(self.runs)
        return self.loads_and_step() if self.loads else [*self.step(), *self.reads_and_effects()]

    def in_runs(self, runs: Runs) -> list[str]:
        f, given = self.following, (self.text, self.stepping)
        if f is not None and self.phase is f.then:
            return [*loads_of(runs, *given, self.atom), *functions_of_following(f, self, runs)]
        plain = self.step()
        step = functions_of(runs, *given, self.phase.pass_, self.atom)
        more = functions_of_following(f, self, runs) if f else []
        return [*plain, *step, *more]

    def reads_and_effects(self) -> list[str]:
        """Emit a step with effects in two parts: `read`, up to the first effect, and `take`, which has what that read.

        A thread then reads for all of its atoms before the first effect, and their loads are in flight together.
        """
        body = self.phase.pass_.body
        count = next((i for i, s in enumerate(body) if not _reads_only(s)), len(body))
        first, then = with_store_read(body[:count], body[count:])
        if not self.phase.has_effects or not any(map(_loads, walk.expressions(first))):
            return []
        kept = members(sorted(walk.variables_set(first) & walk.variables_read(then), key=_name))
        tile, atom = self.tile, self.atom
        read, take = self.stepping(), self.stepping()
        read.block(first, after=tuple(kept))
        read.line(f"return {{{', '.join(read.text.var(v) for v in kept)}}};")
        take.text.names.update({v: f"read.{m}" for v, m in kept.items()})
        take.declared.update(kept)
        take.block(then)
        stores = "true" if then and isinstance(then[0], ir.Store) else "false"
        fields = "".join(f" {ctype(v.type)} {m};" for v, m in kept.items())
        return [
            f"  struct Read {{ static constexpr bool for_store = {stores};{fields} }};",
            f"  EV_DEVICE Read read(const State& state, pos {tile}, pos {atom}) const {{",
            *read.lines,
            "  }",
            f"  EV_DEVICE void take(Value& acc, const State& state, pos {tile}, pos {atom}, Read& read) const {{",
            *take.lines,
            "  }",
        ]

    def scan(self) -> list[str]:
        """Emit what an atom contributes to the running values, and the step that has those before the atom."""
        accumulators, tile, atom = running(self.phase.pass_), self.tile, self.atom
        own, code = self.stepping(), contributions(self.phase.pass_)
        by_tile = not walk.variables_read(code.body).isdisjoint((self.phase.tile, *self.state))
        own.block(code.body, after=variables(code))
        own.line(f"return {{{', '.join(own.text.expr(e) for e in code.results)}}};")
        fields = members(fields_of(accumulators))
        step = self.stepping()
        step.text.names.update({v: f"before.{m}" for v, m in fields.items()})
        step.declared.update(fields)
        step.block(given(self.phase.pass_))
        return [
            *indented(value_struct(self.text, "Scan", accumulators), "  "),
            f"  static constexpr bool scan_needs_tile = {str(by_tile).lower()};",
            f"  static EV_DEVICE Scan scan_identity() {{ return {{{identity(self.text, accumulators)}}}; }}",
            f"  EV_DEVICE Scan scanned(const State& state, pos {tile}, pos {atom}) const {{",
            *own.lines,
            "  }",
            "  EV_DEVICE void step_scanned("
            f"Value& acc, const State& state, pos {tile}, pos {atom}, const Scan& before) const {{",
            *step.lines,
            "  }",
        ]

    def step(self) -> list[str]:
        p = self.phase
        tile, atom = self.tile, self.atom
        writer = self.stepping()
        writer.block(p.pass_.body)
        return [
            f"  EV_DEVICE void step(Value& acc, const State& state, pos {tile}, pos {atom}) const {{",
            *writer.lines,
            "  }",
        ]

    def stepping(self) -> Writer:
        p = self.phase
        return self.writer(
            p.pass_.at,
            position={p.tile: self.tile, p.pass_.atom: self.atom},
            state={v: f"state.{m}" for v, m in self.state.items()},
            fields={v: f"acc.{m}" for v, m in self.fields.items()},
        )

    def loads_and_step(self) -> list[str]:
        """Emit `load_first` and `load_dependent`, which load what an atom reads, and `step_loaded`, which uses it."""
        tile, atom = self.tile, self.atom
        first, then = stages(self.loads)
        names = {e: f"e{i}" for i, e in enumerate([*first, *then])}
        step = self.stepping()
        step.text.loaded = {e: f"loads.{names[e]}" for e in self.loads}
        step.block(self.phase.pass_.body)
        return [
            "  struct Loads {",
            *(f"    {self.text.machine(e.type)} {name};" for e, name in names.items()),
            pins("pin_first", [names[e] for e in first]),
            pins("pin_dependent", [names[e] for e in then]),
            "  };",
            f"  EV_DEVICE Loads load_first(pos {atom}) const {{",
            "    Loads loads;",
            *self.loading(names, first, {}),
            "    return loads;",
            "  }",
            f"  EV_DEVICE void load_dependent(Loads& loads, pos {atom}) const {{",
            *self.loading(names, then, first),
            "  }",
            "  EV_DEVICE void step_loaded("
            f"Value& acc, const State& state, pos {tile}, pos {atom}, const Loads& loads) const {{",
            *step.lines,
            "  }",
        ]

    def loading(self, names: dict[ir.Element, str], wanted: Loads, there: Loads) -> list[str]:
        """Write loads of the `wanted` elements into `loads`. there: the elements that it already has."""
        writer = self.stepping()
        writer.text.loaded = {e: f"loads.{names[e]}" for e in there}
        for e, at in wanted.items():
            writer.at = at
            writer.line(f"loads.{names[e]} = {writer.text.expr(e)};")
        return writer.lines

    def leave(self) -> list[str]:
        p = self.phase
        tile = self.tile
        writer = self.writer(
            p.pass_.at,
            tile={p.tile: tile},
            fields={v: f"value.{m}" for v, m in self.fields.items()},
            grid=self.totals.names,
        )
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


def with_store_read(first: ir.Block, then: ir.Block) -> tuple[ir.Block, ir.Block]:
    """Read what a store needs before it, if it is the first effect."""
    match then:
        case (ir.Store() as store, *rest):
            read = dict.fromkeys(e for x in (store.value, *store.indices) for e in _read(x))
            # Each has a name of its own, by which they are sorted: so every process emits the same order.
            made = {e: ir.Var(f"given_{n}" if n else "given", e.type) for n, e in enumerate(read)}
        case _:
            return first, then
    value, *indices = (walk.map_expr(x, made.get) for x in (store.value, *store.indices))
    reads = tuple(ir.Assign(v, e) for e, v in made.items())
    return (*first, *reads), (replace(store, value=value, indices=tuple(indices)), *rest)


def _read(e: ir.Expr) -> list[ir.Expr]:
    """Return what to read for an expression: elements, or with what is read under a condition, all of it."""
    surely = [x for x in always(e) if isinstance(x, ir.Element)]
    inside = {x for e in surely for i in e.indices for x in walk.subexpressions(i)}
    if any(x not in surely for x in walk.subexpressions(e) if isinstance(x, ir.Element)):
        return [e]
    return [x for x in surely if x not in inside]


def _reads_only(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Assign) and not s.var.length


def _loads(e: ir.Expr) -> bool:
    return isinstance(e, ir.Element)


def _name(v: ir.Var) -> str:
    return v.name


def pins(function: str, names: list[str]) -> str:
    """Emit a member function that hides the values of these members from the compiler (`pin` in device/gpu.cuh)."""
    return (
        f"    EV_DEVICE void {function}() {{ {' '.join(f'ev::pin({name});' for name in names)} }}"
    )
