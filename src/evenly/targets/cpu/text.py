"""Print expressions as Python text for Numba, and record which arguments a function refers to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evenly.language import ir
from evenly.language.diagnostics import Location
from evenly.language.intrinsics import BY_NAME
from evenly.language.types import INTEGERS, UINT64, Scalar, name_of, real_of
from evenly.targets.printing.expressions import ATOM, Expressions, Indexed, Syntax
from evenly.targets.printing.names import Names, joined

from .helpers import called
from .slots import Slots

PACKAGE = str(Path(__file__).parents[2])

STACK = "stack"  # the function that makes a local array

_BINDS = {
    "unary": 90,
    "*": 80,
    "/": 80,
    "//": 80,
    "%": 80,
    "+": 70,
    "-": 70,
    "<<": 60,
    ">>": 60,
    "&": 50,
    "^": 45,
    "|": 40,
    "<": 30,
    "<=": 30,
    ">": 30,
    ">=": 30,
    "==": 30,
    "!=": 30,
    "not": 25,
    "and": 20,
    "or": 15,
    "select": 10,
}

# The prefixes of functions that convert types for which Numba has no numbers.
_NARROW = {"float16": "half", "bfloat16": "brain"}

# Integers wrap, but Numba promises LLVM that int64 does not overflow. Positions never do, so they use plain operators.
_WRAPPING = {"+": "add_wrapping", "-": "subtract_wrapping", "*": "multiply_wrapping"}
_COMPLEX = {"*": "multiply_complex", "/": "divide_complex"}
_FUNCTIONS = {
    **dict.fromkeys(("int64", "int"), _WRAPPING),
    **dict.fromkeys(("complex64", "complex128", "complex"), _COMPLEX),
}
# Numba computes integers of up to 32 bits in 64, so they are converted back, and wrap. -x of a uint64 is an int64.
_COMPUTED_WIDE = frozenset(INTEGERS) - {"int64"}

CheckKind = Literal["index", "division", "shift", "step", "length", "assertion"]


@dataclass(frozen=True, slots=True)
class Check:
    """A check of debug mode: its kind, what it checks, and its place in the user's code."""

    kind: CheckKind
    name: str
    at: Location | None


