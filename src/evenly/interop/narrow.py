"""Convert floats of 16 bits to float32 and back. NumPy itself has no bfloat16.

`widened` and `narrowed` take arrays of any shape, and single elements. bfloat16 elements have the dtype
`BFLOAT16.dtype` of `language.types`, or that of ml_dtypes: the bits are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.language.types import BFLOAT16, FLOAT16, Scalar

FRACTION = {FLOAT16: 10, BFLOAT16: 7}  # bits


def widened(elements: Any) -> Any:
    """Convert bfloat16 to float32."""
    bits = np.asarray(elements).view(np.uint16).astype(np.uint32)
    return (bits << np.uint32(16)).view(np.float32)[()]


def widened_half(element: Any) -> Any:
    """Convert a float16 to float32. A NaN keeps its bits, which NumPy's conversion may change."""
    if element == element:
        return np.float32(element)
    bits = int(element.view(np.uint16))
    return np.uint32((bits & 0x8000) << 16 | 0x7F800000 | (bits & 0x3FF) << 13).view(np.float32)


def narrowed_nan(number: Any, t: Scalar) -> Any:
    """Return the bits of a NaN of float32 as one of 16 bits: those that it had if it was read from such an element."""
    size, bits = FRACTION[t], int(number.view(np.uint32))
    fraction = bits >> (23 - size) & (1 << size) - 1
    made = bits >> 16 & 0x8000 | 0x7FFF ^ (1 << size) - 1 | (fraction or 1 << size - 1)
    return np.array(made, np.uint16)


def narrowed(numbers: Any) -> Any:
    """Round real numbers to the nearest bfloat16, ties to even."""
    with np.errstate(all="ignore"):  # overflow gives inf, NaN stays NaN
        bits = _odd(np.asarray(numbers, np.float64)).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    nan = (bits & np.uint32(0x7FFFFFFF)) > 0x7F800000
    made = np.where(nan, bits >> np.uint32(16) | np.uint32(0x40), rounded).astype(np.uint16)
    return made.view(BFLOAT16.dtype)


def _odd(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Round to float32 by round-to-odd: rounding that again to bfloat16 gives the result of rounding once."""
    near = numbers.astype(np.float32)
    beyond = np.abs(near.astype(np.float64)) > np.abs(numbers)
    inexact = near.astype(np.float64) != numbers
    bits = near.view(np.uint32) - beyond.astype(np.uint32)
    odd: np.ndarray[Any, Any] = np.where(inexact, bits | np.uint32(1), bits)
    return odd.view(np.float32)
