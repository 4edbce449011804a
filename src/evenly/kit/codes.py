"""Keys as signed integers of the same order, which GPUs compare in one instruction."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenly.kit.operands import dtype
from evenly.language.func import func

# The bits of infinity, of floats of so many bytes. Greater ones, without the sign, are NaN.
INFINITY = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF << 52}
INFINITY_OF_BFLOAT16 = 0x7F80


def code_type(keys: Any) -> Any:
    """Return the type of the codes of these keys."""
    return np.int64 if dtype(keys).itemsize == 8 else np.int32


def coding(keys: Any, descending: bool) -> tuple[Any, Any]:
    """Return two functions for kernels: the code of a key's bits; the bits of key k, whose code is given.

    Bits are those of `kit.as_integers`. Codes ascend in the order asked for. All NaN have the greatest code, and both
    zeros the code 0. Codes fit into integers as wide as the keys.
    """
    held = dtype(keys)
    if held.kind in "iub":
        T = code_type(keys)
        unsigned = held.kind == "u" and held.itemsize == np.dtype(T).itemsize
        return of_integers(T, np.iinfo(T).min if unsigned else 0, descending)
    infinity = INFINITY[held.itemsize] if held.kind == "f" else INFINITY_OF_BFLOAT16
    return of_floats(code_type(keys), 8 * held.itemsize, infinity, descending)


@functools.cache
def of_integers(T: Any, lowest: int, descending: bool) -> tuple[Any, Any]:
    @func
    def code_of(bits):
        code = T(bits) ^ T(lowest)
        return ~code if descending else code

    @func
    def bits_of(code, bits, k):
        return (~code if descending else code) ^ T(lowest)

    return code_of, bits_of


@functools.cache
def of_floats(T: Any, width: int, infinity: int, descending: bool) -> tuple[Any, Any]:
    most, sign = 2 ** (width - 1) - 1, -(2 ** (width - 1))

    @func
    def code_of(bits):
        size = T(bits) & T(most)
        code = size if (bits >= 0) != descending else -size
        return T(most) if size > infinity else code

    @func
    def bits_of(code, bits, k):
        size = abs(code)
        found = size if (code >= 0) != descending else size | T(sign)
        return T(bits[k]) if code == 0 or code == most else found

    return code_of, bits_of
