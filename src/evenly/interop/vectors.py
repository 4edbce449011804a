"""Vectors as algorithms take and return them: contiguous ones in, the caller's own kind out."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.device_array import DeviceArray
from evenly.interop.narrow import narrowed, widened
from evenly.interop.transfer import to_numpy
from evenly.language.types import BFLOAT16, from_dtype

_INTEGERS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}  # by bytes


def contiguous(x: Any, name: str) -> Any:
    """Return the array `x`, or a contiguous copy by its own library if it is strided.

    Arrays of unknown libraries become NumPy's in CPU memory, and CuPy's, if CuPy is imported, or `ev.DeviceArray`
    on a GPU.
    """
    found, whose = arrays.view(x, name), arrays.kind(x)
    if found.contiguous and whose != "dlpack":
        return x
    if whose == "torch":
        return x.contiguous()
    if found.device == "cpu":
        return np.ascontiguousarray(arrays.as_numpy(x, name))
    cupy = sys.modules.get("cupy")
    if cupy is not None and from_dtype(found.dtype) is not BFLOAT16:
        known = x if hasattr(x, "__cuda_array_interface__") else cupy.from_dlpack(x)
        return cupy.ascontiguousarray(cupy.asarray(known))
    if not found.contiguous:
        raise InputError(name, expected="a contiguous array", given="a strided one")
    return DeviceArray(found)


def numbers(x: Any) -> np.ndarray[Any, Any]:
    """Return an array in CPU memory as a NumPy array to compute with: over the same memory, or bfloat16 as float32."""
    host = arrays.as_numpy(x)
    widened_: np.ndarray[Any, Any] = widened(host) if from_dtype(host.dtype) is BFLOAT16 else host
    return widened_


def from_numpy(host: np.ndarray[Any, Any], like: Any) -> Any:
    """Return an array of CPU memory as one of the library of `like`, which is in CPU memory, too."""
    if arrays.kind(like) != "torch":
        return host
    made = arrays.empty(like, host.shape, host.dtype)
    arrays.as_numpy(made)[...] = host
    return made


def store(numbers: np.ndarray[Any, Any], out: Any) -> None:
    """Store numbers in an array in CPU memory. Integers keep their low bits; 16-bit floats are rounded once."""
    target = arrays.as_numpy(out)
    narrow = from_dtype(target.dtype) is BFLOAT16
    with np.errstate(over="ignore"):
        target[...] = narrowed(numbers) if narrow else numbers.astype(target.dtype)


def entry(x: Any, at: int) -> int:
    """Read one element of a vector of integers, on any device."""
    return int(to_numpy(part(x, at, at + 1))[0])


def part(x: Any, start: int, stop: int) -> Any:
    """Return x[start:stop] along the first axis, as a view of the library of `x`."""
    if arrays.kind(x) != "device":
        return x[start:stop]
    whole = x.view()
    row = x.dtype.itemsize * math.prod(x.shape[1:])
    shape = (stop - start, *x.shape[1:])
    return DeviceArray(whole._replace(pointer=whole.pointer + start * row, shape=shape, owner=x))


def as_integers(x: Any) -> Any:
    """Return the memory of a contiguous array as integers of the same width, at most 8 bytes; integers as they are."""
    found = arrays.view(x)
    element = found.dtype if found.dtype.kind in "iu" else np.dtype(_INTEGERS[found.dtype.itemsize])
    if found.device == "cpu":
        return arrays.as_numpy(x).view(element)
    return DeviceArray(found._replace(dtype=element, owner=x))
