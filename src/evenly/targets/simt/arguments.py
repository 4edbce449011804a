"""What a hand-written kernel is launched with, checked: its grid, its arrays, its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError

from .machine import Memory

MOST_THREADS = 1024  # of a block, on every GPU
# The letters of Machine.kinds().
TYPES = {
    "b": "bool", "B": "uint8", "i": "int32", "j": "uint32",
    "l": "int64", "m": "uint64", "f": "float32", "d": "float64",
}  # fmt: skip


def grid_of(given: Any) -> tuple[int, int]:
    """(blocks, blocks along y) of a number or a pair. Raises InputError."""
    pair = (given, 1) if _is_integer(given) else given
    if not (
        isinstance(pair, tuple | list)
        and len(pair) == 2
        and all(_is_integer(n) and 1 <= n < 2**31 for n in pair)
    ):
        raise InputError("grid", expected="a number of blocks, or (x, y)", given=repr(given))
    return int(pair[0]), int(pair[1])


def block_of(given: Any, bound: str) -> int:
    """Threads a block. bound: what EV_KERNEL(...) says, a number or the name of one. Raises InputError."""
    most = min(int(bound), MOST_THREADS) if bound.isdigit() else MOST_THREADS
    if not _is_integer(given) or not 1 <= given <= most:
        raise InputError("block", expected=f"1 to {most} threads", given=repr(given))
    return int(given)


def array_of(name: str, kind: str, value: Any) -> Memory:
    """An array for a pointer. kind: "*f" for float*, "&f" for const float*. Raises InputError."""
    wanted, written = TYPES.get(kind[1]), kind[0] == "*"
    of = f" of {wanted}" if wanted else ""
    if not isinstance(value, np.ndarray):
        raise InputError(name, expected=f"a NumPy array{of}", given=type(value).__name__)
    byte = value.dtype.itemsize == 1 and kind[1] == "B"  # of either sign
    if wanted and value.dtype != wanted and not byte:
        raise InputError(name, expected=f"an array{of}", given=str(value.dtype))
    if not value.flags.c_contiguous:
        raise InputError(name, expected="a C-contiguous array", given="a view with strides")
    if written and not value.flags.writeable:
        raise InputError(name, expected="an array that may be written", given="a read-only one")
    return Memory(name, value.ctypes.data, value.nbytes, value.itemsize, written)


def number_of(name: str, kind: str, value: Any) -> Any:
    """A number for a parameter of the kind. Raises InputError."""
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
    if dtype.kind == "f":
        return isinstance(value, int | float | np.integer | np.floating)
    return dtype.kind != "b" and _is_integer(value) and _in_range(dtype, value)


def _in_range(dtype: np.dtype[Any], value: int) -> bool:
    return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _brief(value: Any) -> str:
    return "an array" if isinstance(value, np.ndarray) else repr(value)
