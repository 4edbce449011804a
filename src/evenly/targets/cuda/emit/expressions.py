"""Expressions as CUDA C++ text, and the record of what a kernel refers to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from evenly.language import ir
from evenly.language.intrinsics import BY_NAME
from evenly.language.lower.context import RESERVED
from evenly.language.types import POS, Scalar, real_of

from .naming import flat

_TYPES = {
    "bool": "bool",
    "int32": "int",
    "int64": "long long",
    "float32": "float",
    "float64": "double",
    "complex64": "ev::complex64",
    "complex128": "ev::complex128",
    "float16": "ev::float16",
    "bfloat16": "ev::bfloat16",
    "int": "long long",
    "float": "double",
    "complex": "ev::complex128",
    "index": "pos",
}

# How tightly each operator binds in C++; atoms bind at 100.
_BINDS = {
    "*": 80,
    "/": 80,
    "+": 70,
    "-": 70,
    "<<": 60,
    ">>": 60,
    "<": 50,
    "<=": 50,
    ">": 50,
    ">=": 50,
    "==": 45,
    "!=": 45,
    "&": 40,
    "^": 35,
    "|": 30,
    "&&": 25,
    "||": 20,
    "?": 10,
}

_WRAPPING = {
    "+": "ev::add_wrapping",
    "-": "ev::sub_wrapping",
    "*": "ev::mul_wrapping",
    "<<": "ev::shift_left",
}


def ctype(t: Scalar) -> str:
    """The C++ type that holds a scalar; `pos` is each kernel's own."""
    return _TYPES[t.name]


@dataclass
class References:
    """What a kernel's code refers to, in the order of first use: these become its parameters."""

    arrays: dict[ir.Path, ir.Array] = field(default_factory=dict)
    scalars: dict[ir.Path, ir.Param] = field(default_factory=dict)
    extents: dict[tuple[ir.Path, int], ir.Array] = field(default_factory=dict)


