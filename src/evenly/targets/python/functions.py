"""The functions that a kernel's names refer to in the reference: typed sums, minima, mathematics, atomics.

`replacement` looks an object up in the table. An object that is not in the table is not
replaced. The keys are objects, not names, so that `import math as m` and `from math import sqrt`
mean the same.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from evenly.language import names, reads
from evenly.language import types as T
from evenly.language.intrinsics import BY_FUNCTION, BY_NAME, CONVERSIONS, Intrinsic

from . import operators
from .arrays import CheckedArray, StagedArray
from .failures import BadValue
from .rewrite import hidden
from .typed import as_type, common_type, element_value, is_weak, together, truncated, weakly

_NOTHING: Any = object()


# ---- reductions ----------------------------------------------------------------------------------
def _sum(values: Iterable[Any], start: Any = 0) -> Any:
    total = start  # not Python's sum, which compensates for rounding from 3.12 on
    for v in values:
        total = operators.add(total, v)
    return total


def _any(values: Iterable[Any]) -> np.bool_:
    return np.bool_(builtins.any(values))


def _all(values: Iterable[Any]) -> np.bool_:
    return np.bool_(builtins.all(values))


def _extreme(pick: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return min or max, which take several numbers, or a generator and a default."""

    def extreme(*given: Any, default: Any = _NOTHING) -> Any:
        if len(given) > 1:
            return _folded(pick, iter(_weak_ones_typed(given)), _NOTHING)
        return _folded(pick, iter(given[0]), default)

    return extreme


def _weak_ones_typed(numbers: tuple[Any, ...]) -> list[Any]:
    """Convert weak numbers to the common type of all. In pairs, they might first be converted to a narrower type."""
    t = common_type(*map(type, numbers))
    return [as_type(x, t) if is_weak(x) and not t.weak else x for x in numbers]


def _folded(pick: Callable[[Any, Any], Any], values: Iterator[Any], default: Any) -> Any:
    best = next(values, _NOTHING)
    if best is _NOTHING:
        return default
    for v in values:
        best = pick(best, v)
    if default is not _NOTHING:  # the type also depends on the default
        (best, _), back = together(best, default)
        best = back(best)
    return best


# ---- conversions ---------------------------------------------------------------------------------
def _integer(t: T.Scalar) -> Callable[[Any], Any]:
    return lambda x: truncated(x, t.dtype)


def _int(x: Any) -> int:
    return int(weakly(truncated(x, T.INT64.dtype)))


def _number(t: T.Scalar) -> Callable[[Any], Any]:
    return lambda x: as_type(x, t)


def _complex(t: T.Scalar) -> Callable[..., Any]:
    """Return np.complex64 or the like, which takes one number or two parts."""
    part = T.real_of(t)

    def of(*given: Any) -> Any:
        if len(given) == 1:
            return as_type(given[0], t)
        return t.dtype.type(complex(*(as_type(x, part) for x in given)))

    return of


# ---- intrinsics ----------------------------------------------------------------------------------
def _intrinsic(entry: Intrinsic) -> Callable[..., Any]:
    """Return the meaning of an intrinsic, as a function that converts its arguments to the type that it takes."""

    def function(*arguments: Any) -> Any:
        common = common_type(*map(type, arguments[: 1 if entry.counts else None]))
        if common.is_complex and entry.of_complex:
            return _intrinsic(BY_NAME[entry.of_complex])(*arguments)
        t = entry.taken(common)
        result = entry.meaning(*(as_type(x, t) for x in arguments))
        if entry.gives == "int":
            return _int(result)
        given = entry.given(t)
        typed = as_type(result, given)
        return weakly(typed) if given.weak else typed

    return function


_minimum, _maximum = _intrinsic(BY_NAME["minimum"]), _intrinsic(BY_NAME["maximum"])