@dataclass
class Text(Expressions):
    """Prints the expressions of one function.

    checks: the checks of debug mode, in the order of their numbers; None: nothing is checked.
    answers: prints what a schedule asks about its processor. peers: prints the numbers that its group has gathered.
    """

    syntax = Syntax(
        binds=_BINDS,
        spelled={"not": "not ", "and": "and", "or": "or", "True": "True", "False": "False"},
        select="{a} if {c} else {b}",
        logical=26,
        complex="of_parts",
        mixed="{f}_exactly",
        functions=_FUNCTIONS,
    )

    slots: Slots
    checks: list[Check] | None = None
    answers: Callable[[ir.Processor], str] | None = None
    peers: Callable[[ir.Peer], str] | None = None
    at: Location | None = None  # the statement that is being printed
    unpacked: dict[str, str] = field(default_factory=dict)  # name -> how it is read from the slots
    names: Names = field(default_factory=Names)

    # ---- names -----------------------------------------------------------------------------
    def array(self, a: ir.Array) -> str:
        if a.own:
            return self.names.argument((a.path, "own"), a.name)
        name = self.names.argument(a.path, joined(a.path))
        self.unpacked.setdefault(
            name, f"pointer(slots, {self.slots.address(a)}, {memory_type(a.dtype)})"
        )
        return name

    def extent(self, a: ir.Array, axis: int) -> str:
        wanted = f"{joined(a.path)}_length" + (str(axis) if a.ndim > 1 else "")
        name = self.names.argument((a.path, axis), wanted)
        self.unpacked.setdefault(name, f"slots[{self.slots.length(a, axis)}]")
        return name

    def param(self, p: ir.Param) -> str:
        name = self.names.argument(p.path, joined(p.path))
        parts = ("real", "imag") if p.type.is_complex else ("",)
        found = [f"slots[{self.slots.number(p.path, p.type, part)}]" for part in parts]
        self.unpacked.setdefault(name, from_slots(found, p.type))
        return name

    def var(self, v: ir.Var) -> str:
        name = super().var(v)
        if v.length:
            self.unpacked.setdefault(name, f"{STACK}({v.length}, {memory_type(v.type)})")
        return name

    def item(self, e: ir.Item) -> tuple[str, int]:
        text, binds = super().item(e)
        return (f"{text} != 0", _BINDS["!="]) if e.type.is_bool else (text, binds)

    def within(self, e: ir.Within) -> tuple[str, int]:
        if self.checks is None:
            return self.bound(e.index)
        number = self.check("index", e.name, e.at)
        length = e.length if isinstance(e.length, int) else self.expr(e.length)
        return f"check_index({self.expr(e.index)}, {length}, {number}, record)", ATOM

    def processor(self, e: ir.Processor) -> tuple[str, int]:
        assert self.answers is not None
        return self.answers(e), 90

    def peer(self, e: ir.Peer) -> tuple[str, int]:
        assert self.peers is not None
        return self.peers(e), ATOM

    def check(self, kind: CheckKind, name: str, at: Location | None) -> int:
        """Add a check, and return its number, counted from 1.

        Its place is that of the expression. If that is in a method of evenly's own layouts, it is the statement's.
        """
        assert self.checks is not None
        if at is not None and at.file.startswith(PACKAGE):
            at = self.at or at
        self.checks.append(Check(kind, name, at))
        return len(self.checks)

    # ---- values ------------------------------------------------------------------------------
    def machine(self, t: Scalar) -> str:
        return number_type(t)

    def float_literal(self, c: ir.Const) -> str:
        text = repr(float(c.value))  # inf and nan are names of the module
        return f"float32({text})" if c.type.name == "float32" else text

    def integer_literal(self, c: ir.Const) -> str:
        # A literal of the lowest integer would not fit. A literal gets its type, since Python would combine bare ones,
        # without wrapping.
        text = "-9223372036854775807 - 1" if c.value == -(2**63) else str(int(c.value))
        if not c.type.weak:
            return f"{c.type.name}({text})"
        return f"({text})" if " " in text else text

    def element(self, e: ir.Element) -> tuple[str, int]:
        text = self.subscript(e)
        return (f"{text} != 0", _BINDS["!="]) if e.array.dtype.is_bool else (text, ATOM)

    def stored(self, t: Scalar, value: ir.Expr) -> str:
        """Print `value` in the form in which an array of `t` holds it."""
        return f"uint8({self.expr(value)})" if t.is_bool else self.expr(value)

    def index_on(self, e: Indexed, axis: int) -> str:
        i = e.indices[axis]
        if self.checks is not None and not e.array.own:  # of a scratch array: see `within`
            number = self.check("index", ".".join(e.array.path), e.at)
            return f"check_index({self.expr(i)}, {self.extent(e.array, axis)}, {number}, record)"
        binds = 70 if axis else 80
        return self.operand(_bare(i), 0 if len(e.indices) == 1 else binds)

    # ---- operations ----------------------------------------------------------------------------
    def binary(self, e: ir.Binary) -> tuple[str, int]:
        op, t = e.op, e.type
        if t.is_integer and op in ("//", "%") and not _is_safe_divisor(e.right):
            return self.converted(*self.division(e), t)
        if op in ("<<", ">>") and self.checks is not None:
            number = self.check("shift", op, e.at)
            right = f"check_shift({self.expr(e.right)}, {8 * t.dtype.itemsize}, {number}, record)"
            return self.converted(f"{self.operand(e.left, _BINDS[op])} {op} {right}", _BINDS[op], t)
        return super().binary(e)

    def converted(self, text: str, binds: int, t: Scalar) -> tuple[str, int]:
        """Convert the result to an integer type that Numba computes in 64 bits, or whose sign it may change."""
        return (f"{t.name}({text})", ATOM) if t.name in _COMPUTED_WIDE else (text, binds)

    def division(self, e: ir.Binary) -> tuple[str, int]:
        left, right = self.operand(e.left, 80), self.operand(e.right, 81)
        if self.checks is not None:
            right = f"check_divisor({right}, {self.check('division', e.op, e.at)}, record)"
        if e.op == "//" and e.type.name in ("int64", "int"):
            return f"floor_divide({left}, {right})", ATOM
        return f"{left} {e.op} {right}", 80

    def cast(self, x: ir.Expr, t: Scalar) -> tuple[str, int]:
        if x.type.name in _NARROW:
            return f"{_NARROW[x.type.name]}_value({self.expr(x)})", ATOM
        if t.name in _NARROW:
            value = self.expr(x) if x.type.name == "float32" else f"rounded_to_odd({self.expr(x)})"
            return f"{_NARROW[t.name]}_bits({value})", ATOM
        return f"{number_type(t)}({self.expr(x)})", ATOM

    def call(self, e: ir.Call) -> tuple[str, int]:
        entry = BY_NAME[e.name]
        arguments = [self.expr(a) for a in e.arguments]
        if entry.literal:
            last = e.arguments[-1]
            assert isinstance(last, ir.Const)
            arguments[-1] = str(last.value)
        text = f"{called(entry)}({', '.join(arguments)})"
        if entry.gives == "int":
            return f"int64({text})", ATOM
        return (f"{e.type.name}({text})" if e.type.name in entry.numba_widens else text), ATOM


def _bare(e: ir.Expr) -> ir.Expr:
    """Return an index without its conversion to a position, since pointers take integers of any width.

    A uint64 keeps it: beside the int64 of another axis, Numba would make it a float.
    """
    bare = isinstance(e, ir.Cast) and e.type.weak and e.operand.type.is_integer
    return e.operand if isinstance(e, ir.Cast) and bare and e.operand.type != UINT64 else e


def _is_safe_divisor(e: ir.Expr) -> bool:
    """Whether division by `e` is safe for any dividend: it is not 0, nor -1, for which the lowest integer wraps."""
    return isinstance(e, ir.Const) and e.value not in (0, -1)


def number_type(t: Scalar) -> str:
    """Return Numba's name for the type in which a scalar is computed."""
    return "bool" if t.is_bool else name_of(t.dtype)


# The types that hold elements in memory, where Numba has no numbers of that type.
_HELD_AS = {"bool": "uint8", "float16": "uint16", "bfloat16": "uint16"}


def memory_type(t: Scalar) -> str:
    """Return Numba's name for the type that holds a scalar in memory."""
    return _HELD_AS.get(t.name, number_type(t))


def from_slots(texts: list[str], t: Scalar) -> str:
    """Print the number in a slot; for two slots, the complex number with these parts."""
    if t.is_complex:
        return f"of_parts({', '.join(from_slots([text], real_of(t)) for text in texts)})"
    (text,) = texts
    if t.is_float:
        return f"float32(as_float({text}))" if t.name == "float32" else f"as_float({text})"
    return (
        f"{text} != 0" if t.is_bool else f"{t.name}({text})" if t.name in _COMPUTED_WIDE else text
    )
