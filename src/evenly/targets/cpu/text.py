"""Expressions as Python text for Numba, and the record of what a function refers to."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from evenly.language import ir
from evenly.language.diagnostics import Location
from evenly.language.intrinsics import BY_NAME
from evenly.language.types import Scalar, name_of, real_of

from .slots import Slots

# How tightly each operator binds in Python; names and calls bind at 100.
_BINDS = {
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
    "if": 10,
}

# Spellings that differ from the table of intrinsics.
_SPELLED = {"minimum": "minimum", "maximum": "maximum"}

# Functions whose names begin so convert what Numba has no numbers for.
_NARROW = {"float16": "half", "bfloat16": "brain"}

# Numba promises LLVM that int64 does not overflow; data integers wrap around.
_WRAPPING = {"+": "add_wrapping", "-": "subtract_wrapping", "*": "multiply_wrapping"}

# Names that emitted code uses for itself.
_TAKEN = frozenset(
    """
    math np inf nan cfunc njit types signature entry bool range abs min max
    int32 int64 float32 float64 complex64 complex128 uint8 uint16
    pointer as_float minimum maximum floor_divide
    add_wrapping subtract_wrapping multiply_wrapping power_wrapping cube_root
    of_parts real_part imaginary_part magnitude conjugate divide_complex multiply_complex
    half_value half_bits brain_value brain_bits rounded_to_odd
    add_in_any_order multiply_in_any_order as_it_stands
    atomic_add atomic_min atomic_max atomic_exch atomic_cas
    check_index check_divisor check_shift record record_of worker workers slots
    IndexError ZeroDivisionError ValueError Exception
    """.split()  # noqa: SIM905 - forty quoted names do not read better
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a check stands. kind: index, division or shift."""

    kind: str
    name: str
    at: Location | None


