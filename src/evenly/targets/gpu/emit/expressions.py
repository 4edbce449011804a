"""Print expressions as CUDA C++, and record which arguments a kernel refers to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from evenly.language import ir
from evenly.language.intrinsics import BY_NAME
from evenly.language.types import POS, WEAK_INT, Scalar
from evenly.targets.printing.expressions import ATOM, Expressions, Indexed, Syntax
from evenly.targets.printing.names import Names, joined

_TYPES = {
    "bool": "bool",
    "int8": "ev::int8",
    "int16": "ev::int16",
    "int32": "int",
    "int64": "long long",
    "uint8": "ev::uint8",
    "uint16": "ev::uint16",
    "uint32": "unsigned",
    "uint64": "unsigned long long",
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

_BINDS = {
    "unary": 90,
    "not": 90,
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
    "and": 25,
    "or": 20,
    "select": 10,
}
_CAST = _BINDS["unary"]

# Integers wrap, except positions, which never overflow. A negative number may be shifted to the left.
_FLOOR = {"//": "ev::floor_div", "%": "ev::floor_mod"}
_WHOLE = {**_FLOOR, "<<": "ev::shift_left"}
_WRAPPING = {
    **_WHOLE,
    "+": "ev::add_wrapping",
    "-": "ev::sub_wrapping",
    "*": "ev::mul_wrapping",
    "negate": "ev::negate_wrapping",
}
_NARROW = ("int8", "int16", "uint8", "uint16")  # C++ computes these as int
_FUNCTIONS = {
    "index": _WHOLE,
    **dict.fromkeys((*_NARROW, "int32", "int64", "int"), _WRAPPING),
    **dict.fromkeys(("uint32", "uint64"), _FLOOR),  # C++'s own operators wrap
    **dict.fromkeys(("float32", "float64", "float"), _FLOOR),
}


def ctype(t: Scalar) -> str:
    """Return the C++ type that holds a scalar. Each kernel defines `pos` itself."""
    return _TYPES[t.name]


def string(text: str) -> str:
    """Return a C++ string literal, with plain characters and octal escapes."""
    plain = (
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode()
    )
    return f'"{"".join(plain)}"'


class TooNarrow(Exception):
    """Raised for a program with a constant position that does not fit into 32 bits."""


@dataclass
class References:
    """The arguments that a kernel's code refers to, in the order of first use. They become its parameters."""

    arrays: dict[ir.Path, ir.Array] = field(default_factory=dict)
    scalars: dict[ir.Path, ir.Param] = field(default_factory=dict)
    extents: dict[tuple[ir.Path, int], ir.Array] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    def include(self, other: References) -> None:
        """Refer to what `other` refers to, too."""
        self.arrays |= {k: v for k, v in other.arrays.items() if k not in self.arrays}
        self.scalars |= {k: v for k, v in other.scalars.items() if k not in self.scalars}
        self.extents |= {k: v for k, v in other.extents.items() if k not in self.extents}

    def name(self, path: ir.Path, axis: int | None = None) -> str:
        """Return the name of an argument, or of the length of one of its axes."""
        wanted = joined(path) if axis is None else f"{joined(path)}_extent{axis}"
        return self.names.argument((path, axis), wanted)


