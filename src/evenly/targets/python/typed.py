"""Numbers as the language types them: NumPy's scalars, and Python's own, which are weak.

To Python an np.float64 is a float and an np.complex128 a complex, so beside a weak number
it may answer with a number of its own (`1j + np.float64(2)` is a complex). Nothing is left
to it: operands are brought to the type that the language's table has for the two first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from evenly.interop.narrow import widened
from evenly.language import types as T

from .failures import BadValue

_WEAK = {int: T.WEAK_INT, float: T.WEAK_FLOAT, complex: T.WEAK_COMPLEX}


def is_weak(x: Any) -> bool:
    """Python's own int, float and complex: literals, ids, range variables, lengths."""
    return type(x) in _WEAK


def is_whole(x: Any) -> bool:
    """An integer or a truth value."""
    return isinstance(x, int | np.integer | np.bool_)


def is_number(x: Any) -> bool:
    return isinstance(x, np.generic) or is_weak(x)


def type_of(cls: type) -> T.Scalar:
    """The type of a number by its class."""
    found = _WEAK.get(cls) or T.DATA_TYPES.get(np.dtype(cls).name)
    if found is None:
        raise TypeError(f"{cls.__name__} is no number of the kernel language")
    return found


@functools.cache
def common_type(*classes: type) -> T.Scalar:
    """The type that numbers of these classes share."""
    return functools.reduce(T.promote, map(type_of, classes))


def together(*numbers: Any) -> tuple[list[Any], Callable[[Any], Any]]:
    """Two numbers (or one) in the type that they share; and what makes a result weak again where they are."""
    t = common_type(*map(type, numbers))
    return [as_type(x, t) for x in numbers], weakly if t.weak else _as_it_is


def _as_it_is(x: Any) -> Any:
    return x


def weakly(x: Any) -> Any:
    """A NumPy scalar as the weak number of its kind."""
    return x.item()


_CLASSES: dict[str, type] = {}  # NumPy's, by the names of types


def as_type(x: Any, t: T.Scalar) -> Any:
    """`x` converted as a target does it: an integer keeps its low bits, a float is rounded once."""
    cls = _CLASSES.get(t.name)
    if cls is None:
        cls = _CLASSES[t.name] = t.dtype.type
    if type(x) is cls:
        return x
    dtype = t.dtype
    if dtype.kind == "i":
        return wrapped(x, dtype)
    return np.asarray(x).astype(dtype)[()]


def wrapped(value: Any, dtype: np.dtype) -> Any:
    """The integer (or truth value) `value` in an integer type: its low bits."""
    value = int(value)
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return dtype.type(value - (1 << bits) if value >> (bits - 1) else value)


def truncated(x: Any, dtype: np.dtype) -> Any:
    """A number as an integer, towards zero. A float that the type does not reach has none."""
    if is_whole(x):
        return wrapped(x, dtype)
    whole, limits = int(x), np.iinfo(dtype)
    if not limits.min <= whole <= limits.max:
        raise BadValue(f"a conversion to {dtype}", expected="a number that fits", given=str(x))
    return dtype.type(whole)


def element_value(value: Any) -> Any:
    """A NumPy scalar as kernels compute with it: a float of 16 bits as a float32."""
    if isinstance(value, np.float16):
        return np.float32(value)
    return widened(value) if T.from_dtype(value.dtype) is T.BFLOAT16 else value