@dataclass
class Text:
    """Emits expressions for one kernel.

    `written`: the arrays that the program stores into, which must not be read through the
    read-only cache. `streaming`: read-once elements bypass the cache (engines that split tiles).
    `meeting`: the arrays that are read and stored atomically (see meeting.py).
    `loaded`: elements that a variable holds already.
    """

    wide: bool
    written: frozenset[ir.Path]
    streaming: bool = False
    meeting: frozenset[ir.Path] = frozenset()
    references: References = field(default_factory=References)
    names: dict[ir.Var, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    loaded: dict[ir.Element, str] = field(default_factory=dict)

    def child(self) -> Text:
        """For another function of the same kernel: its own local names, the same references."""
        return Text(self.wide, self.written, self.streaming, self.meeting, self.references)

    # ---- names -----------------------------------------------------------------------------
    def unique(self, wanted: str) -> str:
        name, n = (f"{wanted}_" if wanted in RESERVED else wanted), 0
        while name in self.taken:
            n += 1
            name = f"{wanted}_{n}"
        self.taken.add(name)
        return name

    def var(self, v: ir.Var) -> str:
        if v not in self.names:
            self.names[v] = self.unique(v.name)
        return self.names[v]

    def array(self, a: ir.Array) -> str:
        self.references.arrays.setdefault(a.path, a)
        return flat(a.path)

    def extent(self, a: ir.Array, axis: int) -> str:
        self.references.extents.setdefault((a.path, axis), a)
        return f"{flat(a.path)}_extent{axis}"

    def scalar(self, p: ir.Param) -> str:
        self.references.scalars.setdefault(p.path, p)
        return flat(p.path)

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
                return constant(e), 100 if _plain(e) else 90
            case ir.Var():
                return self.var(e), 100
            case ir.Param():
                return self.scalar(e), 100
            case ir.Extent(array=a, axis=axis):
                return self.extent(a, axis), 100
            case ir.Element():
                return self.element(e), 100
            case ir.Unary(op=op, operand=x):
                if op == "-" and e.type.is_integer and not e.type.weak:
                    return f"ev::negate_wrapping({self.typed(x)})", 100
                return f"{'!' if op == 'not' else op}{self.operand(x, 91)}", 90
            case ir.Binary():
                return self.binary(e)
            case ir.Compare(op=op, left=a, right=b):
                binds = _BINDS[op]
                return f"{self.operand(a, binds + 1)} {op} {self.operand(b, binds + 1)}", binds
            case ir.Logic(op=op, left=a, right=b):
                c = "&&" if op == "and" else "||"
                # Parentheses around && in ||: C++ does not ask for them, readers do.
                return f"{self.operand(a, 46)} {c} {self.operand(b, 46)}", _BINDS[c]
            case ir.Select(condition=c, then=a, otherwise=b):
                return f"{self.operand(c, 11)} ? {self.operand(a, 11)} : {self.operand(b, 11)}", 10
            case ir.Cast(operand=x, type=t):
                return self.cast(x, t)
            case ir.Call():
                return self.call(e), 100
            case ir.Processor():
                return processor_name(e), 100
        raise AssertionError(e)

    def element(self, e: ir.Element) -> str:
        if e in self.loaded:
            return self.loaded[e]
        index = self.index(e.array, e.indices)
        if e.once and self.streaming and e.array.path not in self.written:
            return f"{self.array(e.array)}.once({index})"
        if e.array.path in self.meeting:
            return f"ev::atomic_load(&{self.array(e.array)}[{index}])"
        return f"{self.array(e.array)}[{index}]"

    def index(self, a: ir.Array, indices: tuple[ir.Expr, ...]) -> str:
        """The flat index of an element, rows after rows."""
        if len(indices) == 1:
            return self.expr(indices[0])
        text = f"(long long){self.operand(indices[0], 90)}"
        for axis, i in enumerate(indices[1:], 1):
            text = f"{text} * {self.extent(a, axis)} + {self.operand(i, 71)}"
            if axis + 1 < len(indices):
                text = f"({text})"
        return text

    def binary(self, e: ir.Binary) -> tuple[str, int]:
        op, a, b, t = e.op, e.left, e.right, e.type
        if op in ("//", "%"):
            power = _power_of_two(b) if t.is_integer else None
            if power is not None:
                return (
                    (f"{self.operand(a, 90)} >> {power}", 60)
                    if op == "//"
                    else (f"{self.operand(a, 90)} & {2**power - 1}", 40)
                )
            return (
                f"ev::floor_{'div' if op == '//' else 'mod'}({self.typed(a)}, {self.typed(b)})",
                100,
            )
        if op == "<<" or (op in _WRAPPING and t.is_integer and not t.weak):
            return f"{_WRAPPING[op]}({self.typed(a)}, {self.typed(b)})", 100
        binds = _BINDS[op]
        return f"{self.operand(a, binds)} {op} {self.operand(b, binds + 1)}", binds

    def typed(self, e: ir.Expr) -> str:
        """`e` where overloads are told apart by the exact type: a bare literal would be an int."""
        return (
            f"({ctype(e.type)}){self.operand(e, 90)}"
            if isinstance(e, ir.Const) and e.type.is_integer
            else self.expr(e)
        )

    def cast(self, x: ir.Expr, t: Scalar) -> tuple[str, int]:
        if self.held(x.type) == self.held(t):
            return self._expr(x)
        if t.is_bool:
            return f"{self.operand(x, 46)} != 0", 45
        return f"({ctype(t)}){self.operand(x, 90)}", 90

    def held(self, t: Scalar) -> str:
        """The machine type behind a scalar type."""
        return ("long long" if self.wide else "int") if t is POS else ctype(t)

    def call(self, e: ir.Call) -> str:
        entry = BY_NAME[e.name]
        arguments = ", ".join(self.typed(a) for a in e.arguments)
        text = f"{entry.cuda}({arguments})"
        return f"(long long){text}" if entry.kind == "to_int" else text


def _plain(c: ir.Const) -> bool:
    return c.type.is_complex or not (c.value < 0 or math.copysign(1.0, c.value) < 0)


def _power_of_two(e: ir.Expr) -> int | None:
    if isinstance(e, ir.Const) and e.value > 0 and int(e.value) & (int(e.value) - 1) == 0:
        return int(e.value).bit_length() - 1
    return None


def constant(c: ir.Const) -> str:
    """A literal of exactly the constant's type."""
    if c.type.is_bool:
        return "true" if c.value else "false"
    if c.type.is_complex:
        parts = (ir.Const(x, real_of(c.type)) for x in (c.value.real, c.value.imag))
        return f"{ctype(c.type)}({', '.join(map(constant, parts))})"
    if c.type.is_float:
        name = ctype(c.type)
        if math.isnan(c.value):
            return f"ev::not_a_number<{name}>()"
        if math.isinf(c.value):
            return f"ev::{'highest' if c.value > 0 else 'lowest'}<{name}>()"
        return f"{float(c.value)!r}{'f' if name == 'float' else ''}"
    value, limits = int(c.value), np.iinfo(c.type.dtype)
    if value in (limits.min, limits.max):  # the first has no literal, and of `pos` neither has one
        return f"ev::{'highest' if value > 0 else 'lowest'}<{ctype(c.type)}>()"
    return f"{value}LL" if not -(2**31) < value < 2**31 else str(value)


def processor_name(e: ir.Processor) -> str:
    """The variable in which a kernel holds what its schedule asks: thread_index, group_rank_8, ..."""
    return f"{e.what}_{e.size}" if e.what.startswith("group") else e.what
