"""Typed arithmetic: conversions, operators and comparisons, with constant folding."""

from __future__ import annotations

import functools
import math
from typing import Any, TypeVar

import numpy as np

from .. import ir
from ..diagnostics import Location, refuse
from ..intrinsics import BY_NAME, Intrinsic
from ..operators import OPERATORS
from ..types import (
    BOOL,
    FLOAT64,
    INT32,
    INT64,
    POS,
    UINT64,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Scalar,
    promote,
    quotient,
    read_as,
    strong,
    wrapped,
)

E = TypeVar("E", bound=ir.Expr)

_LITERALS = {bool: BOOL, int: WEAK_INT, float: WEAK_FLOAT, complex: WEAK_COMPLEX}


def constant(value: bool | int | float | complex) -> ir.Const:
    """Make a constant of a literal, or of an outside number of Python's types: weak, and never of a subclass."""
    cls: Any
    cls, t = next((cls, t) for cls, t in _LITERALS.items() if isinstance(value, cls))
    return ir.Const(value if cls is bool else cls.__pos__(value), t)


def cast(e: ir.Expr, to: Scalar) -> ir.Expr:
    """Convert `e` to the type `to`. Constants are converted at once."""
    if e.type == to:
        return e
    if read_as(to) != to:  # held in 16 bits: only floats are rounded to that
        return _moved(e, to) or ir.Cast(e if e.type.is_float else cast(e, FLOAT64), to)
    if isinstance(e, ir.Const) and not _lossy(e, to):
        value = (
            bool(e.value)
            if to.is_bool
            else _rounded(e.value, to)
            if to.is_inexact
            else wrapped(int(e.value), to)
        )
        return ir.Const(value, to)
    return ir.Cast(e, to)


def _moved(e: ir.Expr, to: Scalar) -> ir.Expr | None:
    """Return the element of 16 bits that `e` was read from, if its type is `to`: it keeps its bits, a NaN's, too."""
    match e:
        case ir.Cast(operand=x, type=t) if x.type == to and t == read_as(to):
            return x
        case ir.Select(condition=c, then=a, otherwise=b) if _moved(a, to) or _moved(b, to):
            return ir.Select(c, cast(a, to), cast(b, to), to)
    return None


def _lossy(e: ir.Const, to: Scalar) -> bool:
    """Whether Python has no such conversion: an infinity to an integer, a complex number to a real one.

    A reduction requests the latter before it knows its type, in code that is discarded.
    """
    if e.type.is_complex:
        return not (to.is_complex or to.is_bool)
    return e.type.is_float and to.is_integer and not math.isfinite(e.value)


def _rounded(value: bool | int | float | complex, to: Scalar) -> float | complex:
    """Return the nearest number of a float or complex type, rounded once."""
    with np.errstate(over="ignore"):
        rounded: float | complex = np.array(value).astype(to.dtype).item()
        return rounded


def fits(value: int, t: Scalar) -> bool:
    """Whether the integer type `t` holds a value."""
    limits = np.iinfo(t.dtype)
    return int(limits.min) <= value <= int(limits.max)


def in_range(e: E, t: Scalar, at: Location) -> E:
    """Return `e`, after checking that an integer constant fits into `t`."""
    if not (isinstance(e, ir.Const) and e.type.weak and e.type.is_integer and t.is_integer):
        return e
    if not fits(e.value, t):
        said = str(e.value) if abs(e.value) < 10**40 else "the result"
        refuse(at, f"{said} does not fit into {strong(t)}", _wider(e.value, t))
    return e


def of_64_bits(e: E, at: Location) -> E:
    """Return `e`, after checking that 64 bits hold an integer constant: as an int64, or beside a uint64."""
    large = isinstance(e, ir.Const) and e.type.is_integer and fits(e.value, UINT64)
    return in_range(e, UINT64 if large else INT64, at)


def _wider(value: int, t: Scalar) -> str:
    """Return the hint for a constant that does not fit into `t`."""
    if t.bits < 64 and fits(value, INT64):
        return "write np.int64(x) for 64 bits"
    if fits(value, UINT64):
        return "write np.uint64(x) for unsigned 64 bits"
    if t == UINT64 and fits(value, INT64):
        return "it has no negative numbers: write np.int64(x) for signed 64 bits"
    return "floats go further: 2.0 ** 64"


def fitted(e: ir.Expr, t: Scalar, at: Location) -> ir.Expr:
    """Convert `e` to `t`, the type that it shares with others. A constant that does not fit is refused, not wrapped."""
    return cast(in_range(e, t, at), t)


def truth(e: ir.Expr) -> ir.Expr:
    """Return `e` as a condition: numbers are true if they are not zero."""
    if e.type.is_bool:
        return e
    if isinstance(e, ir.Const):
        return ir.Const(bool(e.value), BOOL)
    return ir.Compare("!=", e, cast(constant(0), e.type))


