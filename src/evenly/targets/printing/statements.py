"""Print statements as lines of text.

How stores, loops and passes look depends on the target, and on whether a thread or a group runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from evenly.language import combine, ir

from .expressions import Expressions

# Accumulators whose combination uses each operand once, so that a contribution needs no variable.
_ONCE = frozenset(("sum", "product", "any", "all", "&", "|", "^"))

# One position, or the start, stop and step of a range.
Over = tuple[ir.Expr, ...]

T = TypeVar("T", bound=Expressions)


@dataclass(frozen=True)
class Words:
    """How a language writes statements.

    forever: the head of an endless loop. condition: the head of a branch, with the placeholder c.
    end: the end of a line. print: the function that prints. string: makes a string literal.
    """

    forever: str
    condition: str
    end: str
    print: str
    string: Callable[[str], str]


class Statements(Generic[T]):
    """Writes statements line by line, with the expressions that `text` prints."""

    words: ClassVar[Words]

    def __init__(self, text: T) -> None:
        self.text = text
        self.lines: list[str] = []
        self.depth = 1
        # Whether contributions to accumulators come from atoms in ascending order.
        self.ascends = False
        # The first fields of accumulators that hold their identity: a contribution takes its place.
        self.fresh: frozenset[ir.Var] = frozenset()
        self.each: Callable[[Over], None] | None = None  # what stands in the place of a yield

    # ---- lines -----------------------------------------------------------------------------
    def line(self, text: str) -> None:
        raise NotImplementedError

    def compound(self, head: str) -> AbstractContextManager[None]:
        """Open a compound statement; the lines written inside the `with` are its body."""
        raise NotImplementedError

    def otherwise(self) -> AbstractContextManager[None]:
        """Open the `else` branch, right after the first branch."""
        raise NotImplementedError

    def simple(self, text: str) -> None:
        self.line(text + self.words.end)

    def effect(self, text: str) -> None:
        """Write a statement that only one processor executes for a tile."""
        self.simple(text)

    # ---- statements --------------------------------------------------------------------------
    def block(self, block: ir.Block) -> None:
        for s in block:
            self.statement(s)

    def statement(self, s: ir.Stmt) -> None:
        match s:
            case ir.Assign(var=v, value=value) if v.length:
                self.fill(v, self.text.expr(value))
            case ir.SetItem():
                self.set_item(s)
            case ir.Accumulate(accumulator=acc, index=index) if index is not None:
                self.accumulate_item(acc, s.values, index)
            case ir.Assign(var=v, value=value):
                (value,) = self.common(value)
                self.assign(v, self.text.expr(value))
            case ir.Store():
                self.store(s)
            case ir.Scratch():
                self.begin_scratch(s)
            case ir.Atomic():
                self.atomic(s)
            case ir.Push():
                self.push(s)
            case ir.If():
                self.branch(s)
            case ir.While(before=before, condition=c, body=body):
                with self.compound(self.words.forever):
                    self.inner(before)
                    with self.when(ir.Unary("not", c, c.type)):
                        self.simple("break")
                    self.inner(body)
            case ir.For():
                self.loop(s)
            case ir.Break():
                self.simple("break")
            case ir.Continue():
                self.simple("continue")
            case ir.Accumulate(accumulator=acc, values=values):
                self.accumulate(acc, values)
            case ir.Scan():
                self.scan(s)
            case ir.Pass():
                self.walk(s)
            case ir.Exchange():
                self.exchange(s)
            case ir.Stage():
                self.stage(s)
            case ir.Yield(over=over):
                assert self.each is not None
                self.each(over)
            case ir.Print(parts=parts):
                string, expr = self.words.string, self.text.expr
                shown = (string(p) if isinstance(p, str) else expr(p) for p in parts)
                self.effect(f"{self.words.print}({', '.join(shown)})")
            case ir.Assert():
                self.effect(self.assertion(s))
            case _:
                raise AssertionError(s)

    def atomic(self, s: ir.Atomic) -> None:
        if s.result is None:
            self.simple(self.atomic_call(s))
        else:
            self.assign(s.result, self.atomic_call(s))

    def generate(self, block: ir.Block, each: Callable[[Over], None]) -> None:
        """Write the code of a generator method of a schedule. each: writes what stands in the place of its yield."""
        outer, self.each = self.each, each
        self.block(block)
        self.each = outer

    def inner(self, block: ir.Block) -> None:
        """Write a block nested in the one that is being written."""
        for s in block:
            self.statement(s)

    @contextmanager
    def when(self, condition: ir.Expr) -> Iterator[None]:
        with self.compound(self.words.condition.format(c=self.text.expr(condition))):
            yield

    def branch(self, s: ir.If) -> None:
        condition, then, otherwise = s.condition, s.then, s.otherwise
        if not then and not otherwise:
            return
        if not then:
            condition, then, otherwise = ir.Unary("not", condition, condition.type), otherwise, ()
        with self.when(condition):
            self.inner(then)
        if otherwise:
            with self.otherwise():
                self.inner(otherwise)

    # ---- accumulators --------------------------------------------------------------------------
    def identities(self, accumulators: tuple[ir.Accumulator, ...]) -> None:
        """Write assignments that set the accumulators' fields to their identities."""
        for acc in accumulators:
            for v, e in zip(acc.fields, acc.identity, strict=True):
                if v.length:
                    self.fill(v, self.text.expr(e))
                else:
                    self.assign(v, self.text.expr(e))

    def accumulate_item(
        self, acc: ir.Accumulator, values: tuple[ir.Expr, ...], index: ir.Expr
    ) -> None:
        """Write array[index] = combined(array[index], values)."""
        (array,) = acc.fields
        body, (result,) = combine.combined(acc, (ir.Item(array, index, array.type),), values)
        self.block(body)
        self.set_item(ir.SetItem(array, index, result))

    def accumulate(self, acc: ir.Accumulator, values: tuple[ir.Expr, ...]) -> None:
        """Write fields = combined(fields, values)."""
        held: list[ir.Expr] = []
        for value in self.common(*values):
            if acc.op in _ONCE or isinstance(value, ir.Var | ir.Const):
                held.append(value)
            else:
                part = ir.Var("part", value.type)
                self.assign(part, self.text.expr(value))
                held.append(part)
        if acc.fields[0] in self.fresh:
            self.copy(acc.fields, held)
        else:
            self.combine(acc, acc.fields, tuple(held))

    def scan(self, s: ir.Scan) -> None:
        """Write a step of a running value, for a processor that walks all of a tile's atoms in order."""
        acc = s.accumulator
        if s.exclusive:
            self.copy(s.results, acc.fields)
        self.accumulate(acc, s.values)
        if not s.exclusive:
            self.copy(s.results, acc.fields)

    def copy(self, into: Sequence[ir.Var], source: Sequence[ir.Expr]) -> None:
        for v, e in zip(into, source, strict=True):
            self.assign(v, self.text.expr(e))

    def combine(
        self,
        acc: ir.Accumulator,
        a: tuple[ir.Expr, ...],
        b: tuple[ir.Expr, ...],
        later: bool = False,
    ) -> None:
        """Write fields = combined(a, b), for operands that are cheap to repeat. For `later` see `combined`."""
        body, results = combine.combined(acc, a, b, later or self.ascends)
        self.block(body)
        if len(results) == 1:
            self.assign(acc.fields[0], self.text.expr(results[0]))
            return
        new = [ir.Var("new", r.type) for r in results]
        for v, r in zip(new, results, strict=True):  # compute all before any is overwritten
            self.assign(v, self.text.expr(r))
        for v, n in zip(acc.fields, new, strict=True):
            self.assign(v, self.text.var(n))

    # ---- what each target defines --------------------------------------------------------------
    def common(self, *expressions: ir.Expr) -> tuple[ir.Expr, ...]:
        """Return the expressions. A target may first write common subexpressions to variables, and replace them."""
        return expressions

    def assign(self, v: ir.Var, text: str) -> None:
        raise NotImplementedError

    def fill(self, array: ir.Var, text: str) -> None:
        """Write the statement that sets every element of a local array."""
        raise NotImplementedError

    def set_item(self, s: ir.SetItem) -> None:
        raise NotImplementedError

    def push(self, s: ir.Push) -> None:
        """Write that a task is made, where an engine hands out tasks."""
        raise NotImplementedError

    def begin_scratch(self, s: ir.Scratch) -> None:
        """Write the statement that gives a scratch array its memory, all zero."""
        raise NotImplementedError

    def store(self, s: ir.Store) -> None:
        raise NotImplementedError

    def atomic_call(self, s: ir.Atomic) -> str:
        raise NotImplementedError

    def loop(self, s: ir.For) -> None:
        raise NotImplementedError

    def walk(self, s: ir.Pass) -> None:
        raise NotImplementedError

    def exchange(self, s: ir.Exchange) -> None:
        raise NotImplementedError

    def stage(self, s: ir.Stage) -> None:
        """Write the copy of a part of an array. Without one, the array itself is read."""

    def assertion(self, s: ir.Assert) -> str:
        raise NotImplementedError
