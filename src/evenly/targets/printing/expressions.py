"""Expressions as text, in the syntax of a target's language.

The type of what is printed is that of the expression in the typed program, always: a constant is a literal of its
own type, and an operation that the language does in another type is converted back. So no operand need know what
stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from evenly.language import ir
from evenly.language.types import Scalar

ATOM = 100  # how tightly names, literals and calls bind


@dataclass(frozen=True)
class Syntax:
    """How a language writes operators.

    binds: how tightly each operator does, "unary", "select" and the words of logic among them. spelled: the words of
    logic. select: a conditional expression, with the places c, a and b. logical: operands of `and` and `or` that bind
    less have parentheses: more than the language asks for, as readers do.
    """

    binds: Mapping[str, int]
    spelled: Mapping[str, str]
    select: str
    logical: int


class Expressions:
    """Prints expressions. A target says what names, constants, elements, casts and calls look like."""

    syntax: ClassVar[Syntax]

    def expr(self, e: ir.Expr) -> str:
        return self.bound(e)[0]

    def operand(self, e: ir.Expr, binds: int) -> str:
        """`e` where an operator that binds `binds` stands around it."""
        text, mine = self.bound(e)
        return text if mine >= binds else f"({text})"

    def bound(self, e: ir.Expr) -> tuple[str, int]:
        """The text of `e`, and how tightly it binds."""
        match e:
            case ir.Const():
                return self.constant(e)
            case ir.Var():
                return self.var(e), ATOM
            case ir.Param():
                return self.param(e), ATOM
            case ir.Extent(array=a, axis=axis):
                return self.extent(a, axis), ATOM
            case ir.Element():
                return self.element(e)
            case ir.Unary():
                return self.unary(e)
            case ir.Binary():
                return self.binary(e)
            case ir.Compare(op=op, left=a, right=b):
                binds = self.syntax.binds[op]  # Python chains comparisons: both sides bind tighter
                return f"{self.operand(a, binds + 1)} {op} {self.operand(b, binds + 1)}", binds
            case ir.Logic(op=op, left=a, right=b):
                sides = (self.operand(x, self.syntax.logical) for x in (a, b))
                return f" {self.syntax.spelled[op]} ".join(sides), self.syntax.binds[op]
            case ir.Select(condition=c, then=a, otherwise=b):
                binds = self.syntax.binds["select"]
                parts = {n: self.operand(x, binds + 1) for n, x in (("c", c), ("a", a), ("b", b))}
                return self.syntax.select.format(**parts), binds
            case ir.Cast(operand=x, type=t):
                return self.bound(x) if self.machine(x.type) == self.machine(t) else self.cast(x, t)
            case ir.Call():
                return self.call(e)
            case ir.Processor():
                return self.processor(e)
        raise AssertionError(e)

    # ---- what languages differ in --------------------------------------------------------------
    def unary(self, e: ir.Unary) -> tuple[str, int]:
        """- and ~ of numbers, `not` of truth values; see `converted`."""
        if e.op == "not":
            binds = self.syntax.binds["not"]
            return f"{self.syntax.spelled['not']}{self.operand(e.operand, binds)}", binds
        binds = self.syntax.binds["unary"]
        return self.converted(f"{e.op}{self.operand(e.operand, binds + 1)}", binds, e.type)

    def binary(self, e: ir.Binary) -> tuple[str, int]:
        """Left-associative operators; see `converted`."""
        binds = self.syntax.binds[e.op]
        text = f"{self.operand(e.left, binds)} {e.op} {self.operand(e.right, binds + 1)}"
        return self.converted(text, binds, e.type)

    def converted(self, text: str, binds: int, t: Scalar) -> tuple[str, int]:
        """What an operator gave, as a value of `t` where the language makes it another type."""
        raise NotImplementedError

    def machine(self, t: Scalar) -> str:
        """The language's name of the type that computes with a scalar."""
        raise NotImplementedError

    def constant(self, c: ir.Const) -> tuple[str, int]:
        """A literal of exactly the constant's type."""
        raise NotImplementedError

    def var(self, v: ir.Var) -> str:
        raise NotImplementedError

    def param(self, p: ir.Param) -> str:
        raise NotImplementedError

    def extent(self, a: ir.Array, axis: int) -> str:
        raise NotImplementedError

    def element(self, e: ir.Element) -> tuple[str, int]:
        raise NotImplementedError

    def cast(self, x: ir.Expr, t: Scalar) -> tuple[str, int]:
        """A conversion between two types that the machine holds differently."""
        raise NotImplementedError

    def call(self, e: ir.Call) -> tuple[str, int]:
        raise NotImplementedError

    def processor(self, e: ir.Processor) -> tuple[str, int]:
        raise NotImplementedError
