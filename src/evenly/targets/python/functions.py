"""What a kernel's names stand for in the reference: typed sums, minima, mathematics, atomics.

`replacement` is the table's only reader; what is not in it stands for itself. The
table is keyed by the object, not by its name, so that `import math as m` and
`from math import sqrt` mean the same.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from evenly.interop.narrow import widened
from evenly.language import names, reads
from evenly.language.intrinsics import BY_NAME
from evenly.language.types import BFLOAT16, from_dtype

from .operators import is_weak

_NOTHING: Any = object()


# ---- reductions ----------------------------------------------------------------------------------
def _sum(values: Iterable[Any], start: Any = 0) -> Any:
    total = start  # not Python's sum: from 3.12 on that one compensates for rounding
    for v in values:
        total = total + v
    return total


def _any(values: Iterable[Any]) -> np.bool_:
    return np.bool_(builtins.any(values))


def _all(values: Iterable[Any]) -> np.bool_:
    return np.bool_(builtins.all(values))


def _extreme(pick: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """min or max, in both forms: of numbers, and of a generator with a default."""

    def extreme(*given: Any, default: Any = _NOTHING) -> Any:
        if len(given) > 1:
            return _folded(pick, iter(given), _NOTHING)
        return _folded(pick, iter(given[0]), default)

    return extreme


def _folded(pick: Callable[[Any, Any], Any], values: Iterator[Any], default: Any) -> Any:
    best = next(values, _NOTHING)
    if best is _NOTHING:
        return default
    for v in values:
        best = pick(best, v)
    return best if default is _NOTHING else _beside(best, default)


def _beside(value: Any, other: Any) -> Any:
    """`value` in the type that it shares with `other`, which might have stood in its place."""
    if is_weak(value) and is_weak(other):
        return float(value) if type(other) is float else value
    return np.result_type(value, other).type(value)


def _typed(a: Any, b: Any, pick: Callable[[Any, Any], Any]) -> Any:
    """NumPy's minimum or maximum, which propagates NaN; of two weak numbers a weak one."""
    if is_weak(a) and is_weak(b):
        if type(a) is int and type(b) is int:
            return int(pick(a, b))
        return float(pick(np.float64(a), np.float64(b)))
    return pick(a, b)


def _minimum(a: Any, b: Any) -> Any:
    least = _typed(a, b, np.minimum)
    # NumPy gives either zero; here -0.0 comes before 0.0, so that the order makes no difference.
    return -abs(least) if least == 0 and (np.signbit(a) or np.signbit(b)) else least


def _maximum(a: Any, b: Any) -> Any:
    greatest = _typed(a, b, np.maximum)
    return abs(greatest) if greatest == 0 and not (np.signbit(a) and np.signbit(b)) else greatest


# ---- conversions ---------------------------------------------------------------------------------
def wrapped(value: Any, dtype: np.dtype) -> Any:
    """The integer (or truth value) `value` in a narrower integer type: its low bits."""
    value = int(value)
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return dtype.type(value - (1 << bits) if value >> (bits - 1) else value)


def element_value(value: Any) -> Any:
    """A NumPy scalar as kernels compute with it: a float of 16 bits as a float32."""
    if isinstance(value, np.float16):
        return np.float32(value)
    return widened(value) if from_dtype(value.dtype) is BFLOAT16 else value


def _integer(dtype: type) -> Callable[[Any], Any]:
    return lambda x: wrapped(x, np.dtype(dtype))


# ---- mathematics ---------------------------------------------------------------------------------
_NUMPY_SPELLING = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "pow": "power", "atan2": "arctan2",
}  # fmt: skip
_SCIPY_SPELLING = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}


def _mathematics(name: str) -> Callable[..., Any]:
    """math.<name> as the table of intrinsics types it: floats keep their type, integers do not."""
    kind = BY_NAME[name].kind

    def function(*arguments: Any) -> Any:
        weak = builtins.all(is_weak(x) for x in arguments)
        common = np.result_type(np.float64 if weak else np.result_type(*arguments))
        dtype = common.type if common.kind == "f" else np.float64
        result = _numpy(name)(*(dtype(x) for x in arguments))
        if kind == "to_int":
            return int(result)
        if kind == "test":
            return np.bool_(result)
        return float(result) if weak else dtype(result)

    return function


def _numpy(name: str) -> Callable[..., Any]:
    if name in _SCIPY_SPELLING:
        from scipy import special

        return getattr(special, _SCIPY_SPELLING[name])
    return getattr(np, _NUMPY_SPELLING.get(name, name))


# ---- atomics -------------------------------------------------------------------------------------
def _atomic(change: Callable[..., Any]) -> Callable[..., Any]:
    """One element read, changed and stored; operands have the array's type before they meet it."""

    def atomic(array: Any, index: Any, *operands: Any) -> Any:
        old = array[index]
        array[index] = change(old, *(array.convert(v) for v in operands))
        return old

    return atomic


# ---- the table -----------------------------------------------------------------------------------
_TABLE: dict[Any, Any] = {
    builtins.sum: _sum, builtins.any: _any, builtins.all: _all, builtins.bool: np.bool_,
    builtins.min: _extreme(_minimum), builtins.max: _extreme(_maximum),
    np.int32: _integer(np.int32), np.int64: _integer(np.int64),
    names.atomic_add: _atomic(lambda old, v: old + v),
    names.atomic_min: _atomic(_minimum), names.atomic_max: _atomic(_maximum),
    names.atomic_exch: _atomic(lambda old, v: v),
    names.atomic_cas: _atomic(lambda old, expected, v: v if old == expected else old),
}  # fmt: skip
_TABLE |= {getattr(math, n): _mathematics(n) for n in BY_NAME if hasattr(math, n)}


class ModuleProxy:
    """A module whose attributes are replaced as they are looked up: `math.exp`, `ev.argmax`."""

    def __init__(self, module: ModuleType, replace: Callable[[Any], Any]) -> None:
        self._module, self._replace = module, replace

    def __getattr__(self, name: str) -> Any:
        found = reads.attribute_of(self._module, name)
        if found is reads.NOTHING:
            raise AttributeError(f"module {self._module.__name__} has no {name}")
        return self._replace(found)


def replacement(thing: Any) -> Any:
    """What a captured object stands for, @ev.func functions aside."""
    if isinstance(thing, ModuleType):
        return ModuleProxy(thing, replacement)
    if type(thing) is bool:
        return np.bool_(thing)
    if isinstance(thing, np.generic):
        return element_value(thing)
    if type(thing) is tuple:
        return tuple(replacement(item) for item in thing)
    try:
        return _TABLE.get(thing, thing)
    except TypeError:  # not hashable: not in the table
        return thing


BUILTINS: dict[str, Any] = {name: replacement(thing) for name, thing in vars(builtins).items()}
