"""Arrays as a kernel sees them in the reference. Every index is checked, and every stored value converted."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from evenly.interop.arrays import as_numpy
from evenly.interop.narrow import narrowed, narrowed_nan, widened, widened_half
from evenly.language.types import BFLOAT16, FLOAT16, Scalar, from_dtype

from .failures import OutOfBounds, RunError
from .typed import as_type, is_whole


def _as_it_is(value: Any) -> Any:
    return value


_READ: dict[Scalar, Callable[[Any], Any]] = {FLOAT16: widened_half, BFLOAT16: widened}
_FITS: dict[str, Callable[[Any], bool]] = {
    "b": lambda value: isinstance(value, np.bool_),
    "i": is_whole,
    "u": is_whole,
    "f": lambda value: not isinstance(value, complex | np.complexfloating),
    "c": lambda value: True,
}


class CheckedArray:
    """An array argument, or an array field of a layout. ids: whether its elements are weak integers."""

    def __init__(self, array: Any, name: str, ids: bool = False, writable: bool = True) -> None:
        self._array = array if type(array) is np.ndarray else as_numpy(array, name)
        self._name, self._ids, self._writable = name, ids, writable
        t = from_dtype(self._array.dtype)
        assert t is not None
        self._type = t
        self._read = int if ids else _READ.get(t, _as_it_is)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._array.shape)

    @property
    def size(self) -> int:
        return int(self._array.size)

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        return self._read(self._array[self._checked(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._writable or not self._array.flags.writeable:
            raise RunError(
                self._name, expected="an array that may be written", given="a read-only one"
            )
        self._array[self._checked(index)] = self.convert(value)

    def convert(self, value: Any) -> Any:
        """Convert `value` to the element type. Integers keep their low bits. A float never becomes an integer."""
        t = self._type
        if not _FITS[t.kind](value):
            given = f"a {type(value).__name__}"
            raise RunError(self._name, expected=f"a value of its type, {t}", given=given)
        if t in _READ and isinstance(value, np.float32) and value != value:
            return narrowed_nan(value, t).view(self._array.dtype)
        if t is BFLOAT16:
            return narrowed(value).view(self._array.dtype)
        return as_type(np.float64(value) if t is FLOAT16 else value, t)

    def _checked(self, index: Any) -> tuple[int, ...]:
        shape = self._array.shape
        if type(index) is int and len(shape) == 1 and 0 <= index < shape[0]:
            return (index,)
        indices = index if type(index) is tuple else (index,)
        if len(indices) != len(shape):
            expected = f"{len(shape)} indices"
            raise RunError(self._name, expected=expected, given=str(len(indices)))
        found = tuple(operator.index(i) for i in indices)
        for axis, (i, length) in enumerate(zip(found, shape, strict=True)):
            if not 0 <= i < length:
                where = f" on axis {axis}" if len(shape) > 1 else ""
                expected = (
                    f"an index in 0..{length - 1}{where}"
                    if length
                    else f"no index{where}: it is empty"
                )
                raise OutOfBounds(self._name, expected=expected, given=str(i))
        return found


class StagedArray(CheckedArray):
    """A part of an array, with the array's own indices, which kernels read."""

    def __init__(self, of: CheckedArray, part: range) -> None:
        super().__init__(of._array, of._name, of._ids, writable=False)
        self._part = part
        size = len(of)
        if part and not (part.start >= 0 and part.stop <= size):
            given = f"{part.start}..{part.stop - 1}"
            raise OutOfBounds(
                of._name, expected=f"a part to stage within 0..{size - 1}", given=given
            )

    def __getitem__(self, index: Any) -> Any:
        if operator.index(index) not in self._part:
            expected = f"an index that is staged: {self._part.start}..{self._part.stop - 1}"
            raise OutOfBounds(self._name, expected=expected, given=str(index))
        return super().__getitem__(index)
