"""Print expressions in the syntax of a target's language.

The printed text always has the type that the expression has in the typed program. A constant becomes a literal of its
own type. If the language computes an operation in another type, the result is converted back. So an operand can be
printed without knowing what stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from evenly.language import ir
from evenly.language.types import Scalar, real_of

from .names import Names

ATOM = 100  # how tightly names, literals and calls bind

# For each comparison: the function, whether it takes the operands the other way round, whether it is negated.
_MIXED = {
    "<": ("less", False, False),
    ">": ("less", True, False),
    ">=": ("less", False, True),
    "<=": ("less", True, True),
    "==": ("equal", False, False),
    "!=": ("equal", False, True),
}

Indexed = ir.Element | ir.Store | ir.Atomic


@dataclass(frozen=True)
class Syntax:
    """How a language writes operators and literals.

    binds: the precedence of each operator, including "unary", "select", "and", "or" and "not". A higher number binds
      more tightly.
    spelled: the spellings of "and", "or", "not", "True" and "False".
    select: a conditional expression, with the placeholders c, a and b.
    logical: an operand of `and` or `or` whose precedence is lower gets parentheses. This is more than the language
      needs, for the reader's sake.
    complex: the function that makes a complex number from its parts, with the placeholder t.
    mixed: the functions that compare an unsigned integer and a signed one, with the placeholder f: "less" or "equal".
      The languages' own comparisons would convert one of them.
    functions: for the name of a type, the operators ("negate" is the unary -) that are printed as calls, since the
      language's own operator has another meaning for that type.
    """

    binds: Mapping[str, int]
    spelled: Mapping[str, str]
    select: str
    logical: int
    complex: str
    mixed: str
    functions: Mapping[str, Mapping[str, str]]

    def function(self, op: str, t: Scalar) -> str | None:
        """Return the function that computes `op` for the type `t`; None if the language's operator does."""
        return self.functions.get(t.name, {}).get(op)


