"""The table of intrinsics: one entry each, with its types and its spelling on every target.

`kind` says what it takes and gives:
  float      floats to the same float (integers become float64)
  test       a float to bool
  to_int     a float to int64 (a weak integer)
  same       numbers to their common type
  part       a complex number to a float: one of its parts, or its magnitude
  complex    two floats to the complex number of these parts
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """name: ours. arity. cuda: the C++ function (overloaded on the type). cpu: Numba's Python."""

    name: str
    kind: str
    arity: int
    cuda: str
    cpu: str


def _float(name: str, arity: int = 1, cuda: str = "", cpu: str = "") -> Intrinsic:
    return Intrinsic(name, "float", arity, cuda or name, cpu or f"math.{name}")


_TABLE = [
    *(
        _float(n)
        for n in (
            "sqrt",
            "exp",
            "log",
            "log2",
            "log10",
            "log1p",
            "expm1",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "erf",
            "erfc",
        )
    ),
    _float("exp2", cpu="np.exp2"),
    _float("cbrt", cuda="ev::cube_root", cpu="cube_root"),
    _float("gamma", cuda="tgamma"),
    _float("lgamma"),
    _float("fabs"),
    *(_float(n, 2) for n in ("pow", "atan2", "copysign", "hypot")),
    _float("fmod", 2, cpu="np.fmod"),  # Numba's math has none
    Intrinsic("isnan", "test", 1, "isnan", "math.isnan"),
    Intrinsic("isinf", "test", 1, "isinf", "math.isinf"),
    Intrinsic("isfinite", "test", 1, "isfinite", "math.isfinite"),
    Intrinsic("floor", "to_int", 1, "floor", "np.floor"),
    Intrinsic("ceil", "to_int", 1, "ceil", "np.ceil"),
    Intrinsic("trunc", "to_int", 1, "trunc", "np.trunc"),
    Intrinsic("minimum", "same", 2, "ev::minimum", "_minimum"),
    Intrinsic("maximum", "same", 2, "ev::maximum", "_maximum"),
    Intrinsic("abs", "same", 1, "ev::absolute", "abs"),
    Intrinsic("real", "part", 1, "ev::real_part", "real_part"),
    Intrinsic("imag", "part", 1, "ev::imaginary_part", "imaginary_part"),
    Intrinsic("magnitude", "part", 1, "ev::absolute", "magnitude"),
    Intrinsic("conjugate", "same", 1, "ev::conjugate", "conjugate"),
    Intrinsic("of_parts", "complex", 2, "ev::of_parts", "of_parts"),
    Intrinsic("power_int", "same", 2, "ev::power_int", "_power_int"),
]

BY_NAME = {i.name: i for i in _TABLE}

# Python's function -> the name of the intrinsic that it means in a kernel.
BY_FUNCTION: dict[Any, str] = {
    getattr(math, i.name): i.name for i in _TABLE if hasattr(math, i.name)
}
BY_FUNCTION[abs] = "abs"

# Functions that convert: what they give. Python's own int(), float() and complex() give weak numbers.
CONVERSIONS: dict[Any, str] = {
    int: "int",
    float: "float",
    complex: "complex",
    bool: "bool",
    np.int32: "int32",
    np.int64: "int64",
    np.float32: "float32",
    np.float64: "float64",
    np.complex64: "complex64",
    np.complex128: "complex128",
    np.bool_: "bool",
}
