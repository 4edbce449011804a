"""bfloat16 in NumPy, which has none: an array's elements as float32, and back.

Both take single elements, too. What holds them is `BFLOAT16.dtype` of `language.types`, or
the dtype of ml_dtypes: the bits are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.language.types import BFLOAT16


def widened(elements: Any) -> Any:
    """bfloat16, of any shape, as float32."""
    bits = np.asarray(elements).view(np.uint16).astype(np.uint32)
    return (bits << np.uint32(16)).view(np.float32)[()]


def narrowed(numbers: Any) -> Any:
    """Real numbers, of any shape, as bfloat16: to the nearest, of two equally near ones the even."""
    with np.errstate(all="ignore"):  # what overflows is inf, what is no number stays none
        bits = _odd(np.asarray(numbers, np.float64)).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    nan = (bits & np.uint32(0x7FFFFFFF)) > 0x7F800000
    made = np.where(nan, bits >> np.uint32(16) | np.uint32(0x40), rounded).astype(np.uint16)
    return made.view(BFLOAT16.dtype)


def _odd(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """As float32, whose last bit is set where any was lost: rounded again, it is as if rounded once."""
    near = numbers.astype(np.float32)
    beyond = np.abs(near.astype(np.float64)) > np.abs(numbers)
    inexact = near.astype(np.float64) != numbers
    bits = near.view(np.uint32) - beyond.astype(np.uint32)
    odd: np.ndarray[Any, Any] = np.where(inexact, bits | np.uint32(1), bits)
    return odd.view(np.float32)
