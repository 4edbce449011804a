"""Exponentials in kernels: sums of them, and powers by arithmetic alone, of which a CPU computes several at a time.

Source of the powers: the reduction of Cody, Waite, "Software Manual for the Elementary Functions" (1980): x is n ln 2 +
r. For float32 the polynomial in r is that of Moshier's Cephes library, for float64 Taylor's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenly.language.func import func
from evenly.language.names import exp_minus_abs

LONG = 16  # elements of a mean list from which several are computed at a time


@func
def exponentials(a, b):
    """In kernels: two sums of exponentials as one. A sum is (m, s): s times e to the power m, its greatest exponent."""
    apart = 0.0 if a[0] == b[0] else a[0] - b[0]  # of infinities, too
    factor = exp_minus_abs(apart)
    greater = a[0] >= b[0]
    m, s = (a[0] if greater else b[0]), (a[1] if greater else b[1])
    # Without a branch: neighbours would wait for each other.
    return m, s + (b[1] if greater else a[1]) * factor


@func
def halved(y, n, bits, factor):
    """One step of y * 2**n: by `factor`, 2**-bits, if -n has that bit. Its higher bits are gone."""
    here = n <= -bits
    return (y * factor if here else y), (n + bits if here else n)


@func
def halved_often(y, n):
    """y * 2**n, for an integer n from -127 to 0."""
    y, n = halved(y, n, 64.0, 2.0**-64)
    y, n = halved(y, n, 32.0, 2.0**-32)
    y, n = halved(y, n, 16.0, 2.0**-16)
    y, n = halved(y, n, 8.0, 2.0**-8)
    y, n = halved(y, n, 4.0, 2.0**-4)
    y, n = halved(y, n, 2.0, 2.0**-2)
    y, n = halved(y, n, 1.0, 2.0**-1)
    return y


@func
def exp32_below_zero(x):
    """In kernels: e to the power x, for a float32 x of at most 0, to about one bit. Powers below 1.2e-38 are 0."""
    low = x < -87.33654
    given = -87.33654 if low else x
    n = (given * 1.4426950408889634 + 12582912.0) - 12582912.0  # to the nearest integer
    r = (given - n * 0.693359375) + n * 2.12194440e-4
    p = ((1.9875691500e-4 * r + 1.3981999507e-3) * r + 8.3334519073e-3) * r + 4.1665795894e-2
    y = ((p * r + 1.6666665459e-1) * r + 5.0000001201e-1) * (r * r) + r + 1.0
    y = halved_often(y, n)
    return 0.0 * y if low else y


@func
def exp64_below_zero(x):
    """In kernels: e to the power x, for a float64 x of at most 0, to about one bit. Powers below 2.3e-308 are 0."""
    low = x < -708.39
    given = -708.39 if low else x
    n = (given * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
    r = (given - n * 0.693145751953125) - n * 1.42860682030941723212e-6
    p = (2.08767569878681e-09 * r + 2.505210838544172e-08) * r + 2.755731922398589e-07
    p = ((p * r + 2.7557319223985893e-06) * r + 2.48015873015873e-05) * r + 0.0001984126984126984
    p = ((p * r + 0.001388888888888889) * r + 0.008333333333333333) * r + 0.041666666666666664
    y = ((p * r + 0.16666666666666666) * r + 0.5) * (r * r) + r + 1.0
    y, n = halved(y, n, 512.0, 2.0**-512)
    y, n = halved(y, n, 256.0, 2.0**-256)
    y, n = halved(y, n, 128.0, 2.0**-128)
    y = halved_often(y, n)
    return 0.0 * y if low else y


def exp_below_zero(dtype: np.dtype[Any], lists: Any) -> Any:
    """Return the function of e to the power x, x up to 0, that is fastest in kernels for a CPU on these lists."""
    if lists.num_atoms < LONG * lists.num_tiles:
        return math.exp
    return exp32_below_zero if dtype.itemsize == 4 else exp64_below_zero
