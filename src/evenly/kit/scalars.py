"""Numbers by which a caller scales vectors: of the host, or in the memory of a GPU."""

from __future__ import annotations

import numbers as kinds
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop.vectors import numbers
from evenly.kit.arguments import common_type
from evenly.kit.operands import check_beside, dtype, on_gpu

KINDS: Any = ((kinds.Integral, int), (kinds.Real, float), (kinds.Complex, complex))


def scalar(given: Any, name: str, like: Any, named: str) -> tuple[Any, Any]:
    """Return (number, None) for a number of the host, and (None, array of shape (1,)) for one in the memory of a GPU.

    given: a number, or an array of one element, of shape () or (1,); on a GPU, the one where `like` is. Numbers become
      Python's own, whose precision does not count.
    named: what the caller calls `like`.

    Raises InputError for anything else.
    """
    if isinstance(given, np.generic):
        given = given.item()
    for kind, make in KINDS:
        if isinstance(given, kind):
            return make(given), None
    shape = getattr(given, "shape", None)
    if shape not in ((), (1,)):
        found = type(given).__name__ if shape is None else f"shape {tuple(shape)}"
        raise InputError(name, expected="a number, or an array of one", given=found)
    if not on_gpu(given):
        return numbers(given).reshape(-1)[0].item(), None
    check_beside(given, name, like, named)
    return None, given.reshape(1)


def scaled_type(found: np.dtype[Any], number: Any, array: Any, name: str) -> np.dtype[Any]:
    """Return NumPy's dtype of a scalar times an array of the dtype `found`. number, array: what `scalar` returned.

    Raises InputError for an integer that does not fit the integers that it scales.
    """
    if array is not None:
        return common_type(found, dtype(array))
    if isinstance(number, int) and found.kind in "iu":
        limits = np.iinfo(found)
        if not limits.min <= number <= limits.max:
            expected = f"an integer of {found}, which it scales"
            raise InputError(name, expected=expected, given=str(number))
    return common_type(found, number)