def negate(e: ir.Expr) -> ir.Expr:
    if isinstance(e, ir.Const):
        return ir.Const(not e.value, BOOL)
    return ir.Unary("not", e, BOOL)


def unary(op: str, e: ir.Expr, at: Location) -> ir.Expr:
    if op == "not":
        return negate(truth(e))
    if e.type.is_bool:
        refuse(at, f"'{op}' of a truth value", "write `not x`, or int(x)")
    if op == "+":
        return e
    if op == "~" and not e.type.is_integer:
        refuse(at, f"'~' needs an integer, got {e.type.spoken}")
    if isinstance(e, ir.Const):
        value = -e.value if op == "-" else ~int(e.value)
        strong_integer = e.type.is_integer and not e.type.weak
        made = ir.Const(wrapped(int(value), e.type) if strong_integer else value, e.type)
        return of_64_bits(made, at)
    if e.type is POS:
        e = cast(e, WEAK_INT)
    return ir.Unary(op, e, e.type)


def binary(op: str, a: ir.Expr, b: ir.Expr, at: Location, positions: bool = False) -> ir.Expr:
    """Return `a op b` with Python's meaning and NumPy's types."""
    if op in ("//", "%", "**"):
        real(a, f"'{op}'", at)
        real(b, f"'{op}'", at)
    if op in ("&", "|", "^", "<<", ">>"):
        _whole(op, a, b, at)
    folded = _fold(op, a, b, at)
    if folded is not None:
        return folded
    if op in ("&", "|", "^", "<<", ">>"):
        return _bitwise(op, a, b, at, positions)
    if a.type.is_bool and b.type.is_bool:
        refuse(at, f"'{op}' of two truth values", "convert one: int(a) + int(b)")
    if op == "**":
        return _power(a, b, at)
    t = quotient(a.type, b.type) if op == "/" else promote(a.type, b.type)
    t = _width(t, positions)
    if op in ("//", "%") and t.is_integer and isinstance(b, ir.Const) and b.value == 0:
        refuse(at, "division by zero")
    return ir.Binary(op, fitted(a, t, at), fitted(b, t, at), t, at)


def _width(t: Scalar, positions: bool) -> Scalar:
    """Return the type of arithmetic on ids: 64 bits wide in kernels, as wide as positions in layouts and schedules."""
    if positions and t.weak and t.is_integer:
        return POS
    return WEAK_INT if t is POS else t


def _fold(op: str, a: ir.Expr, b: ir.Expr, at: Location) -> ir.Const | None:
    """Compute the result for two weak constants as Python does."""
    if not (isinstance(a, ir.Const) and isinstance(b, ir.Const)):
        return None
    if not (a.type.weak and b.type.weak):
        return None
    if _is_huge(op, a.value, b.value):
        refuse(at, "the result does not fit into int64", "floats go further: 2.0 ** 64")
    # The target would refuse these at run time, or have its own result.
    if op == "**" and promote(a.type, b.type).is_integer:
        _exponent(b, at)
    if op in ("<<", ">>"):
        _count(b, WEAK_INT, at)
    try:
        value = OPERATORS[op](a.value, b.value)
    except ZeroDivisionError:
        refuse(at, "division by zero")
    except OverflowError:
        return None  # a power beyond the floats is inf, at run time as well
    if op == "**" and isinstance(value, complex):
        return None
    return of_64_bits(constant(value), at)


def _is_huge(op: str, a: int | float | complex, b: int | float | complex) -> bool:
    """Whether an integer result is so large that it must not even be computed."""
    grows = (op == "<<" and a != 0) or (op == "**" and abs(a) > 1)
    return grows and isinstance(a, int) and isinstance(b, int) and b > 63


def _whole(op: str, a: ir.Expr, b: ir.Expr, at: Location) -> None:
    for x in (a, b):
        if x.type.is_inexact:
            refuse(at, f"'{op}' needs integers or truth values, got {x.type.spoken}")
    if op in ("<<", ">>") and isinstance(a, ir.Const) and isinstance(b, ir.Const) and b.value < 0:
        refuse(at, f"a shift by {b.value}", "shift the other way")


def _count(b: ir.Expr, t: Scalar, at: Location) -> None:
    """Refuse to shift a number of type `t` by a constant that is negative or not less than its number of bits."""
    if isinstance(b, ir.Const) and not 0 <= b.value < t.bits:
        refuse(at, f"a shift by {b.value}", f"{strong(t)} has {t.bits} bits: shift by less")


def _bitwise(op: str, a: ir.Expr, b: ir.Expr, at: Location, positions: bool) -> ir.Expr:
    if a.type.is_bool and b.type.is_bool:
        if op in ("<<", ">>"):
            refuse(at, f"'{op}' of two truth values")
        return ir.Binary(op, a, b, BOOL, at)
    t = _width(promote(a.type, b.type), positions)
    if not t.is_integer:
        refuse(
            at,
            f"'{op}' of {a.type.spoken} and {b.type.spoken}: no integer type holds both",
            "convert one: np.uint64(x) or np.int64(x)",
        )
    if op in ("<<", ">>"):
        _count(b, t, at)
    return ir.Binary(op, fitted(a, t, at), fitted(b, t, at), t, at)


