"""The functions of complex numbers that emitted code calls: NumPy's arithmetic where Numba's differs, and parts."""

from __future__ import annotations

import math

from numba import njit, types


@njit(error_model="numpy")
def of_parts(real, imaginary):
    return complex(real, imaginary)


@njit(error_model="numpy")
def real_part(z):
    return z.real


@njit(error_model="numpy")
def imaginary_part(z):
    return z.imag


@njit(error_model="numpy")
def conjugate(z):
    return complex(z.real, -z.imag)


@njit(error_model="numpy")
def magnitude(z):
    return math.hypot(z.real, z.imag)


@njit(error_model="numpy")
def multiply_complex(a, b):
    """Multiply as NumPy does. Where this gives NaN, Python from 3.14 on and Numba give infinite parts."""
    return complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


@njit(error_model="numpy")
def divide_complex(a, b):
    """Divide by Smith's method ("Algorithm 116", CACM 5, 1962), with the same steps as NumPy."""
    real, imaginary = abs(b.real), abs(b.imag)
    if real == 0 and imaginary == 0:
        return complex(a.real / real, a.imag / real)
    one = types.float32(1)  # with an integer the result would be a float64
    if real >= imaginary:
        ratio = b.imag / b.real
        scale = one / (b.real + b.imag * ratio)
        return complex((a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale)
    ratio = b.real / b.imag
    scale = one / (b.imag + b.real * ratio)
    return complex((a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale)
