"""A caller's lists of unequal length: an array of all elements, and the offsets at which the lists begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.choosing.statistics import statistics
from evenly.errors import InputError
from evenly.interop import arrays
from evenly.kit.arguments import empty, renamed
from evenly.kit.operands import check_beside, check_output, dtype, vector
from evenly.layouts.contract import is_layout
from evenly.layouts.ragged import Ragged, ragged
from evenly.schedules import by_name


def as_lists(offsets: Any, count: int | None, beside: Any, named: str = "data") -> Ragged:
    """Return the offsets of lists that have `count` elements in all as a layout: a tile is a list. None: any number.

    offsets: (m + 1,), integers that ascend from 0 to `count`: list t has the elements offsets[t] .. offsets[t + 1] - 1.
      They are checked at each call, which waits for a GPU. A layout of `ev.ragged` is taken as it is.
    beside: an array on the same device, which the caller calls `named`.

    Raises InputError for anything else.
    """
    if isinstance(offsets, Ragged):
        if count not in (None, offsets.num_atoms):
            expected = f"lists with {count:,} elements, as many as {named} has"
            raise InputError("offsets", expected=expected, given=f"{offsets.num_atoms:,}")
        found = offsets
    elif is_layout(offsets):
        expected = "an array of offsets, or a layout of ev.ragged"
        raise InputError("offsets", expected=expected, given=type(offsets).__name__)
    else:
        with renamed(**{"A.offsets": "offsets"}):
            found = ragged(vector(offsets, "offsets"), num_atoms=count)
    check_beside(found.offsets, "offsets", beside, named)
    return found


def alike(lists: Ragged) -> int:
    """Return the greatest length of lists of about one length; 0 if it is more than four times the mean.

    The lengths of a layout are measured once, which waits for a GPU. `auto` needs them, too.
    """
    st = statistics(lists)
    return st.greatest if st.greatest <= 4 * st.mean else 0


def longest(lists: Ragged) -> int:
    """Return the greatest length of lists, which are measured once, as by `alike`."""
    return statistics(lists).greatest


def result(
    out: Any,
    like: Any,
    shape: tuple[int, ...],
    made: np.dtype[Any],
    what: str,
    named: str = "data",
    exact: bool = False,
) -> Any:
    """Return `out`, or a new array of the dtype `made` if it is None.

    what: describes the shape. named: what the caller calls `like`. exact: whether `out` must have the dtype `made`.

    Raises InputError unless `out` is such an array beside `like` that can be written.
    """
    if out is None:
        return empty(like, shape, made)
    check_output(out, shape, like, named, what)
    if exact and dtype(out) != made:
        raise InputError("out", expected=f"an array of {made}", given=f"one of {dtype(out)}")
    return out


def merged(x: Any, name: str) -> Any:
    """Return an array (m, n, ...) as (m * n, ...), over the same memory. Raises InputError if that is strided."""
    if not arrays.view(x, name).contiguous:
        raise InputError(name, expected="a contiguous array", given="a strided one")
    m, n, *rest = x.shape
    return x.reshape((m * n, *rest))


def check_real(x: Any, name: str, numbers: bool = True) -> None:
    """Raise InputError for complex elements, and with `numbers` for bool."""
    kind = dtype(x).kind
    if kind == "c":
        hint = "take its abs, or its real and imaginary parts"
        raise InputError(name, expected="real numbers", given=f"dtype {dtype(x)}", hint=hint)
    if numbers and kind == "b":
        raise InputError(name, expected="numbers", given="bool", hint="x.astype(numpy.int32)")


def float_of(x: Any) -> np.dtype[Any]:
    """Return the dtype of means and exponentials of elements of `x`: float64 of integers and bool, else its own."""
    return np.dtype(np.float64) if dtype(x).kind in "iub" else dtype(x)


def number_of(given: Any, held: np.dtype[Any], name: str) -> Any:
    """Return a number as NumPy's of the dtype `held`. Raises InputError for what that cannot hold."""
    try:
        made = held.type(given)
        exact = np.ndim(given) == 0 and not isinstance(given, str | bytes | None)
        exact = exact and (held.kind not in "iub" or bool(made == given))
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise InputError(name, expected=f"a number of {held}", given=repr(given))
    return made


def of_whole_lists(schedule: Any, tiles: str = "lists") -> Any:
    """Return a schedule for kernels that walk a list again and again. Raises InputError if it splits lists.

    tiles: what the caller calls them.
    """
    made = by_name(schedule, auto=True)
    if made in ("auto", "tuned") or made.owns_tiles:
        return made
    expected = (
        f"'auto', or one that gives whole {tiles} to threads or groups, such as ev.GroupMapped(8)"
    )
    raise InputError("schedule", expected=expected, given=str(made))
