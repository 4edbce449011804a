"""Prefix sums.

In CPU memory NumPy sums. On a GPU, chunks are summed up, then their sums, and then every chunk again from where
it begins. The order of additions follows from the length alone, so floats have the same bits on every run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

CHUNK = 32  # elements that one thread adds up: a cache line of float32
EACH = ev.ThreadMapped()  # a thread for each chunk


@ev.layout
class Chunks:
    """`num_atoms` atoms, of which each tile has CHUNK; the last one may have fewer."""

    num_atoms: int

    @property
    def num_tiles(self):
        return (self.num_atoms + CHUNK - 1) // CHUNK

    def begin(self, tile):
        return tile * CHUNK

    def end(self, tile):
        stop = (tile + 1) * CHUNK
        return stop if stop < self.num_atoms else self.num_atoms


@ev.kernel
def totals_of(C, x, zero, totals):
    for chunk in C.tiles():
        totals[chunk] = sum((x[k] for k in C.atoms(chunk)), zero)


@ev.kernel
def sums_of(C, x, before, first, out):
    for chunk in C.tiles():
        here = before[chunk]
        if chunk == 0 and first == 1:
            out[chunk] = here
        for k in range(C.begin(chunk), C.end(chunk)):
            here += x[k]
            out[k + first] = here


@ev.kernel
def zero(E, out):
    for i in E.tiles():
        out[i] = 0


def prefix_sum(x: Any, *, include_initial: bool = False, dtype: Any = None, out: Any = None) -> Any:
    """Return the sums x[0], x[0] + x[1], ..., of the same library as x and on the same device.

    x: (n,), numbers or bool.
    include_initial: begin with 0. The result then has n + 1 elements: the offsets of lists with
      the lengths x, for `ev.ragged`.
    dtype: of the result. Default: the dtype of `out`, or that of numpy.cumsum: int64 for integers
      and bool, else that of x. Sums of 16-bit floats are float32, rounded once when they are stored.
    out: an array for the result, (n,) or (n + 1,), on the same device. On a GPU it may not overlap x.

    The same x gives the same bits on every run. Integers wrap around. On a GPU, floats are summed up
    in another order than numpy.cumsum's.

    Raises InputError if shapes, dtypes or devices do not match.

    >>> import numpy as np, evenly as ev
    >>> ev.prefix_sum(np.array([3, 0, 2]), include_initial=True)
    array([0, 3, 3, 5])
    """
    x = kit.vector(x, "x")
    first = int(include_initial)
    if out is None:
        out = kit.empty(x, (len(x) + first,), _type(x, dtype))
    else:
        kit.check_output(
            out, (len(x) + first,), x, "x", "a sum for each element of x" + " and 0" * first
        )
    held = kit.held_as(out)
    kit.check_sums(x, held)
    if not kit.on_gpu(x):
        by_numpy(x, first, held, out)
    elif len(x):
        by_kernels(x, first, held, out)
    elif first:
        zero[EACH](kit.each(1), out)
    return out


def by_numpy(x: Any, first: int, held: Any, out: Any) -> None:
    """Sum up in CPU memory."""
    sums = np.cumsum(kit.numbers(x), dtype=held)
    if first:
        sums = np.concatenate([np.zeros(1, held), sums])
    kit.store(sums, out)


def by_kernels(x: Any, first: int, held: Any, out: Any) -> None:
    """Sum up any x of at least one element. held: the dtype of sums on their way."""
    C = Chunks(len(x))
    if C.num_tiles == 1:
        before = kit.zeros(x, (1,), held)
    else:
        totals, before = (kit.empty(x, (n,), held) for n in (C.num_tiles, C.num_tiles + 1))
        totals_of[ev.GroupMapped(CHUNK)](C, x, held.type(0), totals)
        by_kernels(totals, 1, held, before)
    sums_of[EACH](C, x, before, first, out)


def _type(x: Any, dtype: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = kit.dtype(x) if dtype is None else np.dtype(dtype)
    if dtype is None and found.kind in "iub":
        found = np.cumsum(np.zeros(0, found)).dtype
    return found
