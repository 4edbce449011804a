"""The usual lines of a Matrix Market file, read in compiled code: for large files.

It takes fewer lines than `market_lines`, which is asked about each line that is not taken here:
malformed ones, and numbers of which it cannot be told at once what they round to.

Positions in the text are unsigned: a signed one would be asked, at every character, whether it
counts from the end.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
MINUS, PLUS, POINT, ZERO, NINE, UPPER_E, LOWER_E = 45, 43, 46, 48, 57, 69, 101

ONE = np.uint64(1)
DIGITS = 18  # with as many, no int64 overflows
TENS = 280  # the largest power of ten that a mantissa is multiplied by, so that all stays normal

Place = Any  # uint64: in the text
Indices = Any  # (n,) int64
Values = Any  # (n,) int64, or (n,) float64


def _powers() -> Any:
    """10**k as the sum of two float64, for k in -TENS .. TENS: (2 TENS + 1, 2)."""
    powers = [Fraction(10) ** k for k in range(-TENS, TENS + 1)]
    near = [float(power) for power in powers]
    rest = [float(power - Fraction(first)) for power, first in zip(powers, near, strict=True)]
    return np.array([near, rest]).T.copy()


POWERS = _powers()


@njit(nogil=True)
def past_blanks(text: Any, i: Place) -> Place:
    while text[i] == SPACE or text[i] == TAB:
        i += ONE
    return i


@njit(nogil=True)
def ends_line(text: Any, i: Place) -> bool:
    return bool(text[i] == NEWLINE or (text[i] == RETURN and text[i + ONE] == NEWLINE))


@njit(nogil=True)
def natural(text: Any, i: Place) -> tuple[bool, int, Place]:
    """Whether digits stand at i, not too many; their number; where they end."""
    value, first = 0, i
    while ZERO <= text[i] <= NINE:
        value = value * 10 + (text[i] - ZERO)
        i += ONE
    return bool(first < i <= first + np.uint64(DIGITS)), value, i


@njit(nogil=True)
def real(text: Any, i: Place) -> tuple[bool, float, Place]:
    """Whether a number stands at i of which it is clear what it rounds to; it; where it ends."""
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
    """The float64 nearest to mantissa * 10**power, and whether it is sure.

    mantissa: of at most DIGITS digits. cut: of exactly so many, and more than 0 and less than 1
    is missing.

    The product is made of pairs of float64 (Dekker, "A Floating-Point Technique for Extending
    the Available Precision", 1971), with an error below 2**-100 of it. It is sure where both ends
    of the error round to the same (Ziv, "Fast Evaluation of Elementary Mathematical Functions
    with Correctly Rounded Last Bit", 1991).
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
    more = product * 2.0**-56 if cut else 0.0  # 1 / 10**(DIGITS - 1), and some
    value = product + (error - slack)
    return value == product + (error + slack + more), value


@njit(nogil=True)
def product_error(a: float, b: float, product: float) -> float:
    """a * b - product, which is a * b rounded: exactly."""
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
    at: Place,
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
) -> tuple[Place, int, int]:
    """Read the lines from text[at] on, up to one that is not usual.

    text: (n,) uint8, which ends with a line end, so that no loop within a line looks for its end.
    entries: how many there are so far; the next one is written behind them.
    indexed: whether lines begin with a row and a column. numbers: how many follow.
    whole: whether they are integers. signed: whether they may be negative.
    above: entries have column - row < above.
    to_...: where entries are written, with indices from 0; to_reals: (m, 1 or 2).

    Returns where it stopped (n: nowhere), how many lines came before, and `entries`.
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