class Expressions:
    """Prints expressions. A subclass for each target prints literals, arguments, elements, casts and calls."""

    syntax: ClassVar[Syntax]
    names: Names

    def expr(self, e: ir.Expr) -> str:
        return self.bound(e)[0]

    def operand(self, e: ir.Expr, binds: int) -> str:
        """Print `e` as an operand of an operator of precedence `binds`, with parentheses if it needs them."""
        text, mine = self.bound(e)
        return text if mine >= binds else f"({text})"

    def bound(self, e: ir.Expr) -> tuple[str, int]:
        """Return the text of `e`, and its precedence."""
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
            case ir.Item():
                return self.item(e)
            case ir.Within():
                return self.within(e)
            case ir.Unary():
                return self.unary(e)
            case ir.Binary():
                return self.binary(e)
            case ir.Compare():
                return self.compare(e)
            case ir.Logic(op=op, left=a, right=b):
                sides = (self.operand(x, self.syntax.logical) for x in (a, b))
                return f" {self.syntax.spelled[op]} ".join(sides), self.syntax.binds[op]
            case ir.Select(condition=c, then=a, otherwise=b):
                binds = self.syntax.binds["select"]
                parts = {n: self.operand(x, binds + 1) for n, x in (("c", c), ("a", a), ("b", b))}
                return self.syntax.select.format(**parts), binds
            case ir.Cast(operand=x, type=t) if self.machine(x.type) == self.machine(t):
                return self.bound(x)
            case ir.Cast(operand=x, type=t) if t.is_bool:
                binds = self.syntax.binds["!="]
                return f"{self.operand(x, binds + 1)} != 0", binds
            case ir.Cast(operand=x, type=t):
                return self.cast(x, t)
            case ir.Call():
                return self.call(e)
            case ir.Processor():
                return self.processor(e)
            case ir.Peer():
                return self.peer(e)
        raise AssertionError(e)

    def var(self, v: ir.Var) -> str:
        return self.names.variable(v)

    def constant(self, c: ir.Const) -> tuple[str, int]:
        """Print a literal of exactly the constant's type."""
        if c.type.is_bool:
            return self.syntax.spelled[str(bool(c.value))], ATOM
        if c.type.is_complex:
            parts = (ir.Const(x, real_of(c.type)) for x in (c.value.real, c.value.imag))
            return self.call_of(self.syntax.complex.format(t=self.machine(c.type)), *parts)
        text = self.float_literal(c) if c.type.is_float else self.integer_literal(c)
        return text, self.syntax.binds["unary"] if text[0] == "-" else ATOM

    def call_of(self, function: str, *arguments: ir.Expr) -> tuple[str, int]:
        return f"{function}({', '.join(map(self.expr, arguments))})", ATOM

    def unary(self, e: ir.Unary) -> tuple[str, int]:
        """Print - or ~ of a number, or `not` of a truth value. The result may need `converted`."""
        if e.op == "not":
            binds = self.syntax.binds["not"]
            return f"{self.syntax.spelled['not']}{self.operand(e.operand, binds)}", binds
        function = self.syntax.function("negate", e.type)
        if e.op == "-" and function:
            return self.call_of(function, e.operand)
        binds = self.syntax.binds["unary"]
        return self.converted(f"{e.op}{self.operand(e.operand, binds + 1)}", binds, e.type)

    def binary(self, e: ir.Binary) -> tuple[str, int]:
        """Print a left-associative operator. The result may need `converted`."""
        function = self.syntax.function(e.op, e.type)
        if function:
            return self.call_of(function, e.left, e.right)
        binds = self.syntax.binds[e.op]
        text = f"{self.operand(e.left, binds)} {e.op} {self.operand(e.right, binds + 1)}"
        return self.converted(text, binds, e.type)

    def compare(self, e: ir.Compare) -> tuple[str, int]:
        a, b = e.left, e.right
        if a.type.is_integer and b.type.is_integer and a.type.is_unsigned != b.type.is_unsigned:
            return self.mixed(e)
        binds = self.syntax.binds[e.op]  # Python chains comparisons: both sides bind tighter
        return f"{self.operand(a, binds + 1)} {e.op} {self.operand(b, binds + 1)}", binds

    def mixed(self, e: ir.Compare) -> tuple[str, int]:
        """Print a comparison of an unsigned integer and a signed one."""
        function, swaps, negates = _MIXED[e.op]
        sides = (e.right, e.left) if swaps else (e.left, e.right)
        text, binds = self.call_of(self.syntax.mixed.format(f=function), *sides)
        if not negates:
            return text, binds
        return f"{self.syntax.spelled['not']}{text}", self.syntax.binds["not"]

    # ---- elements ------------------------------------------------------------------------------
    def subscript(self, e: Indexed) -> str:
        return f"{self.array(e.array)}[{self.index(e)}]"

    def index(self, e: Indexed) -> str:
        """Print the flat index of an element, in row-major order."""
        flat = self.index_on(e, 0)
        for axis in range(1, len(e.indices)):
            rows = flat if axis == 1 else f"({flat})"
            flat = f"{rows} * {self.row_length(e.array, axis)} + {self.index_on(e, axis)}"
        return flat

    # ---- what each language defines ------------------------------------------------------------
    def converted(self, text: str, binds: int, t: Scalar) -> tuple[str, int]:
        """Convert the result of an operator to `t`, if the language computes it in another type."""
        raise NotImplementedError

    def machine(self, t: Scalar) -> str:
        """Return the language's name for the type in which this scalar is computed."""
        raise NotImplementedError

    def float_literal(self, c: ir.Const) -> str:
        raise NotImplementedError

    def integer_literal(self, c: ir.Const) -> str:
        raise NotImplementedError

    def array(self, a: ir.Array) -> str:
        raise NotImplementedError

    def param(self, p: ir.Param) -> str:
        raise NotImplementedError

    def extent(self, a: ir.Array, axis: int) -> str:
        raise NotImplementedError

    def row_length(self, a: ir.Array, axis: int) -> str:
        """Print the length of an axis for an index."""
        return self.extent(a, axis)

    def index_on(self, e: Indexed, axis: int) -> str:
        """Print an element's index on one axis, for `index`."""
        raise NotImplementedError

    def element(self, e: ir.Element) -> tuple[str, int]:
        raise NotImplementedError

    def item(self, e: ir.Item) -> tuple[str, int]:
        return f"{self.var(e.array)}[{self.expr(e.index)}]", ATOM

    def within(self, e: ir.Within) -> tuple[str, int]:
        """Print the index of a local array, with a check if this target checks."""
        raise NotImplementedError

    def cast(self, x: ir.Expr, t: Scalar) -> tuple[str, int]:
        """Print a conversion between two types that the machine represents differently."""
        raise NotImplementedError

    def call(self, e: ir.Call) -> tuple[str, int]:
        raise NotImplementedError

    def processor(self, e: ir.Processor) -> tuple[str, int]:
        raise NotImplementedError

    def peer(self, e: ir.Peer) -> tuple[str, int]:
        raise NotImplementedError
