"""The table of intrinsics: one entry for each, with everything that is specific to it.

Lowering reads an entry's types, and the targets read its spelling or its meaning. docs/language.md and the tests are
generated from it. To add a function, add an entry. If C++ or Numba has no such function, write one: in
`targets/gpu/device/ops.cuh`, or in `targets/cpu/primitives.py`. Then `python -m tests.language.intrinsics_page`
writes its line of the documentation.
"""

from __future__ import annotations

import builtins
import importlib
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import names
from .types import BOOL, FLOAT64, INTEGERS, POS, WEAK_FLOAT, WEAK_INT, Scalar, complex_of, real_of

_KINDS = {"float": "biuf", "real": "biuf", "number": "iuf", "integer": "iu", "complex": "c"}
_NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")  # Numba computes these in 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Intrinsic:
    """One function that kernels call, on arguments of one common type.

    name: the name in typed programs.
    written: a Python expression that means it; its variables are the arguments.
    function: the Python function that means it, if there is one.
    arity: how many arguments it takes.
    takes: "float" (integers and truth values become floats), "real", "number" (no truth values), "integer" or
        "complex".
    gives: "same" (the type of its arguments), "bool", "int" (a weak one), "real" (the type of a complex number's
        parts) or "complex" (the type of a complex number with such parts).
    of_complex: the intrinsic that takes its place for complex numbers.
    meaning: a function that computes it for NumPy's numbers of the type that it takes.
    cuda: the C++ function, overloaded on the type.
    numba: the Python function that Numba compiles; `primitives.f` and the like are functions in `targets/cpu`.
    numba_widens: the types for which Numba's function gives a wider one, so that the result is converted back.
    literal: whether the last argument is a literal, which Numba's function takes as a plain number.
    counts: whether the last argument is a count: an integer of any type, which keeps its low bits in the first's type.
    vectorises: whether LLVM computes it for several numbers at once.
    on_host: whether `function` is right for Python's integers, so that the host may compute it before a launch.
    error_of: errors are a few roundings of this number, where results are smaller.
    doc: what it returns, in one line of the documentation.
    samples: first arguments for its test, in addition to those of all tests.
    """

    name: str
    written: str
    meaning: Callable[..., Any]
    cuda: str
    numba: str
    doc: str
    function: Callable[..., Any] | None = None
    arity: int = 1
    takes: Literal["float", "real", "number", "integer", "complex"] = "float"
    gives: Literal["same", "bool", "int", "real", "complex"] = "same"
    of_complex: str = ""
    numba_widens: tuple[str, ...] = ()
    literal: bool = False
    counts: bool = False
    vectorises: bool = False
    on_host: bool = False
    error_of: float = 0.0
    samples: tuple[float, ...] = ()

    @property
    def said(self) -> str:
        """The name in messages."""
        return self.function.__name__ if self.function else self.name

    def accepts(self, t: Scalar) -> bool:
        """Whether it takes arguments whose common type is `t`."""
        return t.kind in _KINDS[self.takes]

    def taken(self, t: Scalar) -> Scalar:
        """Return the type to which arguments of the common type `t` are converted. It accepts `t`."""
        if self.takes == "float":
            return t if t.is_float else WEAK_FLOAT if t.weak else FLOAT64
        return WEAK_INT if t is POS else t

    def given(self, t: Scalar) -> Scalar:
        """Return the result's type for arguments of the type `t`, one that it takes."""
        match self.gives:
            case "bool":
                return BOOL
            case "int":
                return WEAK_INT
            case "real":
                return real_of(t)
            case "complex":
                return complex_of(t)
        return t


# ---- meanings that NumPy has no function for -------------------------------------------------------
def _special(name: str) -> Callable[..., Any]:
    """Return a function of scipy.special, which is imported at the first call."""
    return lambda x: getattr(importlib.import_module("scipy.special"), name)(x)


def _lgamma(x: Any) -> Any:
    """Compute SciPy's gammaln, and correct its results for -inf (it gives -inf) and subnormal numbers (inf)."""
    size = abs(x)
    if size < np.finfo(x.dtype).tiny:
        return -np.log(size)
    return size if np.isinf(x) else _special("gammaln")(x)


def _minimum(x: Any, y: Any) -> Any:
    """Compute NumPy's minimum, which propagates NaN, but with -0.0 before 0.0: the order makes no difference."""
    least = np.minimum(x, y)
    return -abs(least) if least == 0 and (np.signbit(x) or np.signbit(y)) else least


def _maximum(x: Any, y: Any) -> Any:
    greatest = np.maximum(x, y)
    return abs(greatest) if greatest == 0 and not (np.signbit(x) and np.signbit(y)) else greatest


