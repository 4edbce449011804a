"""Where CPython's and NumPy's objects have their fields, for native code that looks at them.

The order of fields is CPython's (`PyObject`, `PyWeakReference`) and the C-API's of NumPy (`PyArrayObject_fields`,
the same in NumPy 1 and 2). Nothing is taken for granted: every field is probed once.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import sysconfig
import weakref
from typing import Any, NamedTuple

import numpy as np

HEAD = 16  # bytes that every object begins with: a count of references and its type
# NPY_ARRAY_C_CONTIGUOUS | ALIGNED | WRITEABLE
LAID_OUT = 0x501


class Fields(NamedTuple):
    """Bytes from the start of an object. referent: of a weak reference, and the object None's address once it is dead.

    ndim and flags have 32 bits, the others 64; sizes: where an array's shape lies.
    """

    type: int
    referent: int
    data: int
    ndim: int
    sizes: int
    dtype: int
    flags: int


@functools.cache
def fields() -> Fields | None:
    """Where they are; None where a probe does not find them, and where no lock keeps objects as they are."""
    found = Fields(HEAD - 8, HEAD, HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48)
    usual = sys.implementation.name == "cpython" and object.__basicsize__ == HEAD
    locked = not sysconfig.get_config_var("Py_GIL_DISABLED")
    return found if usual and locked and _references(found) and _arrays(found) else None


def _references(at: Fields) -> bool:
    array = np.zeros(1)
    reference = weakref.ref(array)
    before = _word(reference, at.referent) == id(array)
    del array
    return before and _word(reference, at.referent) == id(None)


def _arrays(at: Fields) -> bool:
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    probes = (np.zeros(3, np.int8), np.zeros((2, 3)), np.zeros(5)[1:], np.zeros(6)[::2], fixed)
    return all(_array(at, probe) for probe in (*probes, np.zeros((2, 3, 4), np.int32).T))


def _array(at: Fields, array: np.ndarray[Any, Any]) -> bool:
    sizes = (ctypes.c_int64 * array.ndim).from_address(_word(array, at.sizes))
    return (
        _word(array, at.type) == id(np.ndarray)
        and _word(array, at.data) == array.__array_interface__["data"][0]
        and _half(array, at.ndim) == array.ndim
        and tuple(sizes) == array.shape
        and _word(array, at.dtype) == id(array.dtype)
        and _half(array, at.flags) & LAID_OUT == array.flags.num & LAID_OUT
    )


def _word(obj: object, offset: int) -> int:
    return ctypes.c_int64.from_address(id(obj) + offset).value


def _half(obj: object, offset: int) -> int:
    return ctypes.c_int32.from_address(id(obj) + offset).value