def intrinsic(name: str, arguments: list[ir.Expr], at: Location) -> ir.Expr:
    """Call the intrinsic `name` of the table, with its arguments converted to the type that it takes."""
    entry = BY_NAME[name]
    if len(arguments) != entry.arity:
        refuse(
            at,
            f"{entry.said} takes {entry.arity} argument{'s' * (entry.arity > 1)}, got {len(arguments)}",
        )
    if entry.counts:
        return _counted(entry, arguments, at)
    common = functools.reduce(promote, (a.type for a in arguments))
    if common.is_complex and entry.of_complex:
        return intrinsic(entry.of_complex, arguments, at)
    if entry.takes != "complex":
        for a in arguments:
            real(a, entry.said, at)
    if not entry.accepts(common):
        refuse(at, f"{entry.said} of {'a truth value' if common.is_bool else common.spoken}")
    t = entry.taken(common)
    return ir.Call(name, tuple(fitted(a, t, at) for a in arguments), entry.given(t))


def _counted(entry: Intrinsic, arguments: list[ir.Expr], at: Location) -> ir.Expr:
    """Call an intrinsic of an integer and a count, which is any integer and leaves the other's type as it is."""
    for x in arguments:
        if not x.type.is_integer:
            refuse(at, f"{entry.said} of {'a truth value' if x.type.is_bool else x.type.spoken}")
    x, count = arguments
    t = entry.taken(x.type)
    return ir.Call(entry.name, (fitted(x, t, at), cast(count, t)), entry.given(t))


def _power(a: ir.Expr, b: ir.Expr, at: Location) -> ir.Expr:
    t = promote(a.type, b.type)
    if t.is_float:
        if isinstance(b, ir.Const) and b.value == 2 and isinstance(a, ir.Var | ir.Const):
            return ir.Binary("*", cast(a, t), cast(a, t), t, at)
        return intrinsic("pow", [a, b], at)
    _exponent(b, at)
    return intrinsic("power_int", [a, b], at)


def _exponent(b: ir.Expr, at: Location) -> None:
    if not (isinstance(b, ir.Const) and b.value >= 0):
        refuse(
            at,
            "an integer power needs a literal exponent that is not negative",
            "make the base a float: float(x) ** y",
        )


def real(e: ir.Expr, what: str, at: Location) -> ir.Expr:
    """Return `e`, after checking that it is not complex. what: what is done with it, for the error."""
    if e.type.is_complex:
        refuse(at, f"{what} of {e.type.spoken}", "it takes real numbers: z.real, z.imag or abs(z)")
    return e


def compare(op: str, a: ir.Expr, b: ir.Expr, at: Location) -> ir.Expr:
    if op not in ("==", "!="):
        real(a, f"'{op}'", at)
        real(b, f"'{op}'", at)
    if isinstance(a, ir.Const) and isinstance(b, ir.Const):
        if a.type.is_inexact or b.type.is_inexact:
            t = promote(a.type, b.type)
            left, right = cast(a, t), cast(b, t)
            assert isinstance(left, ir.Const) and isinstance(right, ir.Const)
            a, b = left, right
        return ir.Const(bool(OPERATORS[op](a.value, b.value)), BOOL)
    if a.type != b.type:
        if a.type.is_integer and b.type.is_integer:
            # Compare exactly, as Python does with integers, in a type that holds both.
            a, b = _comparable(a, b, at)
        else:
            t = promote(a.type, b.type)
            t = FLOAT64 if t.is_float and {a.type.name, b.type.name} & {"int64"} else t
            a, b = cast(a, t), cast(b, t)
    return ir.Compare(op, a, b)


def _comparable(a: ir.Expr, b: ir.Expr, at: Location) -> tuple[ir.Expr, ir.Expr]:
    """Convert two integers to a type that holds both. A constant takes the other's type if that holds it.

    No type holds both a uint64 and a negative integer. These two stay apart, and targets compare them exactly.
    """
    for x, y in ((a, b), (b, a)):
        if (
            isinstance(x, ir.Const)
            and x.type.weak
            and fits(x.value, INT32)
            and fits(x.value, y.type)
        ):
            return cast(a, y.type), cast(b, y.type)
    if UINT64 not in (a.type, b.type):
        return cast(in_range(a, INT64, at), WEAK_INT), cast(in_range(b, INT64, at), WEAK_INT)
    return _beside_uint64(a), _beside_uint64(b)


def _beside_uint64(e: ir.Expr) -> ir.Expr:
    never_negative = e.type.is_unsigned or (isinstance(e, ir.Const) and e.value >= 0)
    return cast(e, UINT64 if never_negative else WEAK_INT)