@dataclass
class Text(Expressions):
    """Emits expressions for one kernel.

    written: the arrays that the program stores into. They must not be read through the read-only cache.
    streaming: whether elements that are read once bypass the cache (in engines that split tiles).
    contended: the arrays that are read and stored atomically (see contended.py).
    loaded: the elements that a variable already holds. lanes: the variables of lanes, which engines hold as positions.
    staged: the views of arrays of which a part is in shared memory. rows: lengths of axes that a variable holds for
    indices.
    """

    syntax = Syntax(
        binds=_BINDS,
        spelled={"not": "!", "and": "&&", "or": "||", "True": "true", "False": "false"},
        select="{c} ? {a} : {b}",
        logical=46,
        complex="{t}",
        mixed="ev::{f}",
        functions=_FUNCTIONS,
    )

    wide: bool
    written: frozenset[ir.Path]
    streaming: bool = False
    contended: frozenset[ir.Path] = frozenset()
    references: References = field(default_factory=References)
    names: Names = field(default_factory=Names)
    loaded: dict[ir.Element, str] = field(default_factory=dict)
    lanes: dict[ir.Expr, str] = field(default_factory=dict)
    staged: dict[ir.Array, str] = field(default_factory=dict)
    rows: dict[tuple[ir.Path, int], str] = field(default_factory=dict)

    def child(self) -> Text:
        """Return a printer for another function of this kernel, with its own local names and the same references."""
        made = Text(self.wide, self.written, self.streaming, self.contended, self.references)
        made.staged = self.staged
        return made

    def apart(self) -> Text:
        """Return a printer for a struct of this kernel, which has members for what its code refers to."""
        made = self.child()
        made.references = References(names=self.references.names)
        return made

    # ---- names -----------------------------------------------------------------------------
    def unique(self, wanted: str) -> str:
        """Return a new name for a variable of the emitter."""
        return self.names.unique(wanted)

    def on_lane(self, v: ir.Var, name: str = "lane") -> None:
        """Let `v` be the lane that an engine runs: as an index it is a position, elsewhere a weak integer."""
        self.lanes[v], self.names[v] = name, name if self.wide else f"(long long){name}"

    def array(self, a: ir.Array) -> str:
        if a in self.staged:
            return self.staged[a]
        self.references.arrays.setdefault(a.path, a)
        return self.references.name(a.path)

    def extent(self, a: ir.Array, axis: int) -> str:
        self.references.extents.setdefault((a.path, axis), a)
        return self.references.name(a.path, axis)

    def row_length(self, a: ir.Array, axis: int) -> str:
        return self.rows.get((a.path, axis)) or self.extent(a, axis)

    def param(self, p: ir.Param) -> str:
        self.references.scalars.setdefault(p.path, p)
        return self.references.name(p.path)

    def within(self, e: ir.Within) -> tuple[str, int]:
        length = e.length if isinstance(e.length, int) else self.expr(ir.Cast(e.length, WEAK_INT))
        return f"ev::within({self.expr(e.index)}, {length})", ATOM

    def processor(self, e: ir.Processor) -> tuple[str, int]:
        return processor_name(e), ATOM

    def peer(self, e: ir.Peer) -> tuple[str, int]:
        return f"ev::peer<{e.size}>({self.var(e.of)}, {self.expr(e.index)})", ATOM

    # ---- values ------------------------------------------------------------------------------
    def machine(self, t: Scalar) -> str:
        return ("long long" if self.wide else "int") if t is POS else ctype(t)

    def float_literal(self, c: ir.Const) -> str:
        name = ctype(c.type)
        if math.isnan(c.value):
            return f"ev::not_a_number<{name}>()"
        if math.isinf(c.value):
            return f"ev::{'highest' if c.value > 0 else 'lowest'}<{name}>()"
        return f"{float(c.value)!r}{'f' if name == 'float' else ''}"

    def integer_literal(self, c: ir.Const) -> str:
        value, limits = int(c.value), np.iinfo(c.type.dtype)
        if c.type.name in _NARROW:
            return f"{ctype(c.type)}({value})"
        if c.type.is_unsigned:
            return f"{value}{'u' if c.type.bits == 32 else 'ULL'}"
        if value in (limits.min, limits.max):  # the lowest has no literal; for `pos`, neither has
            return f"ev::{'highest' if value > 0 else 'lowest'}<{ctype(c.type)}>()"
        wide = self.machine(c.type) == "long long"
        if not wide and not -(2**31) < value < 2**31:
            raise TooNarrow(value)
        return f"{value}{'LL' if wide else ''}"

    def element(self, e: ir.Element) -> tuple[str, int]:
        if e in self.loaded:
            return self.loaded[e], ATOM
        index, array = self.index(e), self.array(e.array)
        if e.once and self.streaming and e.array.path not in self.written:
            return f"{array}.once({index})", ATOM
        if e.array.path in self.contended:
            return f"ev::atomic_load(&{array}[{index}])", ATOM
        return f"{array}[{index}]", ATOM

    def index_on(self, e: Indexed, axis: int) -> str:
        i, binds = e.indices[axis], 71 if axis else _CAST
        if len(e.indices) == 1:
            binds = 0
        text = self.lanes.get(i) or self.operand(i, binds)
        return f"(long long){text}" if binds == _CAST else text

    # ---- operations ----------------------------------------------------------------------------
    def binary(self, e: ir.Binary) -> tuple[str, int]:
        power = _power_of_two(e.right) if e.type.is_integer else None
        if e.op == "//" and power is not None:
            return self.converted(f"{self.operand(e.left, 60)} >> {power}", 60, e.type)
        if e.op == "%" and power is not None:
            mask = self.expr(ir.Const(2**power - 1, e.type))
            return self.converted(f"{self.operand(e.left, 41)} & {mask}", 40, e.type)
        return super().binary(e)

    def converted(self, text: str, binds: int, t: Scalar) -> tuple[str, int]:
        """Convert to bool and to types of 8 and 16 bits, since C++ combines them to ints."""
        is_int = t.is_bool or t.name in _NARROW
        return (f"({ctype(t)})({text})", _CAST) if is_int else (text, binds)

    def cast(self, x: ir.Expr, t: Scalar) -> tuple[str, int]:
        return f"({ctype(t)}){self.operand(x, _CAST)}", _CAST

    def call(self, e: ir.Call) -> tuple[str, int]:
        entry = BY_NAME[e.name]
        text, binds = self.call_of(entry.cuda, *e.arguments)
        given = {"int": "long long", "bool": "bool"}.get(entry.gives)
        return (f"({given}){text}", _CAST) if given else (text, binds)


def _power_of_two(e: ir.Expr) -> int | None:
    if isinstance(e, ir.Const) and e.value > 0 and int(e.value) & (int(e.value) - 1) == 0:
        return int(e.value).bit_length() - 1
    return None


def processor_name(e: ir.Processor) -> str:
    """Return the variable that holds what a schedule asks of its processor: thread_index, group_rank_8, ..."""
    return f"{e.what}_{e.size}" if e.what.startswith("group") else e.what
