"""What objects look like, as steps that native code takes to tell whether those of a call look the same.

A step names a value: an object's address, or another one that an earlier step found. Steps are taken in
their order, and the first that finds a difference is the last: a field is looked at after the type that has it.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .fields import LAID_OUT, Fields

# What a step does; a step is (one of these, value, offset, mask, expected). They are in what Numba keeps of
# `targets.cpu.again` on disk: whoever changes one of these numbers changes that file, too.
IS = 0  # the value itself is `expected`
WORD = 1  # 64 bits there, under the mask, are `expected`
HALF = 2  # 32 bits there are
FOLLOW = 3  # 64 bits there are another value: the one of number `expected`
ITEM = 4  # the dict has, for the key at `offset`, the object `expected`; 0: it has none
STEP_INTEGERS = 5
ATTRIBUTE_INTEGERS = 3  # to read one: its object's value, its name, its own value


Step = tuple[int, int, int, int, int]


class Looks:
    """Of so many arguments, which are its first values.

    values: addresses, 0 where they are found at a call. attributes: read anew at each call.
    early: the steps that need none, so that no attribute is asked of another kind of object; late: the others.
    held: what keeps the addresses in the steps those of the same objects; no array is among them.
    """

    def __init__(self, at: Fields, count: int) -> None:
        self._at, self.count = at, count
        self.values = [0] * count
        self.attributes: list[tuple[int, int, int]] = []
        self.early: list[Step] = []
        self.late: list[Step] = []
        self._found_late: set[int] = set()  # values that follow from attributes
        self.held: list[Any] = []

    def attribute(self, value: int, name: str) -> int:
        """The value of an attribute."""
        found = self._another(0)
        self.attributes.append((value, self._holding(name), found))
        self._found_late.add(found)
        return found

    def inside(self, obj: Any) -> int:
        """The value of an object that lives as long as an argument that is checked before."""
        return self._another(id(obj))

    def same(self, value: int, obj: Any) -> None:
        """It is this very object, which is held."""
        self._step(IS, value, 0, 0, self._holding(obj))

    def alive(self, value: int, obj: Any) -> None:
        """It is this very object, which is not held: where it died, another one may lie."""
        reference = self._another(self._holding(weakref.ref(obj)))
        self._word(reference, self._at.referent, id(obj))
        self._step(IS, value, 0, 0, id(obj))

    def item(self, mapping: dict[str, Any], name: str, found: tuple[Any] | None) -> None:
        """The dict has this very object there, in a tuple, or nothing."""
        place = self._another(self._holding(mapping))
        expected = self._holding(found[0]) if found else 0
        self._step(ITEM, place, self._holding(name), 0, expected)

    def of_type(self, value: int, cls: type) -> None:
        self._word(value, self._at.type, self._holding(cls))

    def array(self, value: int, array: np.ndarray[Any, Any]) -> None:
        """It is an array of NumPy with the same memory, shape, type and flags (C order among them)."""
        at = self._at
        self.of_type(value, type(array))
        self._word(value, at.data, array.__array_interface__["data"][0])
        self._half(value, at.ndim, -1, array.ndim)
        self._half(value, at.flags, LAID_OUT, array.flags.num & LAID_OUT)
        self._word(value, at.dtype, self._holding(array.dtype))
        sizes = self._another(0)
        self._step(FOLLOW, value, at.sizes, 0, sizes)
        for axis, size in enumerate(array.shape):
            self._word(sizes, 8 * axis, size)

    def element(self, value: int, array: np.ndarray[Any, Any], index: int) -> None:
        """It is an array that is checked before, and has the same integer of 32 or 64 bits there."""
        one = array[index : index + 1 or None]
        place = self._another(one.__array_interface__["data"][0])
        if value in self._found_late:
            self._found_late.add(place)
        if array.itemsize == 8:
            self._word(place, 0, int(one.view(np.int64)[0]))
        else:
            self._half(place, 0, -1, int(one.view(np.int32)[0]))

    def _word(self, value: int, offset: int, expected: int) -> None:
        self._step(WORD, value, offset, -1, expected)

    def _half(self, value: int, offset: int, mask: int, expected: int) -> None:
        self._step(HALF, value, offset, mask, expected)

    def _step(self, does: int, value: int, offset: int, mask: int, expected: int) -> None:
        late = value in self._found_late
        if late and does == FOLLOW:
            self._found_late.add(expected)
        (self.late if late else self.early).append((does, value, offset, mask, expected))

    def _another(self, address: int) -> int:
        self.values.append(address)
        return len(self.values) - 1

    def _holding(self, obj: Any) -> int:
        self.held.append(obj)
        return id(obj)
