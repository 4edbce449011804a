"""Integers that are known before the launch, because the host can compute them from arguments and lengths."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import ir, walk
from .intrinsics import BY_NAME
from .operators import OPERATORS
from .types import wrapped

_BINARY = ("+", "-", "*", "//", "%")


def known_beforehand(e: ir.Expr) -> bool:
    """Whether `value_of` can compute an expression. It may only divide by literals."""
    return e.type.is_integer and _known(e)


def _known(e: ir.Expr) -> bool:
    if not (e.type.is_integer or e.type.is_bool):
        return False
    match e:
        case ir.Const() | ir.Param() | ir.Extent():
            return True
        case ir.Binary(op="//" | "%", right=right):
            if not isinstance(right, ir.Const) or right.value == 0:
                return False
        case ir.Binary(op=op):
            if op not in _BINARY:
                return False
        case ir.Unary(op=op):
            if op != "-":
                return False
        case ir.Call(name=name):
            if not BY_NAME[name].on_host:
                return False
        case ir.Cast() | ir.Compare() | ir.Select():
            pass
        case _:
            return False
    return all(map(_known, walk.parts(e)))


def value_of(
    e: ir.Expr, scalar: Callable[[ir.Path], Any], extent: Callable[[Any, int], int]
) -> int:
    """Compute such an expression. scalar, extent: return the argument at a path, and the length of an array's axis."""
    return int(_value(scalar, extent, e))


# Functions of their own: closures that call each other would keep the arguments until garbage is collected.


def _value(scalar: Callable[[ir.Path], Any], extent: Callable[[Any, int], int], e: ir.Expr) -> Any:
    found = _computed(scalar, extent, e)
    return wrapped(int(found), e.type) if e.type.is_integer else found


def _computed(
    scalar: Callable[[ir.Path], Any], extent: Callable[[Any, int], int], e: ir.Expr
) -> Any:
    value = functools.partial(_value, scalar, extent)
    match e:
        case ir.Const(value=given):
            return int(given)
        case ir.Param(path=path):
            return int(scalar(path))
        case ir.Extent(array=array, axis=axis):
            return extent(array.path, axis)
        case ir.Cast(operand=x):
            return value(x)
        case ir.Unary(operand=x):
            return -value(x)
        case ir.Binary(op=op, left=a, right=b) | ir.Compare(op=op, left=a, right=b):
            return OPERATORS[op](value(a), value(b))
        case ir.Select(condition=c, then=a, otherwise=b):
            return value(a if value(c) else b)
        case ir.Call(name=name, arguments=arguments):
            function = BY_NAME[name].function
            assert function is not None
            return function(*map(value, arguments))
    raise AssertionError(e)
