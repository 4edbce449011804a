"""What is known of an array, whoever's it is: where it lies and how. `arrays.view` makes it."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

Device = Literal["cpu", "cuda"]  # whose memory an array lies in


class ArrayView(NamedTuple):
    """Where an array lies and how. `owner` keeps the memory alive.

    shape in elements; device "cpu" or "cuda"; contiguous means C order. (A named
    tuple, since every call makes one an argument: a frozen data class takes
    five times as long.)
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
