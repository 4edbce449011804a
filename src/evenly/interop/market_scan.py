"""Compiled code that reads the usual lines of large Matrix Market files.

It stops at a line that is malformed, or whose number needs exact arithmetic to be rounded.
`market_lines` then parses that line.

Positions in the text are unsigned, since Numba tests a signed index for being negative at
every access.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
MINUS, PLUS, POINT, ZERO, NINE, UPPER_E, LOWER_E = 45, 43, 46, 48, 57, 69, 101

ONE = np.uint64(1)
DIGITS = 18  # any number of so many digits fits into int64
TENS = 280  # the largest power of ten that a mantissa is multiplied by: no result is subnormal

Position = Any  # uint64, a position in the text
Indices = Any  # (n,) int64
Values = Any  # (n,) int64, or (n,) float64


def _powers() -> Any:
    """Return 10**k for k in -TENS .. TENS, each as a sum of two float64: (2 * TENS + 1, 2)."""
    powers = [Fraction(10) ** k for k in range(-TENS, TENS + 1)]
    near = [float(power) for power in powers]
    rest = [float(power - Fraction(first)) for power, first in zip(powers, near, strict=True)]
    return np.array([near, rest]).T.copy()


POWERS = _powers()


@njit(nogil=True)
def past_blanks(text: Any, i: Position) -> Position:
    while text[i] == SPACE or text[i] == TAB:
        i += ONE
    return i


@njit(nogil=True)
def ends_line(text: Any, i: Position) -> bool:
    return bool(text[i] == NEWLINE or (text[i] == RETURN and text[i + ONE] == NEWLINE))


@njit(nogil=True)
def natural(text: Any, i: Position) -> tuple[bool, int, Position]:
    """Read the digits at i. Returns whether there are 1 to DIGITS of them, their value, and the position after them."""
    value, first = 0, i
    while ZERO <= text[i] <= NINE:
        value = value * 10 + (text[i] - ZERO)
        i += ONE
    return bool(first < i <= first + np.uint64(DIGITS)), value, i


@njit(nogil=True)
def real(text: Any, i: Position) -> tuple[bool, float, Position]:
    """Read the number at i. Returns whether its float64 is certain, that float64, and the position after it."""
    negative = text[i] == MINUS
    if negative:
        i += ONE
    first = i
    mantissa, kept, power, cut = 0, 0, 0, False
    after_point = False
    points = np.uint64(0)
    while True:
        if ZERO <= text[i] <= NINE:
            if kept < DIGITS:
                mantissa = mantissa * 10 + (text[i] - ZERO)
                kept += mantissa > 0
                power -= after_point
            else:
                cut = cut or text[i] != ZERO
                power += not after_point
        elif text[i] == POINT and not after_point:
            after_point = True
            points = ONE
        else:
            break
        i += ONE
    if i == first + points:
        return False, 0.0, i
    if text[i] == LOWER_E or text[i] == UPPER_E:
        i += ONE
        shrinks = text[i] == MINUS
        if shrinks or text[i] == PLUS:
            i += ONE
        clear, exponent, i = natural(text, i)
        if not clear:
            return False, 0.0, i
        power += -exponent if shrinks else exponent
    clear, value = scaled(mantissa, power, cut)
    return clear, -value if negative else value, i


@njit(nogil=True)
def scaled(mantissa: int, power: int, cut: bool) -> tuple[bool, float]:
    """Return whether the float64 nearest to mantissa * 10**power is certain, and that float64.

    mantissa: of at most DIGITS digits.
    cut: whether digits were dropped after DIGITS of them; they are worth more than 0 and less than 1.

    The product is computed in pairs of float64 (Dekker, "A Floating-Point Technique for Extending
    the Available Precision", 1971). Its relative error is below 2**-100. The result is certain if
    both ends of the error interval round to the same number (Ziv, "Fast Evaluation of Elementary
    Mathematical Functions with Correctly Rounded Last Bit", 1991).
    """
    if mantissa == 0:
        return True, 0.0
    if power < -TENS or power > TENS:
        return False, 0.0
    high = float(mantissa)
    low = float(mantissa - int(high))
    if power == 0 and not cut:
        return True, high
    near, rest = POWERS[power + TENS, 0], POWERS[power + TENS, 1]
    product = high * near
    if not 1e-280 < product < 1e300:
        return False, 0.0
    error = product_error(high, near, product) + (high * rest + low * near)
    slack = product * 2.0**-100
    more = product * 2.0**-56 if cut else 0.0  # at least 1 / 10**(DIGITS - 1)
    value = product + (error - slack)
    return value == product + (error + slack + more), value


@njit(nogil=True)
def product_error(a: float, b: float, product: float) -> float:
    """Return a * b - product exactly, where `product` is a * b rounded."""
    big = a * 134217729.0  # 2**27 + 1
    a_high = big - (big - a)
    a_low = a - a_high
    big = b * 134217729.0
    b_high = big - (big - b)
    b_low = b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@njit(
    "Tuple((uint64, int64, int64))(Array(uint8, 1, 'C', readonly=True), uint64, int64, boolean, int64, boolean, "
    "boolean, int64, int64, int64, int64[::1], int64[::1], int64[::1], float64[:, ::1])",
    nogil=True,
)
def usual_lines(
    text: Any,
    at: Position,
    entries: int,
    indexed: bool,
    numbers: int,
    whole: bool,
    signed: bool,
    rows: int,
    columns: int,
    above: int,
    to_rows: Indices,
    to_columns: Indices,
    to_integers: Values,
    to_reals: Values,
) -> tuple[Position, int, int]:
    """Read lines from text[at] on, up to the first one that is unusual.

    text: (n,) uint8. It ends with a newline, so loops within a line need no check of the length.
    entries: the number of entries read before; the next one is written at this index.
    indexed: whether lines begin with a row and a column. numbers: how many numbers follow.
    whole: whether the numbers are integers. signed: whether they may be negative.
    above: all entries must have column - row < above.
    to_rows, ...: the arrays to write to; indices count from 0. to_reals: (m, 1 or 2).

    Returns the position of the line that it stopped at (n if it read all), the number of lines
    read, and the new `entries`.
    """
    lines = 0
    while at < len(text):
        i = past_blanks(text, at)
        if not ends_line(text, i):
            if indexed:
                clear, row, i = natural(text, i)
                if not clear or row < 1 or row > rows:
                    return at, lines, entries
                clear, column, i = natural(text, past_blanks(text, i))
                if not clear or column < 1 or column > columns or column - row >= above:
                    return at, lines, entries
                to_rows[entries], to_columns[entries] = row - 1, column - 1
            for which in range(numbers):
                if indexed or which > 0:
                    if text[i] != SPACE and text[i] != TAB:
                        return at, lines, entries
                    i = past_blanks(text, i)
                if whole:
                    negative = text[i] == MINUS and signed
                    clear, integer, i = natural(text, i + np.uint64(negative))
                    to_integers[entries] = -integer if negative else integer
                else:
                    clear, value, i = real(text, i)
                    to_reals[entries, which] = value
                if not clear:
                    return at, lines, entries
            i = past_blanks(text, i)
            if not ends_line(text, i):
                return at, lines, entries
            entries += 1
        lines += 1
        at = i + ONE + np.uint64(text[i] == RETURN)
    return at, lines, entries