# ---- atomics -------------------------------------------------------------------------------------
def _atomic(change: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that reads, changes and stores an element. Operands are first converted to the array's type."""

    def atomic(array: Any, index: Any, *operands: Any) -> Any:
        old = array[index]
        array[index] = change(old, *(array.convert(v) for v in operands))
        return old

    return atomic


# ---- arrays of tiles ---------------------------------------------------------------------------------
def _local(n: int, dtype: Any) -> CheckedArray:
    """Return a local array. dtype: what `replacement` gives for a type."""
    return _made(n, dtype, "the local array")


def _scratch(n: Any, dtype: Any, zeros: bool = True) -> CheckedArray:
    """Return a scratch array, whose length is only known now. zeros: False: no element is what a kernel may expect."""
    if n < 0:
        raise BadValue("the scratch array", expected="a length of 0 or more", given=str(n))
    return _made(int(n), dtype, "the scratch array", 0 if zeros else 0xA5)


def _made(n: int, dtype: Any, name: str, byte: int = 0) -> CheckedArray:
    t = next(
        T.DATA_TYPES.get(name) or _PYTHON[name]
        for f, name in CONVERSIONS.items()
        if _TABLE.get(f, f) is dtype
    )
    made = np.zeros(n, t.dtype)
    made.view(np.uint8)[:] = byte
    return CheckedArray(made, name)


_PYTHON = {"int": T.INT64, "float": T.FLOAT64, "complex": T.COMPLEX128}


# ---- the table -----------------------------------------------------------------------------------
_TABLE: dict[Any, Any] = {
    function: _intrinsic(BY_NAME[name]) for function, name in BY_FUNCTION.items()
}
_TABLE |= {t.dtype.type: _integer(t) for t in T.INTEGERS.values()}
_TABLE |= {
    builtins.sum: _sum, builtins.any: _any, builtins.all: _all,
    builtins.min: _extreme(_minimum), builtins.max: _extreme(_maximum),
    builtins.bool: np.bool_, builtins.int: _int,
    np.float32: _number(T.FLOAT32), np.float64: _number(T.FLOAT64),
    np.complex64: _complex(T.COMPLEX64), np.complex128: _complex(T.COMPLEX128),
    names.local: _local, names.stage: StagedArray, names.scratch: _scratch,
    names.distinct: lambda i: i,
    names.atomic_add: _atomic(operators.add),
    names.atomic_min: _atomic(_minimum), names.atomic_max: _atomic(_maximum),
    names.atomic_exch: _atomic(lambda old, v: v),
    names.atomic_cas: _atomic(lambda old, expected, v: v if old == expected else old),
    names.atomic_and: _atomic(operators.bit_and), names.atomic_or: _atomic(operators.bit_or),
    names.atomic_xor: _atomic(operators.bit_xor),
}  # fmt: skip


class ModuleProxy:
    """A module whose attributes are replaced when they are looked up: `math.exp`, `ev.argmax`."""

    def __init__(self, module: ModuleType, replace: Callable[[Any], Any]) -> None:
        self.__dict__[_MODULE] = module, replace  # attributes may have any name

    def __getattr__(self, name: str) -> Any:
        module, replace = self.__dict__[_MODULE]
        found = reads.attribute_of(module, name)
        if found is reads.NOTHING:
            raise AttributeError(f"module {module.__name__} has no {name}")
        return replace(found)


_MODULE = hidden("module")


def replacement(thing: Any) -> Any:
    """Return what replaces a captured object that is no @ev.func function."""
    if isinstance(thing, ModuleType):
        return ModuleProxy(thing, replacement)
    if type(thing) is bool:
        return np.bool_(thing)
    if isinstance(thing, np.generic):
        return element_value(thing)
    weak = next((cls for cls in (int, float, complex) if isinstance(thing, cls)), None)
    if weak is not None:  # a member of an IntEnum is a number, too
        return weak(thing)
    if type(thing) is tuple:
        return tuple(replacement(item) for item in thing)
    try:
        return _TABLE.get(thing, thing)
    except TypeError:  # it is not hashable, so it is not in the table
        return thing


BUILTINS: dict[str, Any] = {name: replacement(thing) for name, thing in vars(builtins).items()}
