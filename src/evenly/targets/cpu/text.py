"""Expressions as Python text for Numba, and the record of what a function refers to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from evenly.language import ir
from evenly.language.diagnostics import Location
from evenly.language.intrinsics import BY_NAME
from evenly.language.types import Scalar, name_of, real_of
from evenly.targets.printing.expressions import ATOM, Expressions, Syntax
from evenly.targets.printing.names import Names, joined

from .helpers import called
from .slots import Slots

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

# Functions whose names begin so convert what Numba has no numbers for.
_NARROW = {"float16": "half", "bfloat16": "brain"}

# Numba promises LLVM that int64 does not overflow; integers wrap around, but for positions, which do not overflow.
_WRAPPING = {"+": "add_wrapping", "-": "subtract_wrapping", "*": "multiply_wrapping"}


Check = Literal["index", "division", "shift", "assertion"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a check stands."""

    kind: Check
    name: str
    at: Location | None


@dataclass
class Text(Expressions):
    """Emits the expressions of one function.

    `places`: the checks of debug mode, in the order of their numbers; None without checks.
    `answers`: how a schedule's questions about its processor are answered.
    """

    syntax = Syntax(
        _BINDS, {"not": "not ", "and": "and", "or": "or"}, "{a} if {c} else {b}", logical=26
    )

    slots: Slots
    places: list[Place] | None = None
    answers: Callable[[ir.Processor], str] | None = None
    unpacked: dict[str, str] = field(default_factory=dict)  # name -> how it is read from the slots
    _scope: Names = field(default_factory=Names)
    _names: dict[object, str] = field(default_factory=dict)

    # ---- names -----------------------------------------------------------------------------
    def own(self, key: object, wanted: str) -> str:
        """The one name of `key`, a variable of the emitter's own."""
        return self._name(key, wanted, self._scope.unique)

    def _name(self, key: object, wanted: str, new: Callable[[str], str]) -> str:
        if key not in self._names:
            self._names[key] = new(wanted)
        return self._names[key]

    def var(self, v: ir.Var) -> str:
        return self._name(v, v.name, self._scope.variable)

    def array(self, a: ir.Array) -> str:
        name = self._name(a.path, joined(a.path), self._scope.argument)
        self.unpacked.setdefault(
            name, f"pointer(slots, {self.slots.address(a)}, {memory_type(a.dtype)})"
        )
        return name

    def extent(self, a: ir.Array, axis: int) -> str:
        wanted = f"{joined(a.path)}_length" + (str(axis) if a.ndim > 1 else "")
        name = self._name((a.path, axis), wanted, self._scope.argument)
        self.unpacked.setdefault(name, f"slots[{self.slots.length(a, axis)}]")
        return name

    def param(self, p: ir.Param) -> str:
        name = self._name(("param", p.path), joined(p.path), self._scope.argument)
        parts = ("real", "imag") if p.type.is_complex else ("",)
        found = [f"slots[{self.slots.number(p.path, p.type, part)}]" for part in parts]
        self.unpacked.setdefault(name, from_slots(found, p.type))
        return name

    def processor(self, e: ir.Processor) -> tuple[str, int]:
        assert self.answers is not None
        return self.answers(e), 90

    def place(self, kind: Check, name: str, at: Location | None) -> int:
        """The number of a new check (from 1)."""
        assert self.places is not None
        self.places.append(Place(kind, name, at))
        return len(self.places)

    # ---- values ------------------------------------------------------------------------------
    def machine(self, t: Scalar) -> str:
        return number_type(t)

    def constant(self, c: ir.Const) -> tuple[str, int]:
        return constant(c)

    def element(self, e: ir.Element) -> tuple[str, int]:
        text = f"{self.array(e.array)}[{self.index(e.array, e.indices, e.at)}]"
        return (f"{text} != 0", _BINDS["!="]) if e.array.dtype.is_bool else (text, ATOM)

    def stored(self, t: Scalar, value: ir.Expr) -> str:
        """`value` as memory holds it in an array of `t`."""
        return f"uint8({self.expr(value)})" if t.is_bool else self.expr(value)

    def index(self, a: ir.Array, indices: tuple[ir.Expr, ...], at: Location | None) -> str:
        """The flat index of an element, rows after rows."""
        if self.places is not None:
            texts = [self.checked(a, axis, i, at) for axis, i in enumerate(indices)]
        elif len(indices) == 1:
            return self.expr(_bare(indices[0]))
        else:
            texts = [self.operand(_bare(i), 70 if axis else 80) for axis, i in enumerate(indices)]
        if len(texts) == 1:
            return texts[0]
        flat = texts[0]
        for axis, text in enumerate(texts[1:], 1):
            flat = f"{flat if axis == 1 else f'({flat})'} * {self.extent(a, axis)} + {text}"
        return flat

    def checked(self, a: ir.Array, axis: int, i: ir.Expr, at: Location | None) -> str:
        number = self.place("index", ".".join(a.path), at)
        return f"check_index({self.expr(i)}, {self.extent(a, axis)}, {number}, record)"

    # ---- operations ----------------------------------------------------------------------------
    def binary(self, e: ir.Binary) -> tuple[str, int]:
        op, t = e.op, e.type
        if t.is_integer and op in ("//", "%") and not _is_safe_divisor(e.right):
            return self.converted(*self.division(e), t)
        if t.name in ("int64", "int") and op in _WRAPPING:
            return f"{_WRAPPING[op]}({self.expr(e.left)}, {self.expr(e.right)})", ATOM
        if op in ("*", "/") and t.is_complex:
            name = "multiply_complex" if op == "*" else "divide_complex"
            return f"{name}({self.expr(e.left)}, {self.expr(e.right)})", ATOM
        if op in ("<<", ">>") and self.places is not None:
            number = self.place("shift", op, e.at)
            right = f"check_shift({self.expr(e.right)}, {8 * t.dtype.itemsize}, {number}, record)"
            return self.converted(f"{self.operand(e.left, _BINDS[op])} {op} {right}", _BINDS[op], t)
        return super().binary(e)

    def converted(self, text: str, binds: int, t: Scalar) -> tuple[str, int]:
        """Numba computes int32 in 64 bits: data integers are cut back, and so wrap."""
        return (f"int32({text})", ATOM) if t.name == "int32" else (text, binds)

    def division(self, e: ir.Binary) -> tuple[str, int]:
        left, right = self.operand(e.left, 80), self.operand(e.right, 81)
        if self.places is not None:
            right = f"check_divisor({right}, {self.place('division', e.op, e.at)}, record)"
        if e.op == "//" and e.type.name in ("int64", "int"):
            return f"floor_divide({left}, {right})", ATOM
        return f"{left} {e.op} {right}", 80

    def cast(self, x: ir.Expr, t: Scalar) -> tuple[str, int]:
        if x.type.name in _NARROW:
            return f"{_NARROW[x.type.name]}_value({self.expr(x)})", ATOM
        if t.name in _NARROW:
            value = self.expr(x) if x.type.name == "float32" else f"rounded_to_odd({self.expr(x)})"
            return f"{_NARROW[t.name]}_bits({value})", ATOM
        if t.is_bool:
            return f"{self.operand(x, 31)} != 0", 30
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
    """An index without its conversion to a position: pointers take integers of any width."""
    return e.operand if isinstance(e, ir.Cast) and e.type.weak and e.operand.type.is_integer else e