@dataclass
class Text:
    """Emits the expressions of one function.

    `places`: the checks of debug mode, in the order of their numbers; None without checks.
    `processor`: how a schedule's questions about its processor are answered.
    """

    slots: Slots
    places: list[Place] | None = None
    processor: Callable[[ir.Processor], str] | None = None
    unpacked: dict[str, str] = field(default_factory=dict)  # name -> how it is read from the slots
    _names: dict[object, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=lambda: set(_TAKEN))

    # ---- names -----------------------------------------------------------------------------
    def unique(self, wanted: str) -> str:
        base = (
            f"{wanted}_"
            if keyword.iskeyword(wanted) or wanted in _TAKEN or wanted.startswith("__")
            else wanted
        )
        name, n = base, 0
        while name in self._taken:
            n += 1
            name = f"{base}_{n}"
        self._taken.add(name)
        return name

    def name(self, key: object, wanted: str) -> str:
        """The one name of `key`."""
        if key not in self._names:
            self._names[key] = self.unique(wanted)
        return self._names[key]

    def var(self, v: ir.Var) -> str:
        return self.name(v, v.name)

    def array(self, a: ir.Array) -> str:
        name = self.name(a.path, _joined(a.path))
        self.unpacked.setdefault(
            name, f"pointer(slots, {self.slots.address(a)}, {memory_type(a.dtype)})"
        )
        return name

    def extent(self, a: ir.Array, axis: int) -> str:
        name = self.name(
            (a.path, axis), f"{_joined(a.path)}_length" + (str(axis) if a.ndim > 1 else "")
        )
        self.unpacked.setdefault(name, f"slots[{self.slots.length(a, axis)}]")
        return name

    def param(self, p: ir.Param) -> str:
        name = self.name(("param", p.path), _joined(p.path))
        parts = ("real", "imag") if p.type.is_complex else ("",)
        found = [f"slots[{self.slots.number(p.path, p.type, part)}]" for part in parts]
        self.unpacked.setdefault(name, from_slots(found, p.type))
        return name

    def place(self, kind: str, name: str, at: Location | None) -> int:
        """The number of a new check (from 1)."""
        assert self.places is not None
        self.places.append(Place(kind, name, at))
        return len(self.places)

    # ---- expressions -------------------------------------------------------------------------
    def expr(self, e: ir.Expr) -> str:
        return self._expr(e)[0]

    def operand(self, e: ir.Expr, binds: int) -> str:
        """`e` where an operator that binds `binds` stands around it."""
        text, mine = self._expr(e)
        return text if mine >= binds else f"({text})"

    def _expr(self, e: ir.Expr) -> tuple[str, int]:
        match e:
            case ir.Const():
                return constant(e)
            case ir.Var():
                return self.var(e), 100
            case ir.Param():
                return self.param(e), 100
            case ir.Extent(array=a, axis=axis):
                return self.extent(a, axis), 100
            case ir.Element():
                return self.element(e)
            case ir.Unary():
                return self.unary(e)
            case ir.Binary():
                return self.binary(e)
            case ir.Compare(op=op, left=a, right=b):
                binds = _BINDS[op]  # Python chains comparisons: both sides bind tighter
                return f"{self.operand(a, binds + 1)} {op} {self.operand(b, binds + 1)}", binds
            case ir.Logic(op=op, left=a, right=b):
                binds = _BINDS[op]
                return f"{self.operand(a, binds)} {op} {self.operand(b, binds + 1)}", binds
            case ir.Select(condition=c, then=a, otherwise=b):
                return (
                    f"{self.operand(a, 11)} if {self.operand(c, 11)} else {self.operand(b, 11)}",
                    10,
                )
            case ir.Cast(operand=x, type=t):
                return self.cast(x, t)
            case ir.Call():
                return self.call(e), 100
            case ir.Processor():
                assert self.processor is not None
                return self.processor(e), 90
        raise AssertionError(e)

    def element(self, e: ir.Element) -> tuple[str, int]:
        text = f"{self.array(e.array)}[{self.index(e.array, e.indices, e.at)}]"
        return (f"{text} != 0", _BINDS["!="]) if e.array.dtype.is_bool else (text, 100)

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

    def unary(self, e: ir.Unary) -> tuple[str, int]:
        if e.op == "not":
            return f"not {self.operand(e.operand, 25)}", 25
        text = f"{e.op}{self.operand(e.operand, 90)}"
        return narrow(text, 90, e.type)

    def binary(self, e: ir.Binary) -> tuple[str, int]:
        op, t = e.op, e.type
        if t.is_integer and op in ("//", "%") and not _is_safe_divisor(e.right):
            return narrow(*self.division(e), t)
        if t.name == "int64" and op in _WRAPPING:
            return f"{_WRAPPING[op]}({self.expr(e.left)}, {self.expr(e.right)})", 100
        if op in ("*", "/") and t.is_complex:
            name = "multiply_complex" if op == "*" else "divide_complex"
            return f"{name}({self.expr(e.left)}, {self.expr(e.right)})", 100
        if op in ("<<", ">>") and self.places is not None:
            number = self.place("shift", op, e.at)
            right = f"check_shift({self.expr(e.right)}, {8 * t.dtype.itemsize}, {number}, record)"
        else:
            right = self.operand(e.right, _BINDS[op] + 1)
        return narrow(f"{self.operand(e.left, _BINDS[op])} {op} {right}", _BINDS[op], t)

    def division(self, e: ir.Binary) -> tuple[str, int]:
        left, right = self.operand(e.left, 80), self.operand(e.right, 81)
        if self.places is not None:
            right = f"check_divisor({right}, {self.place('division', e.op, e.at)}, record)"
        if e.op == "//" and e.type.name == "int64":
            return f"floor_divide({left}, {right})", 100
        return f"{left} {e.op} {right}", 80

    def cast(self, x: ir.Expr, t: Scalar) -> tuple[str, int]:
        if number_type(x.type) == number_type(t):
            return self._expr(x)
        if x.type.name in _NARROW:
            return f"{_NARROW[x.type.name]}_value({self.expr(x)})", 100
        if t.name in _NARROW:
            value = self.expr(x) if x.type.name == "float32" else f"rounded_to_odd({self.expr(x)})"
            return f"{_NARROW[t.name]}_bits({value})", 100
        if t.is_bool:
            return f"{self.operand(x, 31)} != 0", 30
        return f"{number_type(t)}({self.expr(x)})", 100

    def call(self, e: ir.Call) -> str:
        entry = BY_NAME[e.name]
        if e.name == "power_int":
            base, exponent = e.arguments
            assert isinstance(exponent, ir.Const)
            power = f"power_wrapping({self.expr(base)}, {int(exponent.value)})"
            return narrow(power, 100, e.type)[0]
        text = f"{_SPELLED.get(e.name, entry.cpu)}({', '.join(self.expr(a) for a in e.arguments)})"
        if entry.kind == "to_int":
            return f"int64({text})"
        narrower = (e.name, e.type.name) in (("abs", "int32"), ("cbrt", "float32"))
        return f"{e.type.name}({text})" if narrower else text


def _bare(e: ir.Expr) -> ir.Expr:
    """An index without its conversion to a position: pointers take integers of any width."""
    return e.operand if isinstance(e, ir.Cast) and e.type.weak and e.operand.type.is_integer else e


def _is_safe_divisor(e: ir.Expr) -> bool:
    """Whether nothing need be known of the dividend: not zero, and not -1, where the least integer wraps."""
    return isinstance(e, ir.Const) and e.value not in (0, -1)


def _joined(path: ir.Path) -> str:
    return "_".join(x for x in path if x != "$")


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


def narrow(text: str, binds: int, t: Scalar) -> tuple[str, int]:
    """Numba computes int32 in 64 bits: data integers are cut back, and so wrap."""
    if t.name == "int32":
        return f"int32({text})", 100
    return text, binds


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
