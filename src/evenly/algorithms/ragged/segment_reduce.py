"""Reduce each list to one value: sums, means, products, extremes, logarithms of sums of exponentials, your own.

Source: the segmented reductions of Blelloch, "Prefix Sums and Their Applications" (1990), as PyTorch names them.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def sums(R, data, start, empty, out):
    for t in R.tiles():
        out[t] = sum((data[k] for k in R.atoms(t)), start)


@ev.kernel
def sums_of_rows(R, data, start, empty, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            out[t, j] = sum((data[k, j] for k in R.atoms(t)), start)


@ev.func
def mean(total, n, empty):
    """The mean of n numbers; `empty` if there are none."""
    return total / n if n > 0 else empty


@ev.kernel
def means(R, data, start, empty, out):
    for t in R.tiles():
        total = sum((data[k] for k in R.atoms(t)), start)
        out[t] = mean(total, R.end(t) - R.begin(t), empty)


@ev.kernel
def means_of_rows(R, data, start, empty, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            total = sum((data[k, j] for k in R.atoms(t)), start)
            out[t, j] = mean(total, R.end(t) - R.begin(t), empty)


@ev.kernel
def products(R, data, start, empty, out):
    for t in R.tiles():
        found = start
        for k in R.atoms(t):
            found *= data[k]
        out[t] = found


@ev.kernel
def products_of_rows(R, data, start, empty, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            found = start
            for k in R.atoms(t):
                found *= data[k, j]
            out[t, j] = found


@ev.kernel
def least(R, data, start, empty, out):
    for t in R.tiles():
        found = start
        for k in R.atoms(t):
            found = min(found, data[k])
        out[t] = found


@ev.kernel
def least_of_rows(R, data, start, empty, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            found = start
            for k in R.atoms(t):
                found = min(found, data[k, j])
            out[t, j] = found


@ev.kernel
def greatest(R, data, start, empty, out):
    for t in R.tiles():
        found = start
        for k in R.atoms(t):
            found = max(found, data[k])
        out[t] = found


@ev.kernel
def greatest_of_rows(R, data, start, empty, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            found = start
            for k in R.atoms(t):
                found = max(found, data[k, j])
            out[t, j] = found


@ev.kernel
def logs_of_exponentials(R, data, start, empty, out):
    for t in R.tiles():
        m, s = ev.reduce(
            kit.exponentials, ((data[k] * start, start) for k in R.atoms(t)), (-math.inf, 0.0)
        )
        out[t] = m + math.log(s)


@functools.cache
def by_two_passes(exp: Any) -> Any:
    """Make the same for a CPU, where exponentials cost more than reading: one for each element."""

    @ev.kernel
    def logs_by_two_passes(R, data, start, empty, out):
        for t in R.tiles():
            m = max((data[k] * start for k in R.atoms(t)), default=-math.inf)
            total = sum(exp(data[k] * start - m) for k in R.atoms(t))
            out[t] = m + math.log(total) if abs(m) < math.inf else m

    return logs_by_two_passes


@ev.kernel
def logs_of_exponentials_of_rows(R, data, start, empty, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            m, s = ev.reduce(
                kit.exponentials,
                ((data[k, j] * start, start) for k in R.atoms(t)),
                (-math.inf, 0.0),
            )
            out[t, j] = m + math.log(s)


@ev.kernel
def anywhere(R, data, start, empty, out):
    for t in R.tiles():
        out[t] = any(data[k] != 0 for k in R.atoms(t))


@ev.kernel
def anywhere_of_rows(R, data, start, empty, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            out[t, j] = any(data[k, j] != 0 for k in R.atoms(t))


@ev.kernel
def everywhere(R, data, start, empty, out):
    for t in R.tiles():
        out[t] = all(data[k] != 0 for k in R.atoms(t))


@ev.kernel
def everywhere_of_rows(R, data, start, empty, out):
    for t in R.tiles():
        for j in ev.lanes(out.shape[1]):
            out[t, j] = all(data[k, j] != 0 for k in R.atoms(t))


def by_function(combine: Any, identity: Any) -> tuple[Any, Any]:
    """Make the kernels that reduce by an `@ev.func` of the caller, with its identity."""

    @ev.kernel
    def reduced(R, data, start, empty, out):
        for t in R.tiles():
            out[t] = ev.reduce(combine, (data[k] for k in R.atoms(t)), identity)

    @ev.kernel
    def reduced_of_rows(R, data, start, empty, out):
        for t in R.tiles():
            for j in ev.lanes(out.shape[1]):
                out[t, j] = ev.reduce(combine, (data[k, j] for k in R.atoms(t)), identity)

    return reduced, reduced_of_rows


class Reduction(NamedTuple):
    """kernels: of lists of numbers, and of rows. start: what enters first. empty: beside it, see the kernels.

    result: the dtype of results of elements like the argument.
    """

    kernels: tuple[Any, Any]
    start: Any
    empty: Any
    result: Any


def _wide(x: Any) -> np.dtype[Any]:
    """The dtype of sums, as NumPy has it: 64 bits for integers and bool."""
    return np.sum(np.zeros(1, kit.dtype(x))).dtype if kit.dtype(x).kind in "iub" else kit.dtype(x)


def _truth(x: Any) -> np.dtype[Any]:
    return np.dtype(np.bool_)


def _lowest(held: np.dtype[Any]) -> Any:
    return np.iinfo(held).min if held.kind in "iu" else -math.inf


def _highest(held: np.dtype[Any]) -> Any:
    return np.iinfo(held).max if held.kind in "iu" else math.inf


BY_NAME = {
    "sum": Reduction((sums, sums_of_rows), 0, 0, _wide),
    "mean": Reduction((means, means_of_rows), 0, math.nan, kit.float_of),
    "prod": Reduction((products, products_of_rows), 1, 1, _wide),
    "min": Reduction((least, least_of_rows), _highest, _highest, kit.dtype),
    "max": Reduction((greatest, greatest_of_rows), _lowest, _lowest, kit.dtype),
    "logsumexp": Reduction(
        (logs_of_exponentials, logs_of_exponentials_of_rows), 1, 1, kit.float_of
    ),
    "any": Reduction((anywhere, anywhere_of_rows), 0, 0, _truth),
    "all": Reduction((everywhere, everywhere_of_rows), 0, 0, _truth),
}


@kit.plannable
def segment_reduce(
    data: Any,
    reduce: Any = "sum",
    offsets: Any = None,
    *,
    lengths: Any = None,
    initial: Any = None,
    out: Any = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Reduce each list of elements to one, (m,) or (m, d).

    data: (n,) or (n, d), the elements of all lists, one list after the other.
    reduce: what for each list, or each column of it:

      | reduce | without elements | dtype of the result |
      | "sum" | 0 | that of numpy.sum: 64 bits for integers and bool |
      | "mean" | nan | float64 for integers and bool, else that of data |
      | "prod" | 1 | as "sum" |
      | "min", "max" | inf, -inf; of integers the greatest, the least | that of data |
      | "logsumexp" | -inf | as "mean" |
      | "any", "all" | False, True | bool |
      | an `@ev.func` of two elements | `initial` | that of data |

      The function is associative and commutative.
    offsets: (m + 1,), integers that ascend from 0 to n: list t has the elements offsets[t] .. offsets[t + 1] - 1. Or
      the layout `ev.ragged(offsets)`: it is checked when it is made, raw offsets at each call, which waits for a GPU.
    lengths: (m,), the numbers of elements, instead of offsets.
    initial: a number that takes part in each sum, product, minimum or maximum, and is the mean of no elements; for a
      function its identity, and required.
    out: (m,) or (m, d), an array for the result, on the same device. Its dtype is that of the sums; those of 16-bit
      floats are float32, and rounded once. Default: a new array of the library of data.
    schedule, target: as of `ev.spmv`. `segment_reduce.plan(...)` takes the same arguments, and decides once.

    The same arguments give the same bits on every run. NaN spreads.

    Raises InputError if shapes, dtypes or devices do not match, and for offsets that do not ascend.

    >>> import numpy as np, evenly as ev
    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> ev.ragged.segment_reduce(x, "mean", offsets=np.array([0, 3, 3, 4]))
    array([ 2., nan,  4.])
    """
    data = kit.vector(data, "data", axes=2)
    how = _reduction(reduce, initial)
    R = kit.as_lists(_offsets(offsets, lengths, len(data)), len(data), data)
    if reduce not in ("sum", "prod"):
        _check_elements(data, reduce)
    rows = tuple(data.shape)[1:]
    wanted = "a value for each list"
    out = kit.result(out, data, (R.num_tiles, *rows), how.result(data), wanted)
    held = kit.held_as(out)
    if how.result is not _truth:
        kit.check_sums(data, held)
        if reduce in ("mean", "logsumexp"):  # floats, also of integers
            kit.check_holds(out, how.result(data))
    elif held.kind != "b":
        raise ev.InputError("out", expected="bool", given=f"dtype {held}")
    start, empty = (x(held) if callable(x) else x for x in (how.start, how.empty))
    if initial is not None:
        start = kit.number_of(initial, held, "initial")
        empty = start if reduce == "mean" else empty
    kernel = how.kernels[len(rows)]
    if kernel is logs_of_exponentials and not kit.on_gpu(data):
        kernel = by_two_passes(kit.exp_below_zero(held, R))
    args = R, data, held.type(start), held.type(empty), out
    return kit.Call(kernel[schedule].on(target), args, out, {"R": "offsets"})


