"""Functions of lists for PyTorch: checks, and a call of an operator."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from evenly.errors import InputError
from evenly.torch_operators import list_operators as operators
from evenly.torch_operators.functions import check_tensor, number
from evenly.torch_operators.lists import Lists


def segment_reduce(lists: Lists, x: Tensor, reduce: str = "sum") -> Tensor:
    """The "sum" or the "mean" of each list, (m,) or (m, d), for its elements x, (n,) or (n, d).

    A list without elements has the sum 0 and the mean nan. All functions of lists: tensors of the types and the rules
    of `spmv`, on the device of the lists. They raise InputError for others, and for other shapes.
    """
    _check(lists, x, "x", 1, lists_first=False)
    if reduce not in ("sum", "mean"):
        raise InputError("reduce", expected="'sum' or 'mean'", given=repr(reduce))
    return operators.segment_reduce(lists.offsets, x, reduce)


def repeat(lists: Lists, y: Tensor) -> Tensor:
    """y, (m,) or (m, d), of each list at each of its elements, (n,) or (n, d). More: see `segment_reduce`."""
    _check(lists, y, "y", 1)
    return operators.repeat(lists.offsets, y, lists.num_elements)


def jagged_to_padded(lists: Lists, x: Tensor, length: int, padding_value: float = 0.0) -> Tensor:
    """The lists as rows of one tensor, (m, length) or (m, length, d), filled up at their ends.

    What a list has beyond the length is left out. More: see `segment_reduce`.
    """
    _check(lists, x, "x", 1, lists_first=False)
    if not isinstance(length, int) or isinstance(length, bool) or length < 0:
        raise InputError("length", expected="an int, 0 or more", given=repr(length))
    padding = number(padding_value, "padding_value")
    return operators.jagged_to_padded(lists.offsets, x, length, padding)


def padded_to_jagged(lists: Lists, padded: Tensor) -> Tensor:
    """The lists that the rows of `padded`, (m, length) or (m, length, d), begin with: (n,) or (n, d).

    Elements beyond the length of the rows are 0. More: see `segment_reduce`.
    """
    _check(lists, padded, "padded", 2)
    return operators.padded_to_jagged(lists.offsets, padded, lists.num_elements)


def _check(lists: Any, x: Any, name: str, axes: int, lists_first: bool = True) -> None:
    """Raise InputError unless x has `axes` axes or one more, the first of lists or of elements, on their device."""
    if not isinstance(lists, Lists):
        hint = "Lists(offsets) makes them"
        given = type(lists).__name__
        raise InputError("lists", expected="Lists", given=given, hint=hint)
    check_tensor(x, name, lists.offsets.device, "lists")
    count = lists.num_lists if lists_first else lists.num_elements
    if x.dim() not in (axes, axes + 1) or len(x) != count:
        what = "lists" if lists_first else "elements"
        expected = f"{axes} or {axes + 1} axes, the first of {count} {what}"
        raise InputError(name, expected=expected, given=f"shape {tuple(x.shape)}")
