"""Powers of two next to a number, at least 1."""

from __future__ import annotations

import math


def power_from(x: float) -> int:
    """Return the least power of two from x on."""
    n = 1
    while n < x:
        n *= 2
    return n


def power_up_to(x: float) -> int:
    """Return the greatest power of two up to x, or 1."""
    n = 1
    while 2 * n <= x:
        n *= 2
    return n


def power_next_to(x: float) -> int:
    """Return the power of two whose ratio to x is closest to 1."""
    return int(2 ** round(math.log2(x))) if x > 1 else 1
