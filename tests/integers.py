"""Integers of every width under every schedule: the kernels, their arguments, and what NumPy makes of them.

Values are random bits, so that sums and products wrap all the time.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import evenly as ev
from evenly.interop.transfer import to_numpy
from tests.batteries import matrices
from tests.kernels import ROW_LAYOUTS, SCHEDULES, laid
from tests.shared import once

TYPES = ("int8", "uint64", "int16", "uint8", "int32", "uint16", "int64", "uint32")
ROWS = {"ell": 20, "dia": 20, "bcsr": 150}  # their positions are walked one by one: some thousands
COUNTED = ("int32", "uint32", "int64", "uint64")  # those that atomics take


def random_bits(t: str, n: int, seed: int = 0) -> np.ndarray:
    return np.frombuffer(np.random.default_rng(seed).bytes(n * np.dtype(t).itemsize), t).copy()


def all_bits(t: str) -> Any:
    return np.array(-1).astype(t)[()]


def of_bits(layout: Any, t: str) -> Any:
    """The layout with random values; those that stand for no entry stay zero."""
    bits = random_bits(t, layout.values.size).reshape(layout.values.shape)
    return dataclasses.replace(layout, values=np.where(layout.values != 0, bits, 0).astype(t))


@ev.kernel
def reduced(A, ones, x, sums, least, greatest, where, common, differing):
    for row in A.tiles():
        every = ones
        odd = 0
        for k in A.atoms(row):
            every &= A.value(k) | 1
            odd ^= A.value(k)
        common[row] = every
        differing[row] = odd
        sums[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
        least[row] = min((A.value(k) for k in A.atoms(row)), default=7)
        greatest[row] = max((A.value(k) for k in A.atoms(row)), default=7)
        where[row] = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)


@ev.kernel
def hashed(A, seen, counts, lowest, highest, last, claimed):
    """Integer atomics: what they leave depends on no order."""
    for row in A.tiles():
        for k in A.atoms(row):
            v = A.value(k)
            c = A.column(k)
            ev.atomic_or(seen, c, v)
            ev.atomic_and(seen, len(seen) - 1, v | 3)
            ev.atomic_xor(counts, c, v)
            ev.atomic_add(counts, len(counts) - 1, v)
            ev.atomic_min(lowest, c, v)
            ev.atomic_max(highest, c, v)
            ev.atomic_exch(last, c, 5)
            ev.atomic_cas(claimed, c, 0, c + 1)


def few(first: int = 0) -> list[tuple[str, str, str]]:
    """(schedule, layout, type): each schedule once, the others in turn."""
    return [
        (schedule, ROW_LAYOUTS[(j + first) % 4], TYPES[(j + first) % len(TYPES)])
        for j, schedule in enumerate(SCHEDULES)
    ]


def reductions(layout: str, t: str) -> tuple[Any, ...]:
    """Arguments of `reduced`."""
    matrix = matrices(np.float32)["power law"]
    matrix = matrix[: ROWS.get(layout)]
    tiles, columns = matrix.shape
    outputs = [np.zeros(tiles, t) for _ in range(6)]
    outputs[3] = np.zeros(tiles, np.int64)
    x = random_bits(t, columns, 1)
    return of_bits(laid(matrix, layout), t), all_bits(t), x, *outputs


def check_reductions(given: tuple[Any, ...], t: str) -> None:
    """Compare what `reduced` has stored for a CSR matrix with NumPy."""
    A, ones, x, sums, least, greatest, where, common, differing = given
    for row in range(A.num_tiles):
        here = slice(A.offsets[row], A.offsets[row + 1])
        values = A.values[here]
        first = values[0] if len(values) else 7
        assert sums[row] == np.sum(values * x[A.indices[here]], dtype=t)
        assert (least[row], greatest[row]) == (values.min(initial=first), values.max(initial=first))
        assert where[row] == (here.start + np.argmax(values) if len(values) else -1)
        assert common[row] == np.bitwise_and.reduce(values | 1, initial=ones)
        assert differing[row] == np.bitwise_xor.reduce(values)


@functools.cache
def reference(layout: str, t: str) -> tuple[Any, ...]:
    """The arguments of `reduced` after target `python` has run it."""

    def stored() -> tuple[Any, ...]:
        given = reductions(layout, t)
        reduced.on("python")(*given)
        return given

    return once(f"integers of {t} in {layout}", stored)


def reductions_agree(
    schedule: str, layout: str, t: str, target: str, moved: Any = copy.deepcopy, **options: Any
) -> None:
    """Check `reduced`. moved: moves an argument to the target."""
    given = reductions(layout, t)
    run(reduced[SCHEDULES[schedule]].on(target, **options), given, moved)
    for mine, wanted in zip(given[3:], reference(layout, t)[3:], strict=True):
        np.testing.assert_array_equal(mine, wanted)


def atomics(t: str) -> tuple[Any, ...]:
    """Arguments of `hashed`."""
    matrix = matrices(np.float32)["power law"]
    ends = np.iinfo(t)
    start = (0, 0, ends.max, ends.min, 0, 0)
    outputs = [np.full(matrix.shape[1] + 1, value, t) for value in start]
    outputs[0][-1] = ends.max
    return of_bits(ev.csr(matrix), t), *outputs


def check_atomics(given: tuple[Any, ...], t: str) -> None:
    A, seen, counts, lowest, highest, last, claimed = given
    values, columns = to_numpy(A.values), to_numpy(A.indices)
    for at in range(len(seen) - 1):
        mine = values[columns == at]
        assert seen[at] == np.bitwise_or.reduce(mine, initial=0)
        assert counts[at] == np.bitwise_xor.reduce(mine, initial=0)
        assert lowest[at] == mine.min(initial=np.iinfo(t).max)
        assert highest[at] == mine.max(initial=np.iinfo(t).min)
        assert (last[at], claimed[at]) == ((5, at + 1) if len(mine) else (0, 0))
    assert seen[-1] == np.bitwise_and.reduce(values | 3, initial=np.iinfo(t).max)
    assert counts[-1] == np.sum(values, dtype=t)


def run(kernel: Any, given: tuple[Any, ...], moved: Callable[[Any], Any]) -> None:
    """Run a kernel on moved arguments, and bring the arrays back."""
    there = [moved(value) for value in given]
    kernel(*there)
    for mine, theirs in zip(given, there, strict=True):
        if isinstance(mine, np.ndarray):
            mine[...] = to_numpy(theirs)