_made: dict[
    Any, tuple[Any, Any]
] = {}  # kernels by functions of callers, so that each is compiled once


def _reduction(reduce: Any, initial: Any) -> Reduction:
    if isinstance(reduce, str):
        if reduce not in BY_NAME:
            expected = f"one of {', '.join(BY_NAME)}, or an @ev.func"
            raise ev.InputError("reduce", expected=expected, given=repr(reduce))
        if initial is not None and reduce in ("logsumexp", "any", "all"):
            raise ev.InputError("initial", expected=f"none for {reduce!r}", given=repr(initial))
        return BY_NAME[reduce]
    if not isinstance(reduce, type(mean)):
        expected = f"one of {', '.join(BY_NAME)}, or an @ev.func"
        raise ev.InputError("reduce", expected=expected, given=type(reduce).__name__)
    if initial is None:
        raise ev.InputError("initial", expected="the identity of the function", given="none")
    if np.ndim(initial):
        raise ev.InputError("initial", expected="a number", given=repr(initial))
    if isinstance(initial, np.ndarray):
        initial = initial[()]
    key = reduce, type(initial), repr(initial)  # nan is found again, and -0.0 is not 0.0
    if key not in _made:
        _made[key] = by_function(reduce, initial)
    return Reduction(_made[key], initial, initial, kit.dtype)


def _offsets(offsets: Any, lengths: Any, count: int) -> Any:
    if (offsets is None) == (lengths is None):
        given = "neither" if offsets is None else "both"
        raise ev.InputError("offsets", expected="offsets, or lengths", given=given)
    if lengths is None:
        return offsets
    lengths = kit.vector(lengths, "lengths")
    kit.check_indices(lengths, count + 1, "lengths", "lengths")
    found = ev.prefix_sum(lengths, include_initial=True, dtype=np.int64)
    total = kit.entry(found, len(lengths))
    if total != count:
        expected = f"lengths that add up to {count:,}, as many elements as data has"
        raise ev.InputError("lengths", expected=expected, given=f"a sum of {total:,}")
    return found


def _check_elements(data: Any, reduce: Any) -> None:
    if reduce in ("min", "max", "logsumexp"):
        kit.check_real(data, "data", numbers=reduce != "logsumexp")
