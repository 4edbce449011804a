"""A caller's vectors: what they are, where they lie, and whether they fit together."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.errors import InputError
from evenly.interop import arrays
from evenly.interop.transfer import to_numpy
from evenly.interop.vectors import contiguous, from_numpy
from evenly.kit.arguments import check_shape, empty
from evenly.language.types import from_dtype, read_as
from evenly.layouts.arguments import count_of
from evenly.layouts.each import Each, Whole
from evenly.layouts.entries import check_range
from evenly.runtime.kernel import kernel
from evenly.schedules import ThreadMapped

MADE = 128  # layouts that are kept


def vector(x: Any, name: str, axes: int = 1) -> Any:
    """Return the array `x` of one axis, or of up to `axes`, in contiguous memory: itself, or a copy by its own library.

    It has a length. An array of another library than NumPy, CuPy and PyTorch becomes one of NumPy, CuPy or
    `ev.DeviceArray`.

    Raises InputError for anything else.
    """
    found = arrays.view(x, name)
    if not 1 <= len(found.shape) <= axes:
        expected = "a vector" if axes == 1 else f"an array of 1 to {axes} axes"
        raise InputError(name, expected=expected, given=f"shape {tuple(found.shape)}")
    return contiguous(x, name)


def vectors(values: Any, like: Any, named: str, name: str = "values") -> tuple[Any, ...]:
    """Return the vectors `values`, an array, a tuple of arrays, or None: as many elements as `like`, beside it.

    named: what the caller calls `like`. Raises InputError for any other.
    """
    several = isinstance(values, tuple)
    given = values if several else () if values is None else (values,)
    found = []
    for i, x in enumerate(given):
        which = f"{name}[{i}]" if several else name
        taken = vector(x, which)
        check_shape(taken, (len(like),), which, f"as many as {named} has")
        check_beside(taken, which, like, named)
        found.append(taken)
    return tuple(found)


def check_beside(x: Any, name: str, like: Any, named: str) -> None:
    """Raise InputError unless the arrays `x` and `like` are on the same device."""
    places = [(v.device, v.device_id) for v in (arrays.view(x, name), arrays.view(like, named))]
    if places[0] != places[1]:
        given, expected = (device if device == "cpu" else f"{device}:{n}" for device, n in places)
        raise InputError(
            name, expected=f"an array beside {named}, on {expected}", given=f"one on {given}"
        )


def check_output(out: Any, shape: tuple[int, ...], like: Any, named: str, what: str) -> None:
    """Raise InputError unless `out` is a writable array of this shape beside `like`. what: describes the shape."""
    check_shape(out, shape, "out", what)
    check_beside(out, "out", like, named)
    if arrays.view(out, "out").readonly:
        raise InputError("out", expected="an array that can be written", given="a read-only one")


def check_apart(out: Any, **read: Any) -> None:
    """Raise InputError if `out` is read-only, or shares memory with one of these arrays and layouts, by their names.

    A call of a kernel checks its own arguments. This is for operands that another kernel reads.
    """
    Binding({**read, "out": out}).check_outputs(frozenset({("out",)}))


def held_as(x: Any) -> np.dtype[Any]:
    """Return the dtype in which elements of `x` are added: float32 for 16-bit floats, else its own."""
    return _sums_of(dtype(x))


def _sums_of(elements: np.dtype[Any]) -> np.dtype[Any]:
    found = from_dtype(elements)
    return elements if found is None else read_as(found).dtype


def check_sums(x: Any, held: np.dtype[Any]) -> None:
    """Raise InputError unless numbers of the type `held` can hold sums of elements of `x`."""
    if held.kind == "b" or not np.can_cast(held_as(x), held, "same_kind"):
        expected = f"a type that holds sums of {dtype(x)}"
        raise InputError("out", expected=expected, given=str(held))


def check_holds(out: Any, found: np.dtype[Any], what: str = "results") -> None:
    """Raise InputError if results of the dtype `found` do not convert to that of `out`, as complex to real numbers."""
    if not np.can_cast(_sums_of(found), _sums_of(dtype(out)), "same_kind"):
        expected = f"an array for {what} of {found}"
        raise InputError("out", expected=expected, given=str(dtype(out)))


def check_indices(x: Any, count: int, name: str, what: str = "indices") -> None:
    """Raise InputError unless `x` has integers in 0 .. count-1; it names the first other. On a GPU, the call waits.

    what: what they are.
    """
    if dtype(x).kind not in "iu":
        raise InputError(name, expected="integers", given=f"dtype {dtype(x)}")
    check_range(x, count, name, what)


def dtype(x: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of an array of any library."""
    return arrays.dtype_of(x)


def on_gpu(x: Any) -> bool:
    """Whether the array `x` lies in the memory of a GPU."""
    return arrays.view(x).device == "cuda"


def index_type(count: int) -> np.dtype[Any]:
    """Return the dtype of positions 0 .. count: int32 if it suffices, else int64."""
    return np.dtype(np.int32 if count <= np.iinfo(np.int32).max else np.int64)


# A call is quicker with the layout of an earlier one.
_each = functools.lru_cache(MADE)(Each)
_whole = functools.lru_cache(MADE)(Whole)


def each(count: int) -> Each:
    """Return a layout of `count` tiles with one atom each, for kernels that compute on each element of an array.

    Equal counts may have the same layout. Raises InputError unless it is an integer from 0.
    """
    return _each(count_of(count, "count"))


def whole(count: int) -> Whole:
    """Return a layout of one tile with `count` atoms, for kernels that scan the elements of an array.

    Equal counts may have the same layout. Raises InputError unless it is an integer from 0.
    """
    return _whole(count_of(count, "count"))


@kernel
def count_up(E, out):
    for i in E.tiles():
        out[i] = i


def positions(like: Any, count: int) -> Any:
    """Return 0 .. count-1, int32 if that suffices, else int64, an array of the library of `like`."""
    if not on_gpu(like):
        return from_numpy(np.arange(count, dtype=index_type(count)), like)
    out = empty(like, (count,), index_type(count))
    count_up[ThreadMapped()](Each(count), out)
    return out


@kernel
def gather(E, x, order, out):
    for i in E.tiles():
        out[i] = x[order[i]]


def take(x: Any, order: Any) -> Any:
    """Return x[order], a new array of the library of `x`. Indices are not checked on a GPU."""
    if not on_gpu(x):
        return from_numpy(to_numpy(x)[to_numpy(order)], x)
    out = empty(x, (len(order),), dtype(x))
    gather[ThreadMapped()](Each(len(order)), x, order, out)
    return out
