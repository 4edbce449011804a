"""Sort by keys, stably.

In CPU memory NumPy sorts. On a GPU, CCCL's radix sort sorts integers. Floats are sorted there as integers
that have the same order; the keys themselves are then moved, so they keep every bit.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

Values = tuple[Any, ...]
EACH = ev.ThreadMapped()  # a thread for each element


@functools.cache
def encoding(code_of: Any) -> Any:
    @ev.kernel
    def encode(E, bits, out):
        for i in E.tiles():
            out[i] = code_of(bits[i])

    return encode


def sort_by_key(keys: Any, values: Any = None, *, descending: bool = False) -> tuple[Any, Any]:
    """Return (keys, values), both sorted by key. Equal keys keep their order.

    keys: (n,), real numbers or bool.
    values: an array (n,) of numbers or bool on the same device, or a tuple of such arrays.
      Default: the positions 0 .. n-1, as int32 if that suffices, else int64. The second result
      is then the order that sorts the keys, as of numpy.argsort.
    descending: the greatest keys first. Equal keys keep their order then, too.

    NaN comes last in both orders, as NumPy sorts it, and all NaN are equal. -0.0 and 0.0 are equal.
    The results are new arrays of the same library and on the same device. On a GPU this needs the
    package cuda-cccl, and temporary memory of about twice the size of the arguments.

    Raises InputError if lengths or devices differ, or keys are complex; UnavailableError if cuda-cccl
    is missing.

    >>> import numpy as np, evenly as ev
    >>> keys, values = ev.sort_by_key(np.array([3, 1, 3, 0]), np.array([10.0, 20.0, 30.0, 40.0]))
    >>> keys.tolist(), values.tolist()
    ([0, 1, 3, 3], [40.0, 20.0, 10.0, 30.0])
    """
    keys = kit.vector(keys, "keys")
    if kit.dtype(keys).kind == "c":
        hint = "sort by its real parts or by its abs"
        raise ev.InputError("keys", expected="real numbers", given="complex ones", hint=hint)
    given = kit.vectors(values, keys, "keys")
    sort = by_radix if kit.on_gpu(keys) else by_numpy
    keys, found = sort(keys, given, descending)
    return keys, found[: len(values)] if isinstance(values, tuple) else found[0]


def by_numpy(keys: Any, values: Values, descending: bool) -> tuple[Any, Values]:
    """Sort arrays in CPU memory. Without values, the second result is the order alone."""
    order = _order(kit.numbers(keys), descending)
    found = [kit.from_numpy(kit.to_numpy(x)[order], x) for x in (keys, *values)]
    if not values:
        found.append(kit.from_numpy(order.astype(kit.index_type(len(order))), keys))
    return found[0], tuple(found[1:])


def _order(keys: np.ndarray[Any, Any], descending: bool) -> np.ndarray[Any, Any]:
    if not descending:
        return np.argsort(keys, kind="stable")
    order = len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
    nans = int(np.count_nonzero(keys != keys))  # the first ones of this order
    return np.concatenate([order[nans:], order[:nans]])


def by_radix(keys: Any, values: Values, descending: bool) -> tuple[Any, Values]:
    """Sort arrays by `kit.radix_sort`. Without values, the second result is the order alone."""
    n, integers = len(keys), kit.dtype(keys).kind in "biu"
    if integers and len(values) == 1 and kit.dtype(values[0]).itemsize <= 8:
        sorted_, moved = (kit.empty(x, (n,), kit.dtype(x)) for x in (keys, values[0]))
        kit.radix_sort(keys, values[0], sorted_, moved, descending=descending)
        return sorted_, (moved,)
    positions = kit.positions(keys, n)
    order = kit.empty(keys, (n,), kit.dtype(positions))
    if integers:
        sorted_ = kit.empty(keys, (n,), kit.dtype(keys))
        kit.radix_sort(keys, positions, sorted_, order, descending=descending)
    else:
        codes = _codes(keys, descending)
        kit.radix_sort(codes, positions, kit.empty(keys, (n,), kit.dtype(codes)), order)
        sorted_ = kit.take(keys, order)
    found = tuple(kit.take(x, order) for x in values)
    return sorted_, found or (order,)


def _codes(keys: Any, descending: bool) -> Any:
    """Return integers that ascend in the order asked for."""
    n = len(keys)
    codes = kit.empty(keys, (n,), kit.code_type(keys))
    encode = encoding(kit.coding(keys, descending)[0])
    encode[EACH](kit.each(n), kit.as_integers(keys), codes)
    return codes
