"""Check the arguments of a hand-written kernel's launch: its grid, its arrays, its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.schedules.contract import is_integer

from .machine import Memory

MOST_THREADS = 1024  # of a block, on every GPU
# The letters of Machine.kinds().
TYPES = {
    "b": "bool", "a": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "j": "uint32",
    "l": "int64", "m": "uint64", "f": "float32", "d": "float64", "e": "float16", "F": "complex64", "D": "complex128",
}  # fmt: skip


def grid_of(given: Any) -> tuple[int, int]:
    """Return (blocks, blocks along y), from a number or a pair. Raises InputError."""
    pair = (given, 1) if is_integer(given) else given
    if not (
        isinstance(pair, tuple | list)
        and len(pair) == 2
        and all(is_integer(n) and n >= 1 for n in pair)
    ):
        raise InputError("grid", expected="a number of blocks, or (x, y)", given=repr(given))
    if pair[0] >= 2**31 or pair[1] >= 2**16:
        raise InputError("grid", expected="x below 2**31 and y below 2**16", given=repr(given))
    return int(pair[0]), int(pair[1])


def block_of(given: Any, bound: str) -> int:
    """Return the threads per block. bound: the argument of EV_KERNEL, a number or a name. Raises InputError."""
    most = min(int(bound), MOST_THREADS) if bound.isdigit() else MOST_THREADS
    if not is_integer(given) or not 1 <= given <= most:
        raise InputError("block", expected=f"1 to {most} threads", given=repr(given))
    return int(given)


def array_of(name: str, kind: str, value: Any) -> Memory:
    """Return the memory of an array, for a pointer. kind: "*f" for float*, "&f" for const float*. Raises InputError."""
    wanted, written = TYPES.get(kind[1]), kind[0] == "*"
    of = f" of {wanted}" if wanted else ""
    if not isinstance(value, np.ndarray):
        raise InputError(name, expected=f"a NumPy array{of}", given=type(value).__name__)
    byte = value.dtype.itemsize == 1 and kind[1] in "aB"  # of either sign
    if wanted and value.dtype != wanted and not byte:
        raise InputError(name, expected=f"an array{of}", given=str(value.dtype))
    if not value.flags.c_contiguous:
        raise InputError(name, expected="a C-contiguous array", given="a view with strides")
    if written and not value.flags.writeable:
        raise InputError(name, expected="an array that may be written", given="a read-only one")
    return Memory(name, value.ctypes.data, value.nbytes, value.itemsize, written)


def apart(memory: Sequence[Memory]) -> list[Memory]:
    """Return each array once, even if it is passed twice. It is writable if one of its arguments is.

    Raises InputError for arrays that overlap in part.
    """
    made: dict[tuple[int, int], Memory] = {}
    for new in memory:
        start, end = new.pointer, new.pointer + new.nbytes
        for old in made.values():
            same = (old.pointer, old.nbytes) == (start, new.nbytes)
            if not same and max(start, old.pointer) < min(end, old.pointer + old.nbytes):
                wanted = f"memory that is that of {old.name}, or apart from it"
                raise InputError(new.name, expected=wanted, given="arrays that overlap in part")
        old = made.setdefault((start, new.nbytes), new)
        if new.writable and not old.writable:
            made[start, new.nbytes] = replace(old, writable=True)
    return list(made.values())


def number_of(name: str, kind: str, value: Any) -> Any:
    """Return a number for a parameter of this kind. Raises InputError."""
    wanted = TYPES.get(kind)
    if wanted is None:
        known = ", ".join(TYPES.values())
        expected = f"a kernel whose parameters are pointers or numbers ({known})"
        raise InputError(name, expected=expected, given="a parameter of another type")
    if not _fits(np.dtype(wanted), value):
        raise InputError(name, expected=f"a number ({wanted})", given=_brief(value))
    return value


def _fits(dtype: np.dtype[Any], value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return dtype.kind == "b"
    if dtype.kind == "c":
        return isinstance(value, complex | np.complexfloating) or _fits(np.dtype("d"), value)
    if dtype.kind == "f":
        return isinstance(value, float | np.floating) or (
            isinstance(value, int | np.integer) and abs(int(value)) < 2**1023
        )
    return dtype.kind != "b" and is_integer(value) and _in_range(dtype, value)


def _in_range(dtype: np.dtype[Any], value: int) -> bool:
    return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)


def _brief(value: Any) -> str:
    return "an array" if isinstance(value, np.ndarray) else repr(value)
