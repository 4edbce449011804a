"""The operators of the language, for the numbers of `typed`.

Python's own differ in more than types: dividing a float by zero raises, integers are unbounded (in the
language, weak integers have 64 bits), and a power of a negative number may be complex.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .failures import BadValue
from .typed import GREATEST, LEAST, is_weak, is_whole, together, weakly

Operation = Callable[[Any, Any], Any]


def _typed(operation: Operation) -> Operation:
    """Return `operation` on two numbers, which are first converted to their common type."""

    def apply(a: Any, b: Any) -> Any:
        (x, y), back = together(a, b)
        return back(operation(x, y))

    return apply


def _weakly_quick(operation: Operation) -> Operation:
    """Like `_typed`, but faster for Python's own integers: they give the same result if 64 bits hold all three."""
    typed = _typed(operation)

    def apply(a: Any, b: Any) -> Any:
        if type(a) is int and type(b) is int and LEAST <= a <= GREATEST and LEAST <= b <= GREATEST:
            result = operation(a, b)
            if LEAST <= result <= GREATEST:
                return result
        return typed(a, b)

    return apply


add, subtract = _weakly_quick(operator.add), _weakly_quick(operator.sub)
multiply = _weakly_quick(operator.mul)
bit_and, bit_or, bit_xor = _typed(operator.and_), _typed(operator.or_), _typed(operator.xor)


def truth(x: Any) -> np.bool_:
    """Return a typed truth value (bool + int is int64, as in NumPy)."""
    return np.bool_(x)


def divide(a: Any, b: Any) -> Any:
    """`a / b`. Integers are each converted to a float first. The result is inf or nan if b is zero."""
    if is_whole(a) and is_whole(b):
        result = np.float64(a) / np.float64(b)
        return weakly(result) if is_weak(a) and is_weak(b) else result
    (x, y), back = together(a, b)
    return back(x / y)


power = _typed(operator.pow)  # `a ** b`; nan where Python gives a complex number


def _by(operation: Operation) -> Operation:
    """Return `//` or `%`. Dividing an integer by zero raises; dividing a float does not."""

    def apply(x: Any, y: Any) -> Any:
        if y == 0 and is_whole(y):
            raise ZeroDivisionError
        return operation(x, y)

    return _weakly_quick(apply)


floor_divide, remainder = _by(operator.floordiv), _by(operator.mod)


def _shift(operation: Operation) -> Operation:
    """Return `<<` or `>>` by 0..bits-1. Bits shifted out of the word are lost, and `>>` keeps the sign."""

    def apply(x: Any, count: Any) -> Any:
        bits = 8 * x.itemsize
        if not 0 <= count < bits:
            raise BadValue("shift count", expected=f"0..{bits - 1}", given=str(count))
        return operation(x, count)

    return _typed(apply)


shift_left, shift_right = _shift(operator.lshift), _shift(operator.rshift)


def negative(a: Any) -> Any:
    """`-a`. The lowest integer is its own negative."""
    (x,), back = together(a)
    return back(-x)


# ---- comparisons ---------------------------------------------------------------------------------
def _comparison(operation: Operation) -> Operation:
    """Return a comparison. Integers of any width are compared exactly, other numbers in their common type."""

    def apply(a: Any, b: Any) -> np.bool_:
        if (type(a) is int and type(b) is int) or (is_whole(a) and is_whole(b)):
            return np.bool_(operation(int(a), int(b)))
        (x, y), _ = together(a, b)
        return np.bool_(operation(x, y))

    return apply


equal, not_equal = _comparison(operator.eq), _comparison(operator.ne)
less, less_equal = _comparison(operator.lt), _comparison(operator.le)
greater, greater_equal = _comparison(operator.gt), _comparison(operator.ge)


def chain(first: Any, *rest: Any) -> np.bool_:
    """`a < b < c` as (a, less, () -> b, less, () -> c). Each is evaluated at most once, and only if needed."""
    left = first
    for compare, right in zip(rest[::2], rest[1::2], strict=True):
        value = right()
        if not compare(left, value):
            return np.bool_(False)
        left = value
    return np.bool_(True)


def update(array: Any, index: Any, operation: Operation, value: Callable[[], Any]) -> None:
    """`array[index] op= value()`. The element is read before the value is computed."""
    old = array[index]
    array[index] = operation(old, value())
