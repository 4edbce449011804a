"""The description of an array of any library, which `arrays.view` makes."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

Device = Literal["cpu", "cuda"]  # whose memory an array lies in


class ArrayView(NamedTuple):
    """The memory of an array: its address, shape, dtype and device.

    shape: in elements. device: "cpu" or "cuda". contiguous: whether it is in C order.
    owner: an object that keeps the memory alive.

    This is a named tuple because every call makes one for each array, and a frozen
    data class takes five times as long to make.
    """

    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: Device
    device_id: int
    readonly: bool
    contiguous: bool
    owner: object

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize
