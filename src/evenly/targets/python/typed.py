"""Numbers with the language's types: NumPy's scalars, and Python's own numbers, which are weak.

np.float64 is a subclass of float, and np.complex128 one of complex. So Python may itself compute an
operation with a weak number (`1j + np.float64(2)` is a complex). To prevent that, operands are first
converted to the common type in the language's table.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from evenly.interop.narrow import widened, widened_half
from evenly.language import types as T

from .failures import BadValue

_WEAK = {int: T.WEAK_INT, float: T.WEAK_FLOAT, complex: T.WEAK_COMPLEX}
_WHOLE = int, np.integer, np.bool_
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1  # of the integers that 64 bits hold


def is_weak(x: Any) -> bool:
    """Whether `x` is Python's own int, float or complex: a literal, an id, a range variable, a length."""
    return type(x) in _WEAK


def is_whole(x: Any) -> bool:
    """Whether `x` is an integer or a truth value."""
    return isinstance(x, _WHOLE)


def is_number(x: Any) -> bool:
    return isinstance(x, np.generic) or is_weak(x)


def type_of(cls: type) -> T.Scalar:
    """Return the language's type for a class of numbers."""
    found = _WEAK.get(cls) or T.DATA_TYPES.get(np.dtype(cls).name)
    if found is None:
        raise TypeError(f"{cls.__name__} is no number of the kernel language")
    return found


@functools.cache
def common_type(*classes: type) -> T.Scalar:
    """Return the common type of numbers of these classes."""
    return functools.reduce(T.promote, map(type_of, classes))


def together(*numbers: Any) -> tuple[list[Any], Callable[[Any], Any]]:
    """Convert two numbers (or one) to their common type. Also return what makes a result weak if they are."""
    t = common_type(*map(type, numbers))
    return [as_type(x, t) for x in numbers], weakly if t.weak else _as_it_is


def _as_it_is(x: Any) -> Any:
    return x


def weakly(x: Any) -> Any:
    """Convert a NumPy scalar to a weak number."""
    return x.item()


_CLASSES: dict[str, type] = {}  # NumPy's classes, by the names of types


def as_type(x: Any, t: T.Scalar) -> Any:
    """Convert `x` as a target does. An integer keeps its low bits, and a float is rounded once."""
    cls = _CLASSES.get(t.name)
    if cls is None:
        cls = _CLASSES[t.name] = t.dtype.type
    if type(x) is cls:
        return x
    dtype = t.dtype
    if dtype.kind in "iu":
        return wrapped(x, dtype)
    return np.asarray(x).astype(dtype)[()]


def wrapped(value: Any, dtype: np.dtype) -> Any:
    """Convert an integer or truth value to an integer type, keeping its low bits."""
    value = int(value)
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    negative = dtype.kind == "i" and value >> (bits - 1)
    return dtype.type(value - (1 << bits) if negative else value)


def truncated(x: Any, dtype: np.dtype) -> Any:
    """Convert a number to an integer, rounding towards zero. Raises BadValue for a float that does not fit."""
    if is_whole(x):
        return wrapped(x, dtype)
    whole, limits = int(x), np.iinfo(dtype)
    if not limits.min <= whole <= limits.max:
        raise BadValue(f"a conversion to {dtype}", expected="a number that fits", given=str(x))
    return dtype.type(whole)


def element_value(value: Any) -> Any:
    """Return a NumPy scalar in the type in which kernels compute: a float of 16 bits becomes a float32."""
    if isinstance(value, np.float16):
        return widened_half(value)
    return widened(value) if T.from_dtype(value.dtype) is T.BFLOAT16 else value
