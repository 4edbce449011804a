"""Statements as CUDA C++ text. How stores, atomics and passes look depends on who runs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evenly.language import combine, ir
from evenly.language.diagnostics import Location

from .expressions import Text, ctype
from .lines import Line
from .remarks import remark
from .scopes import declarations


class Writer:
    """Writes statements line by line. This one runs code on one thread; see owner.py for groups.

    `at`: what the lines being written come from, as far as their statements do not say.
    """

    def __init__(self, text: Text, at: Location | None = None) -> None:
        self.text = text
        self.at = at
        self.lines: list[str] = []
        self.depth = 1
        self.declared: set[ir.Var] = set(text.names)
        self.places: dict[int, list[ir.Var]] = {}
        self.after: tuple[ir.Var, ...] = ()
        # What is accumulated comes from one atom after the other, each further on than the last.
        self.ascends = False

    # ---- lines -----------------------------------------------------------------------------
    def line(self, text: str) -> None:
        self.lines.append(Line("  " * self.depth + text, self.at))

    @contextmanager
    def braces(self, head: str) -> Iterator[None]:
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        declared = set(self.declared)
        yield
        self.declared = declared
        self.depth -= 1
        self.line("}")

    def declare(self, v: ir.Var) -> None:
        if v not in self.declared:
            self.declared.add(v)
            self.line(f"{ctype(v.type)} {self.text.var(v)}{'{}' if v in self.after else ''};")

    # ---- blocks ------------------------------------------------------------------------------
    def block(self, block: ir.Block, after: tuple[ir.Var, ...] = ()) -> None:
        """A block whose variables are all its own, or declared already, but for those read `after` it.

        They have a value also where the condition under which they are assigned does not hold.
        """
        self.after = after
        self.places |= declarations(block, self.declared, after)
        self.inner(block)

    def inner(self, block: ir.Block) -> None:
        outer = self.at
        for s in block:
            self.at = s.at or outer
            for v in self.places.get(id(s), ()):
                self.declare(v)
            self.statement(s)
        self.at = outer

    def statement(self, s: ir.Stmt) -> None:
        match s:
            case ir.Assign(var=v, value=e):
                self.assign(v, self.text.expr(e))
            case ir.Store():
                self.store(s)
            case ir.Atomic():
                self.atomic(s)
            case ir.If():
                self.branch(s)
            case ir.While(before=before, condition=c, body=body):
                with self.braces("while (true)"):
                    self.inner(before)
                    self.line(f"if (!{self.text.operand(c, 91)}) break;")
                    self.inner(body)
            case ir.For():
                self.loop(s)
            case ir.Break():
                self.line("break;")
            case ir.Continue():
                self.line("continue;")
            case ir.Accumulate(accumulator=acc, values=values):
                self.accumulate(acc, values)
            case ir.Pass():
                self.walk(s)
            case ir.Print() | ir.Assert():
                self.effect(remark(self.text, s))
            case _:
                raise AssertionError(s)

    def assign(self, v: ir.Var, text: str) -> None:
        if v in self.declared:
            self.line(f"{self.text.var(v)} = {text};")
        else:
            self.declared.add(v)
            self.line(f"{ctype(v.type)} {self.text.var(v)} = {text};")

    def target(self, array: ir.Array, indices: tuple[ir.Expr, ...]) -> str:
        return f"{self.text.array(array)}[{self.text.index(array, indices)}]"

    def store(self, s: ir.Store) -> None:
        self.line(self.store_text(s))

    def effect(self, text: str) -> None:
        """A statement that one thread makes for the tile."""
        self.line(text)

    def store_text(self, s: ir.Store) -> str:
        to, value = self.target(s.array, s.indices), self.text.expr(s.value)
        if s.array.path not in self.text.meeting:
            return f"{to} = {value};"
        atom = self.text.expr(s.atom) if s.atom else "-1"
        return f"ev::store_meeting(&{to}, ({ctype(s.array.dtype)})({value}), {atom});"

    def atomic(self, s: ir.Atomic) -> None:
        call = self.atomic_call(s)
        if s.result is None:
            self.line(f"{call};")
        else:
            self.assign(s.result, call)

    def atomic_call(self, s: ir.Atomic) -> str:
        name = {"exch": "exchange", "cas": "compare_exchange"}.get(s.op, s.op)
        values = "".join(f", {self.text.expr(e)}" for e in s.operands)
        return f"ev::atomic_{name}(&{self.target(s.array, s.indices)}{values})"

    def branch(self, s: ir.If) -> None:
        if not s.then and not s.otherwise:
            return
        condition, then, otherwise = s.condition, s.then, s.otherwise
        if not then:
            condition, then, otherwise = ir.Unary("not", condition, condition.type), otherwise, ()
        with self.braces(f"if ({self.text.expr(condition)})"):
            self.inner(then)
        if otherwise:
            self.lines[-1] = Line(f"{self.lines[-1]} else {{", self.at)
            declared = set(self.declared)
            self.depth += 1
            self.inner(otherwise)
            self.depth -= 1
            self.declared = declared
            self.line("}")

    def loop(self, s: ir.For) -> None:
        t = self.text
        name = t.var(s.var)
        self.declared.add(s.var)
        kind = ctype(s.var.type)
        start, stop, step = (t.expr(ir.Cast(e, s.var.type)) for e in (s.start, s.stop, s.step))
        with self.braces(range_head(kind, name, start, stop, step, s.step)):
            self.inner(s.body)

    def accumulate(self, acc: ir.Accumulator, values: tuple[ir.Expr, ...]) -> None:
        """fields = combined(fields, values)."""
        simple = []
        for v in values:
            if isinstance(v, ir.Var | ir.Const) or acc.op in (
                "sum",
                "product",
                "any",
                "all",
                "&",
                "|",
                "^",
            ):
                simple.append(v)
            else:
                held = ir.Var("part", v.type)
                self.assign(held, self.text.expr(v))
                simple.append(held)
        self.combine(acc, tuple(simple))

    def combine(self, acc: ir.Accumulator, values: tuple[ir.Expr, ...]) -> None:
        """What was accumulated, and then these."""
        into = acc.fields
        body, results = combine.combined(acc, into, values, later=self.ascends)
        self.block(body)
        if len(results) == 1:
            self.assign(into[0], self.text.expr(results[0]))
            return
        held = []
        for r in results:  # all new values before the first old one goes
            h = ir.Var("new", r.type)
            self.assign(h, self.text.expr(r))
            held.append(h)
        for v, h in zip(into, held, strict=True):
            self.assign(v, self.text.expr(h))

    def walk(self, s: ir.Pass) -> None:
        raise AssertionError("a pass outside an owned phase")


def range_head(
    kind: str,
    name: str,
    start: str,
    stop: str,
    step: str,
    step_value: ir.Expr,
    upward: bool = False,
) -> str:
    """The head of a C++ loop over range(start, stop, step); `upward`: the step is known to be positive."""
    if isinstance(step_value, ir.Const):
        n = int(step_value.value)
        test, change = (
            ("<", f"++{name}" if n == 1 else f"{name} += {n}")
            if n > 0
            else (">", f"--{name}" if n == -1 else f"{name} -= {-n}")
        )
        return f"for ({kind} {name} = {start}; {name} {test} {stop}; {change})"
    test = f"{name} < {stop}"
    if not (upward or isinstance(step_value, ir.Processor)):  # processors are counted from 1
        test = f"{step} > 0 ? {test} : {name} > {stop}"
    return f"for ({kind} {name} = {start}; {test}; {name} += {step})"


# ---- structs of accumulators ---------------------------------------------------------------------
def fields_of(accumulators: tuple[ir.Accumulator, ...]) -> list[ir.Var]:
    """What they accumulate into."""
    return [v for a in accumulators for v in a.fields]


def member(fields: list[ir.Var], v: ir.Var) -> str:
    """The member of a value struct that holds an accumulator's field."""
    return f"{v.name}{fields.index(v) if sum(f.name == v.name for f in fields) > 1 else ''}"


def value_struct(text: Text, name: str, accumulators: tuple[ir.Accumulator, ...]) -> list[str]:
    """The lines of a struct of accumulators' fields, with `each` and `combine`, as groups and engines want it."""
    fields = fields_of(accumulators)
    members = [f"  {ctype(v.type)} {member(fields, v)};" for v in fields]
    each = ", ".join(f"f({member(fields, v)})" for v in fields)
    return [
        f"struct {name} {{",
        *members,
        f"  template <class F> EV_DEVICE {name} each(F f) const {{ return {{{each}}}; }}",
        f"  static EV_DEVICE {name} combine(const {name}& a, const {name}& b) {{",
        *combine_body(text, accumulators),
        "  }",
        "};",
    ]


def combine_body(
    text: Text, accumulators: tuple[ir.Accumulator, ...], later: bool = False
) -> list[str]:
    """The statements that combine `a` and `b`, both of the struct of these accumulators; `later`: see `combined`."""
    fields = fields_of(accumulators)
    inner = text.child()
    writer = Writer(inner)
    writer.depth = 2
    results: list[str] = []
    for acc in accumulators:
        sides = []
        for side in "ab":
            held = tuple(ir.Var(f"{side}.{member(fields, v)}", v.type) for v in acc.fields)
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
