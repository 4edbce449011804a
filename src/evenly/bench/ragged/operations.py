"""What is measured: functions of `ev.ragged`, the bytes that each has to move, and its result by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import evenly as ev

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """run(x, lists): a whole call. plan(x, lists): its plan; None: it is no single kernel, and whole calls are timed.

    moved(n, m, size): the bytes of n elements and m results, each once, without offsets. expected(x, offsets):
    the result by NumPy, in float64. width: of elements that are rows; 1: they are numbers.
    """

    run: Callable[..., Any]
    moved: Callable[[int, int, int], int]
    expected: Callable[[Array, Array], Array]
    plan: Callable[..., Any] | None = None
    rtol: float = 1e-4
    width: int = 1


def by_list(ufunc: Any, empty: float) -> Callable[[Array, Array], Array]:
    def expected(x: Array, offsets: Array) -> Array:
        found = np.full(len(offsets) - 1, empty)
        filled = np.diff(offsets) > 0
        found[filled] = ufunc.reduceat(x.astype(np.float64), offsets[:-1][filled])
        return found

    return expected


def means_of_rows(x: Array, offsets: Array) -> Array:
    found = np.full((len(offsets) - 1, x.shape[1]), np.nan)
    lengths = np.diff(offsets)
    filled = lengths > 0
    totals = np.add.reduceat(x.astype(np.float64), offsets[:-1][filled])
    found[filled] = totals / lengths[filled, None]
    return found


def padded(x: Array, offsets: Array) -> Array:
    places = offsets[:-1, None] + np.arange(PADDED)
    inside = places < offsets[1:, None]
    found: Array = np.where(inside, x[np.minimum(places, len(x) - 1)], 0)
    return found


sums, greatest = by_list(np.add, 0.0), by_list(np.maximum, -np.inf)


def softmax(x: Array, offsets: Array) -> Array:
    lengths = np.diff(offsets)
    powers = np.exp(x - np.repeat(greatest(x, offsets), lengths))
    shares: Array = powers / np.repeat(sums(powers, offsets), lengths)
    return shares


def argmax(x: Array, offsets: Array) -> Array:
    lengths = np.diff(offsets)
    is_it = x == np.repeat(greatest(x, offsets), lengths)
    at = np.flatnonzero(is_it)
    found = np.full(len(lengths), -1)
    found[np.repeat(np.arange(len(lengths)), lengths)[at[::-1]]] = at[::-1]  # the first stays
    return found


def scan(x: Array, offsets: Array) -> Array:
    run = np.concatenate([[0.0], np.cumsum(x, dtype=np.float64)])
    found: Array = run[1:] - np.repeat(run[offsets[:-1]], np.diff(offsets))
    return found


def sort(x: Array, offsets: Array) -> Array:
    order = np.lexsort((x, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))
    found: Array = x[order]
    return found


def top(x: Array, offsets: Array) -> Array:
    order = np.lexsort((-x, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))
    lengths = np.diff(offsets)
    places = offsets[:-1, None] + np.arange(TOP)
    inside = np.arange(TOP) < lengths[:, None]
    found: Array = np.where(inside, x[order][np.minimum(places, len(x) - 1)], 0)
    return found


TOP, PADDED, WIDE = 4, 32, 512
R = ev.ragged

OPERATIONS: dict[str, Operation] = {
    "sum": Operation(
        lambda x, lists: R.segment_reduce(x, "sum", lists),
        lambda n, m, size: (n + m) * size,
        sums,
        lambda x, lists: R.segment_reduce.plan(x, "sum", lists),
    ),
    "max": Operation(
        lambda x, lists: R.segment_reduce(x, "max", lists),
        lambda n, m, size: (n + m) * size,
        greatest,
        lambda x, lists: R.segment_reduce.plan(x, "max", lists),
    ),
    "softmax": Operation(
        R.segment_softmax,
        lambda n, m, size: 2 * n * size,
        softmax,
        lambda x, lists: R.segment_softmax.plan(x, lists),
    ),
    "argmax": Operation(
        R.segment_argmax,
        lambda n, m, size: n * size + 8 * m,
        argmax,
        lambda x, lists: R.segment_argmax.plan(x, lists),
    ),
    "scan": Operation(
        R.segment_scan,
        lambda n, m, size: 2 * n * size,
        scan,
        lambda x, lists: R.segment_scan.plan(x, lists),
    ),
    "top-k": Operation(
        lambda x, lists: R.top_k(x, TOP, lists)[0],
        lambda n, m, size: n * size + m * TOP * (size + 8),
        top,
        lambda x, lists: R.top_k.plan(x, TOP, lists),
    ),
    "mean of rows": Operation(
        lambda x, lists: R.segment_reduce(x, "mean", lists),
        lambda n, m, size: (n + m * WIDE) * size,
        means_of_rows,
        lambda x, lists: R.segment_reduce.plan(x, "mean", lists),
        width=WIDE,
    ),
    "pad": Operation(
        lambda x, lists: R.jagged_to_padded(x, lists, PADDED),
        lambda n, m, size: (min(n, m * PADDED) + m * PADDED) * size,
        padded,
        lambda x, lists: R.jagged_to_padded.plan(x, lists, PADDED),
    ),
    "sort": Operation(
        lambda x, lists: R.segment_sort(x, lists)[0],
        lambda n, m, size: n * (2 * size + 4),
        sort,
    ),
}
