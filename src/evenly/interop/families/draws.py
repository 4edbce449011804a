"""Random numbers that any thread can draw at any position, the same on every machine.

A number is a hash of a seed and a position: splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
Generators", OOPSLA 2014). The functions below use only operations that IEEE 754 rounds exactly, since the logarithms
and exponentials of libraries differ in their last bits, and with them, sooner or later, a length or a column.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

ODD = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
BITS = 2.0**-53
BIAS, STEP = 1023.0, 2.0**-52  # of the exponent and of the mantissa in the bits of float64
LN2 = 0.6931471805599453
ROOT = 0.7071067811865476  # of 1/2

Word = Any  # uint64


@njit(nogil=True)
def hashed(seed: Word, position: Word) -> Word:
    """Return 64 random bits."""
    z = seed + (position + np.uint64(1)) * ODD
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@njit(nogil=True)
def unit(word: Word) -> float:
    """Return the random bits as a number above 0 and below 1."""
    return (np.float64(word >> np.uint64(12)) * 2 + 1) * BITS


@njit(nogil=True)
def below(word: Word, bound: int) -> Any:
    """Return the random bits as an integer of 0 .. bound - 1, where bound is at most 2**31."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@njit(nogil=True)
def gap(word: Word) -> Any:
    """Return the random bits as about an exponentially distributed number: a linear interpolation of -log2.

    Such numbers, divided by the sum of n + 1 of them, are the gaps between n sorted uniform ones (Devroye,
    "Non-Uniform Random Variate Generation" (1986), chapter V.3), so that nothing needs to be sorted.
    """
    bits = np.float64(unit(word)).view(np.int64)  # of a number: about its logarithm, as an integer
    return BIAS - np.float64(bits) * STEP


@njit(nogil=True)
def gaps(count: int, seed: Word, at: Word) -> float:
    """Return the sum of the gaps at the positions at .. at + count."""
    total = 0.0
    for k in range(count + 1):
        total += gap(hashed(seed, at + np.uint64(k)))
    return total


@njit(nogil=True)
def ln(x: float) -> float:
    """Return the natural logarithm of a positive number, to about 1e-14."""
    mantissa, exponent = math.frexp(x)
    if mantissa < ROOT:
        mantissa, exponent = 2 * mantissa, exponent - 1
    z = (mantissa - 1) / (mantissa + 1)  # ln m = 2 artanh z
    square, total = z * z, 0.0
    for k in range(19, 0, -2):
        total = total * square + 1.0 / k
    return 2 * z * total + exponent * LN2


@njit(nogil=True)
def exp(x: float) -> float:
    """Return e**x, to about 1e-14, for an x whose result is an ordinary number."""
    power = math.floor(x / LN2 + 0.5)
    rest, total = x - power * LN2, 1.0
    for k in range(14, 0, -1):
        total = 1 + total * rest / k
    return math.ldexp(total, int(power))


@njit(nogil=True)
def normal(u: float) -> float:
    """Return the quantile u of the standard normal distribution, to 5e-4.

    Abramowitz, Stegun, "Handbook of Mathematical Functions" (1964), 26.2.23.
    """
    t = math.sqrt(-2 * ln(min(u, 1 - u)))
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    x = t - above / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    return x if u > 0.5 else -x