# ---- the table -------------------------------------------------------------------------------------
def _math(
    function: Callable[..., Any], meaning: Callable[..., Any], doc: str, **more: Any
) -> Intrinsic:
    """Make the entry of a function of Python's `math` that C++ and Numba have under the same name."""
    name = function.__name__
    written = f"math.{name}(x{', y' if more.get('arity') == 2 else ''})"
    usual = {"written": written, "cuda": name, "numba": f"math.{name}"}
    return Intrinsic(name=name, function=function, meaning=meaning, doc=doc, **(usual | more))


TABLE = (
    _math(math.sqrt, np.sqrt, "the square root", vectorises=True),
    _math(
        math.cbrt,
        np.cbrt,
        "the cube root; that of a cube is whole",
        cuda="ev::cube_root",
        numba="primitives.cube_root",
        numba_widens=("float32",),
        samples=(27.0, -343.0, 1000.0),
    ),
    _math(
        math.exp,
        np.exp,
        "e to the power x",
        cuda="ev::exponential",
        samples=(-709.5, -745.0, 709.7, 88.0, -87.5),
    ),
    Intrinsic(
        name="exp_minus_abs",
        written="ev.exp_minus_abs(x)",
        function=names.exp_minus_abs,
        meaning=names.exp_minus_abs,
        cuda="ev::exp_minus_abs",
        numba="primitives.exp_minus_abs",
        error_of=1.0,
        doc="e to the power -abs(x), to a few roundings of 1: a weight in a sum, sooner than exp on a GPU",
    ),
    _math(math.exp2, np.exp2, "2 to the power x", numba="np.exp2"),
    _math(math.expm1, np.expm1, "e to the power x, less 1; accurate where x is near 0"),
    _math(math.log, np.log, "the natural logarithm"),
    _math(math.log2, np.log2, "the logarithm to the base 2"),
    _math(math.log10, np.log10, "the logarithm to the base 10"),
    _math(math.log1p, np.log1p, "the natural logarithm of 1 + x; accurate where x is near 0"),
    _math(math.sin, np.sin, "the sine of an angle in radians"),
    _math(math.cos, np.cos, "the cosine of an angle in radians"),
    _math(math.tan, np.tan, "the tangent of an angle in radians"),
    _math(math.asin, np.arcsin, "the angle whose sine is x"),
    _math(math.acos, np.arccos, "the angle whose cosine is x"),
    _math(math.atan, np.arctan, "the angle whose tangent is x"),
    _math(
        math.atan2,
        np.arctan2,
        "the angle of the point (x, y)",
        written="math.atan2(y, x)",
        arity=2,
    ),
    _math(math.sinh, np.sinh, "the hyperbolic sine"),
    _math(math.cosh, np.cosh, "the hyperbolic cosine"),
    _math(math.tanh, np.tanh, "the hyperbolic tangent"),
    _math(math.asinh, np.arcsinh, "the inverse hyperbolic sine"),
    _math(math.acosh, np.arccosh, "the inverse hyperbolic cosine"),
    _math(math.atanh, np.arctanh, "the inverse hyperbolic tangent"),
    _math(math.erf, _special("erf"), "the error function"),
    _math(math.erfc, _special("erfc"), "1 - erf(x); accurate where that is near 0"),
    _math(math.gamma, _special("gamma"), "the gamma function", cuda="tgamma"),
    _math(math.lgamma, _lgamma, "the natural logarithm of abs(gamma(x))"),
    # np.power takes the square root for x ** 0.5, which has other signs and is nan for -inf.
    _math(math.pow, operator.pow, "x to the power y; `x ** y` means the same", arity=2),
    _math(math.hypot, np.hypot, "the length of the vector (x, y)", arity=2),
    _math(
        math.fmod,
        np.fmod,
        "the remainder of x / y, with the sign of x",
        arity=2,
        numba="np.fmod",  # Numba's math has none
    ),
    _math(math.copysign, np.copysign, "the size of x with the sign of y", arity=2),
    _math(math.fabs, np.fabs, "the size of x, as a float", vectorises=True),
    _math(math.isnan, np.isnan, "whether x is nan", gives="bool"),
    _math(math.isinf, np.isinf, "whether x is inf or -inf", gives="bool"),
    _math(math.isfinite, np.isfinite, "whether x is neither nan nor infinite", gives="bool"),
    _math(math.floor, np.floor, "the greatest integer not above x", gives="int", numba="np.floor"),
    _math(math.ceil, np.ceil, "the least integer not below x", gives="int", numba="np.ceil"),
    _math(math.trunc, np.trunc, "x without its fraction", gives="int", numba="np.trunc"),
    Intrinsic(
        name="minimum",
        written="min(x, y)",
        function=builtins.min,
        arity=2,
        takes="real",
        meaning=_minimum,
        cuda="ev::minimum",
        numba="primitives.minimum",
        vectorises=True,
        on_host=True,
        doc="the least of two or more numbers; nan propagates, -0.0 is less than 0.0",
    ),
    Intrinsic(
        name="maximum",
        written="max(x, y)",
        function=builtins.max,
        arity=2,
        takes="real",
        meaning=_maximum,
        cuda="ev::maximum",
        numba="primitives.maximum",
        vectorises=True,
        on_host=True,
        doc="the greatest of two or more numbers; nan propagates, -0.0 is less than 0.0",
    ),
    Intrinsic(
        name="abs",
        written="abs(x)",
        function=builtins.abs,
        takes="number",
        of_complex="magnitude",
        meaning=np.abs,
        cuda="ev::absolute",
        numba="abs",
        numba_widens=_NARROW,
        vectorises=True,
        on_host=True,
        doc="the size of x; the lowest integer stays as it is",
    ),
    Intrinsic(
        name="magnitude",
        written="abs(z)",
        takes="complex",
        gives="real",
        meaning=lambda z: np.hypot(z.real, z.imag),
        cuda="ev::absolute",
        numba="complexes.magnitude",
        doc="the distance of z from 0",
    ),
    Intrinsic(
        name="real",
        written="z.real",
        takes="complex",
        gives="real",
        meaning=np.real,
        cuda="ev::real_part",
        numba="complexes.real_part",
        doc="the real part; of a real number, the number",
    ),
    Intrinsic(
        name="imag",
        written="z.imag",
        takes="complex",
        gives="real",
        meaning=np.imag,
        cuda="ev::imaginary_part",
        numba="complexes.imaginary_part",
        doc="the imaginary part; of a real number, 0",
    ),
    Intrinsic(
        name="conjugate",
        written="z.conjugate()",
        takes="complex",
        meaning=np.conjugate,
        cuda="ev::conjugate",
        numba="complexes.conjugate",
        doc="z with the sign of its imaginary part changed; of a real number, the number",
    ),
    Intrinsic(
        name="of_parts",
        written="complex(x, y)",
        arity=2,
        gives="complex",
        meaning=lambda x, y: complex(x, y),
        cuda="ev::of_parts",
        numba="complexes.of_parts",
        doc="the complex number of these parts, weak; `np.complex64(x, y)`, `np.complex128(x, y)`: typed",
    ),
    Intrinsic(
        name="power_int",
        written="i ** 3",
        arity=2,
        takes="integer",
        meaning=np.power,
        cuda="ev::power_int",
        numba="primitives.power_wrapping",
        numba_widens=(*_NARROW, "uint64"),
        literal=True,
        doc="a power of an integer, which wraps around; the exponent is a literal, not negative",
    ),
    Intrinsic(
        name="popcount",
        written="ev.popcount(i)",
        function=names.popcount,
        takes="integer",
        gives="int",
        meaning=names.popcount,
        cuda="ev::popcount",
        numba="integers.popcount",
        vectorises=True,
        doc="how many of its bits are 1; of a weak integer, of 64",
    ),
    Intrinsic(
        name="clz",
        written="ev.clz(i)",
        function=names.clz,
        takes="integer",
        gives="int",
        meaning=names.clz,
        cuda="ev::leading_zeros",
        numba="integers.leading_zeros",
        vectorises=True,
        doc="how many zeros its bits begin with; of 0, its width",
    ),
    Intrinsic(
        name="rotl",
        written="ev.rotl(i, n)",
        function=names.rotl,
        arity=2,
        takes="integer",
        counts=True,
        meaning=names.rotl,
        cuda="ev::rotate_left",
        numba="integers.rotate_left",
        vectorises=True,
        doc="its bits rotated to the left by any integer n, modulo its width; of i's type",
    ),
    Intrinsic(
        name="rotr",
        written="ev.rotr(i, n)",
        function=names.rotr,
        arity=2,
        takes="integer",
        counts=True,
        meaning=names.rotr,
        cuda="ev::rotate_right",
        numba="integers.rotate_right",
        vectorises=True,
        doc="its bits rotated to the right by any integer n, modulo its width; of i's type",
    ),
)

BY_NAME = {i.name: i for i in TABLE}

# Python's function -> the name of the intrinsic that it means in a kernel.
BY_FUNCTION: dict[Any, str] = {i.function: i.name for i in TABLE if i.function}

# The result types of converting functions. Python's own int(), float() and complex() give weak numbers.
CONVERSIONS: dict[Any, str] = {
    int: "int",
    float: "float",
    complex: "complex",
    bool: "bool",
    **{t.dtype.type: name for name, t in INTEGERS.items()},
    np.float32: "float32",
    np.float64: "float64",
    np.complex64: "complex64",
    np.complex128: "complex128",
    np.bool_: "bool",
}
