"""Print statements as CUDA C++. Stores, atomics and passes look different for a thread and for a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from evenly.language import combine, ir
from evenly.language.diagnostics import Location
from evenly.language.types import POS, WEAK_INT
from evenly.targets.printing.names import Names
from evenly.targets.printing.statements import Statements, Words

from .expressions import Text, ctype, string
from .lines import Line
from .scopes import declarations
from .unrolled import unrolled


class Writer(Statements[Text]):
    """Writes statements line by line, for code that one thread runs. For groups see led.py.

    at: the origin of the lines that are being written, if their statements have none of their own.
    """

    words = Words("while (true)", "if ({c})", end=";", print="ev::print_line", string=string)

    def __init__(self, text: Text, at: Location | None = None) -> None:
        super().__init__(text)
        self.at = at
        self.declared: set[ir.Var] = set(text.names)
        self.places: dict[int, list[ir.Var]] = {}  # by the id of a statement
        self.unrolled: set[int] = set()  # loops, by id
        self.held_blocks: list[ir.Block] = []  # all that were written, so that no id is ever reused
        self.after: tuple[ir.Var, ...] = ()
        self.teams: dict[int, str] = {}  # how a schedule's code names its group of a size
        self.exchanges = 0

    # ---- lines -----------------------------------------------------------------------------
    def line(self, text: str) -> None:
        self.lines.append(Line("  " * self.depth + text, self.at))

    @contextmanager
    def compound(self, head: str) -> Iterator[None]:
        self.line(f"{head} {{" if head else "{")
        with self._body():
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        self.lines[-1] = Line(f"{self.lines[-1]} else {{", self.at)
        with self._body():
            yield

    @contextmanager
    def _body(self) -> Iterator[None]:
        """Indent the body of a compound statement. Variables declared in it are dropped at its end."""
        self.depth += 1
        declared = set(self.declared)
        yield
        self.declared = declared
        self.depth -= 1
        self.line("}")

    def declare(self, v: ir.Var) -> None:
        if v not in self.declared:
            self.declared.add(v)
            length = f"[{v.length}]" if v.length else ""
            start = "{}" if v in self.after else ""
            self.line(f"{ctype(v.type)} {self.text.var(v)}{length}{start};")

    # ---- blocks ------------------------------------------------------------------------------
    def block(self, block: ir.Block, after: tuple[ir.Var, ...] = ()) -> None:
        """Write a block, and declare its variables. after: the variables that are read after the block.

        Those are initialized where they are declared, since they may be assigned only under a condition.
        """
        self.held_blocks.append(block)
        self.after = after
        self.places |= declarations(block, self.declared, after)
        self.unrolled |= unrolled(block)
        self.inner(block)

    def inner(self, block: ir.Block) -> None:
        outer = self.at
        for s in block:
            self.at = s.at or outer
            for v in self.places.get(id(s), ()):
                self.declare(v)
            self.statement(s)
        self.at = outer

    def assign(self, v: ir.Var, text: str) -> None:
        if v in self.declared:
            self.simple(f"{self.text.var(v)} = {text}")
        else:
            self.declared.add(v)
            self.simple(f"{ctype(v.type)} {self.text.var(v)} = {text}")

    def fill(self, array: ir.Var, text: str) -> None:
        self.declare(array)
        self.simple(f"ev::fill({self.text.var(array)}, {text})")

    def set_item(self, s: ir.SetItem) -> None:
        index, value = self.text.expr(s.index), self.text.expr(s.value)
        self.simple(f"{self.text.var(s.array)}[{index}] = {value}")

    def store(self, s: ir.Store) -> None:
        self.line(self.store_text(s))

    def store_text(self, s: ir.Store) -> str:
        to, value = self.text.subscript(s), self.text.expr(s.value)
        if s.array.path not in self.text.contended:
            return f"{to} = {value};"
        atom = self.text.expr(s.atom) if s.atom else "-1"
        return f"ev::store_contended(&{to}, ({ctype(s.array.dtype)})({value}), {atom});"

    def atomic_call(self, s: ir.Atomic) -> str:
        name = "atomic_" + {"exch": "exchange", "cas": "compare_exchange"}.get(s.op, s.op)
        if s.op == "add" and s.array.grows:  # all lanes that push to a list add to its one count
            name = "add_together"
        values = "".join(f", {self.text.expr(e)}" for e in s.operands)
        return f"ev::{name}(&{self.text.subscript(s)}{values})"

    def assertion(self, s: ir.Assert) -> str:
        return f"if (!({self.text.expr(s.condition)})) ev::assertion_failed({string(s.text)})"

    def exchange(self, s: ir.Exchange) -> None:
        """Write a call of device/exchange.cuh. Each has a number, so that each has memory of its own."""
        self.exchanges += 1
        team, given = self.teams[s.size], ", ".join(self.text.expr(e) for e in s.operands)
        if s.op == "gather":
            memory = f"ev::gather<{self.exchanges}>({team}, {given})"
            self.line(f"const pos* {self.text.var(s.result)} = {memory};")
            return
        name = {"scan": "sum_through", "before": "sum_below"}.get(s.op, s.op)
        self.assign(s.result, f"ev::group_{name}({team}, {given})")

    def loop(self, s: ir.For) -> None:
        t = self.text
        name = t.var(s.var)
        self.declared.add(s.var)
        kind = ctype(s.var.type)
        start, stop, step = (t.expr(ir.Cast(e, s.var.type)) for e in (s.start, s.stop, s.step))
        if id(s) in self.unrolled:
            self.line("#pragma unroll")
        with self.compound(range_head(kind, name, start, stop, step, s.step)):
            self.inner(s.body)


@contextmanager
def given_loop(writer: Writer, name: str, over: tuple[ir.Expr, ...]) -> Iterator[None]:
    """Open the loop over what a generator method of a schedule gives: one position, or a range of them."""
    if len(over) == 1:
        with writer.compound(""):
            writer.line(f"const pos {name} = {position(writer.text, over[0])};")
            yield
        return
    start, stop, step = over
    if isinstance(step, ir.Const):
        first, last = position(writer.text, start), position(writer.text, stop)
        with writer.compound(range_head("pos", name, first, last, "", step)):
            yield
        return
    first, last, by = (writer.text.expr(ir.Cast(e, WEAK_INT)) for e in over)
    at = writer.text.unique(f"{name}_at")
    with writer.compound(range_head("long long", at, first, last, by, step)):
        writer.line(f"const pos {name} = (pos){at};")
        yield


def position(text: Text, e: ir.Expr) -> str:
    """Return an integer of a generator method as a position."""
    return text.expr(e) if e.type is POS else f"ev::position<pos>({text.expr(e)})"


def range_head(
    kind: str,
    name: str,
    start: str,
    stop: str,
    step: str,
    step_value: ir.Expr,
    upward: bool = False,
) -> str:
    """Return the head of a C++ loop over range(start, stop, step). upward: whether the step is known to be positive."""
    if isinstance(step_value, ir.Const):
        n = int(step_value.value)
        test, change = (
            ("<", f"++{name}" if n == 1 else f"{name} += {n}")
            if n > 0
            else (">", f"--{name}" if n == -1 else f"{name} -= {-n}")
        )
        return f"for ({kind} {name} = {start}; {name} {test} {stop}; {change})"
    test = f"{name} < {stop}"
    if not (upward or isinstance(step_value, ir.Processor)):  # counts of processors are positive
        test = f"ev::goes_on({name}, {stop}, {step})"
    return f"for ({kind} {name} = {start}; {test}; {name} += {step})"


# ---- structs of accumulators ---------------------------------------------------------------------
def fields_of(accumulators: tuple[ir.Accumulator, ...]) -> list[ir.Var]:
    """Return the variables of these accumulators."""
    return [v for a in accumulators for v in a.fields]


def identity(text: Text, accumulators: tuple[ir.Accumulator, ...]) -> str:
    """Return the identities of accumulators, as the initialiser of their struct."""
    return ", ".join(text.expr(e) for a in accumulators for e in a.identity)


def members(fields: Sequence[ir.Var]) -> dict[ir.Var, str]:
    """Return the names of these variables as members of a struct."""
    names = Names()
    return {v: names.variable(v) for v in fields}


def value_struct(text: Text, name: str, accumulators: tuple[ir.Accumulator, ...]) -> list[str]:
    """Emit a struct of the accumulators' fields, with `each` and `combine`, which groups and engines call."""
    fields = fields_of(accumulators)
    named = members(fields)
    # A flag beside numbers is a word, as its padding would be: values move by words, and a byte costs more registers.
    flags = "bool" if len(fields) == 1 else "int"
    declared = [f"  {flags if v.type.is_bool else ctype(v.type)} {m};" for v, m in named.items()]
    each = ", ".join(f"f({m})" for m in named.values())
    return [
        f"struct {name} {{",
        *declared,
        f"  template <class F> EV_DEVICE {name} each(F f) const {{ return {{{each}}}; }}",
        f"  static EV_DEVICE {name} combine(const {name}& a, const {name}& b) {{",
        *combine_body(text, accumulators),
        "  }",
        "};",
    ]


def combine_body(
    text: Text, accumulators: tuple[ir.Accumulator, ...], later: bool = False
) -> list[str]:
    """Emit the statements that combine `a` and `b`, two structs of these accumulators. For `later` see `combined`."""
    named = members(fields_of(accumulators))
    inner = text.child()
    writer = Writer(inner)
    writer.depth = 2
    results: list[str] = []
    for acc in accumulators:
        sides = []
        for side in "ab":
            held = tuple(ir.Var(f"{side}.{named[v]}", v.type) for v in acc.fields)
            inner.names.update({h: h.name for h in held})
            writer.declared.update(held)
            sides.append(held)
        writer.at = acc.at
        one, other = sides
        body, values = combine.combined(acc, one, other, later=later)
        writer.block(body)
        results += [inner.expr(e) for e in values]
    writer.line(f"return {{{', '.join(results)}}};")
    return writer.lines
