"""The operators whose meaning in a kernel is not quite bare Python's.

Python raises where a float is divided by zero, and has integers and complex
numbers without end where machines have neither. The rest (`+ - * & | ^ ~`) needs no
help: on NumPy's scalars it has the language's types already, and on Python's own
numbers it is what "weak" means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .failures import BadValue


def is_weak(x: Any) -> bool:
    """Python's own int, float and complex: literals, ids, range variables, lengths."""
    return type(x) is int or type(x) is float or type(x) is complex


def is_whole(x: Any) -> bool:
    """An integer or a truth value."""
    return isinstance(x, int | np.integer | np.bool_)


def truth(x: Any) -> np.bool_:
    """What a comparison gives: a typed truth value (bool + int is int64, as in NumPy)."""
    return np.bool_(x)


def divide(a: Any, b: Any) -> Any:
    """`a / b`: inf or nan where b is zero, for weak numbers as for typed ones."""
    if is_weak(a) and is_weak(b):
        if complex in (type(a), type(b)):
            return complex(np.complex128(a) / np.complex128(b))
        return float(np.float64(a) / np.float64(b))
    return a / b


def floor_divide(a: Any, b: Any) -> Any:
    """`a // b`, rounded down; integers raise on zero, floats do not."""
    return _floored(a, b, lambda x, y: x // y)


def remainder(a: Any, b: Any) -> Any:
    """`a % b`, with the sign of b; integers raise on zero, floats give nan."""
    return _floored(a, b, lambda x, y: x % y)


def _floored(a: Any, b: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if is_whole(a) and is_whole(b):
        if b == 0:
            raise ZeroDivisionError
        return operation(a, b)
    if is_weak(a) and is_weak(b):
        return float(operation(np.float64(a), np.float64(b)))
    return operation(a, b)


def power(a: Any, b: Any) -> Any:
    """`a ** b`: nan where Python would give a complex number, inf where it would overflow."""
    if is_weak(a) and is_weak(b) and float in (type(a), type(b)):
        return float(np.float64(a) ** np.float64(b))
    return a**b


def shift_left(a: Any, b: Any) -> Any:
    """`a << b` for b in 0..bits-1; bits that leave the word are lost."""
    return a << _count(a, b)


def shift_right(a: Any, b: Any) -> Any:
    """`a >> b` for b in 0..bits-1, keeping the sign."""
    return a >> _count(a, b)


def _count(a: Any, b: Any) -> Any:
    bits = 64 if is_weak(a) and is_weak(b) else 8 * np.result_type(a, b).itemsize
    if not 0 <= b < bits:
        raise BadValue("shift count", expected=f"0..{bits - 1}", given=str(b))
    return b


def update(array: Any, index: Any, operation: Callable[[Any, Any], Any], value: Any) -> None:
    """`array[index] op= value` for the operators above."""
    array[index] = operation(array[index], value)
