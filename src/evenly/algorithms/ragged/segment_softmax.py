"""Softmax within each list.

On a GPU the greatest element and the sum are found in one pass, since reading costs more than exponentials: Milakov,
Gimelshein, "Online normalizer calculation for softmax" (2018). On a CPU each element has one exponential, which costs
more than reading.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import evenly as ev
from evenly import kit

LEAST = (-math.inf, 0.0)  # no exponentials


@ev.func
def whole(m, s):
    """The sum s; nan if an infinite element makes it one."""
    return s if m < math.inf else m - m


@ev.kernel
def softmax(R, data, one, out):
    for t in R.tiles():
        m, s = ev.reduce(kit.exponentials, ((data[k] * one, one) for k in R.atoms(t)), LEAST)
        share = one / whole(m, s)
        for k in R.atoms(t):
            out[k] = math.exp(data[k] - m) * share


@functools.cache
def in_place(exp: Any) -> Any:
    """Make the same with one exponential for each element, which is stored, and then scaled."""

    @ev.kernel
    def softmax_in_place(R, data, one, out):
        for t in R.tiles():
            m = max((data[k] * one for k in R.atoms(t)), default=-math.inf)
            for k in R.atoms(t):
                out[k] = exp(data[k] * one - m)
            share = one / sum(out[k] for k in R.atoms(t))
            for k in R.atoms(t):
                out[k] *= share

    return softmax_in_place


@ev.kernel
def softmax_of_rows(R, data, one, greatest, share, out):
    for t in R.tiles():
        for j in ev.lanes(data.shape[1]):
            m, s = ev.reduce(kit.exponentials, ((data[k, j] * one, one) for k in R.atoms(t)), LEAST)
            greatest[t, j] = m
            share[t, j] = one / whole(m, s)
    for t in R.tiles():
        for k in R.atoms(t):
            for j in ev.lanes(data.shape[1]):
                out[k, j] = math.exp(data[k, j] - greatest[t, j]) * share[t, j]


@kit.plannable
def segment_softmax(
    data: Any, offsets: Any, *, out: Any = None, schedule: Any = "auto", target: str = "auto"
) -> Any:
    """Return exp(data) / sum(exp(data)), where the sum is over each list, and over each column of it.

    data: (n,) or (n, d), real numbers, the elements of all lists, one list after the other.
    offsets, schedule, target: as of `ev.ragged.segment_reduce`.
    out: as data, an array for the result, which may not overlap it. Default: a new array of the library of data;
      float64 for integers and bool, else of the dtype of data. Sums of 16-bit floats are float32.

    The greatest element of a list is subtracted first, so that nothing overflows. A list with nan or inf, or of -inf
    alone, becomes nan, as in PyTorch; beside others, -inf becomes 0. The same arguments give the same bits on every
    run.

    Raises InputError if shapes, dtypes or devices do not match, and for offsets that do not ascend.

    >>> import numpy as np, evenly as ev
    >>> ev.ragged.segment_softmax(np.array([0.0, 0.0, 5.0]), np.array([0, 2, 2, 3]))
    array([0.5, 0.5, 1. ])
    """
    data = kit.vector(data, "data", axes=2)
    kit.check_real(data, "data", numbers=False)
    R = kit.as_lists(offsets, len(data), data)
    out = kit.result(out, data, tuple(data.shape), kit.float_of(data), "as data has it")
    held = kit.held_as(out)
    if held.kind != "f":
        raise ev.InputError("out", expected="floats", given=f"dtype {held}")
    args: tuple[Any, ...] = (R, data, held.type(1))
    # Powers of 16 bits would be rounded before they are scaled.
    wide = kit.dtype(out) == held
    alone = not kit.on_gpu(data) and wide
    kernel = in_place(kit.exp_below_zero(held, R)) if alone else softmax
    if len(data.shape) == 2:
        kernel = softmax_of_rows
        shape = (R.num_tiles, data.shape[1])
        args += tuple(kit.empty(data, shape, held) for _ in range(2))
    return kit.Call(kernel[schedule].on(target), (*args, out), out, {"R": "offsets"})
