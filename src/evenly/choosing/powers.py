"""Powers of two next to a number, at least 1."""

from __future__ import annotations


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