def _is_safe_divisor(e: ir.Expr) -> bool:
    """Whether nothing need be known of the dividend: not zero, and not -1, where the least integer wraps."""
    return isinstance(e, ir.Const) and e.value not in (0, -1)


def number_type(t: Scalar) -> str:
    """Numba's name of the type that computes with a scalar."""
    return "bool" if t.is_bool else name_of(t.dtype)


# What holds elements in memory where Numba has no such numbers.
_HELD_AS = {"bool": "uint8", "float16": "uint16", "bfloat16": "uint16"}


def memory_type(t: Scalar) -> str:
    """Numba's name of the type that holds a scalar in memory."""
    return _HELD_AS.get(t.name, number_type(t))


def from_slots(texts: list[str], t: Scalar) -> str:
    """The number in a slot; in two, the complex number of these parts."""
    if t.is_complex:
        return f"of_parts({', '.join(from_slots([text], real_of(t)) for text in texts)})"
    (text,) = texts
    if t.is_float:
        return f"float32(as_float({text}))" if t.name == "float32" else f"as_float({text})"
    return f"{text} != 0" if t.is_bool else f"int32({text})" if t.name == "int32" else text


def constant(c: ir.Const) -> tuple[str, int]:
    """A literal of exactly the constant's type, and how tightly it binds."""
    if c.type.is_bool:
        return str(bool(c.value)), 100
    if c.type.is_complex:
        parts = (ir.Const(x, real_of(c.type)) for x in (c.value.real, c.value.imag))
        return f"of_parts({', '.join(constant(part)[0] for part in parts)})", 100
    if c.type.is_float:
        value = float(c.value)
        text = (
            "nan"
            if math.isnan(value)
            else ("inf" if value > 0 else "-inf")
            if math.isinf(value)
            else repr(value)
        )
        return (
            (f"float32({text})", 100)
            if c.type.name == "float32"
            else (text, 90 if text[0] == "-" else 100)
        )
    value_ = int(c.value)
    least = value_ == -(2**63)
    text = "-9223372036854775807 - 1" if least else str(value_)  # the literal itself would not fit
    if not c.type.weak:
        return f"{c.type.name}({text})", 100  # bare literals Python would combine, without end
    if least:
        return f"({text})", 100
    return str(value_), 90 if value_ < 0 else 100
