"""What `auto` chooses for kernels of several passes that read the same: whole tiles that fit into registers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.arguments import Binding
from evenly.choosing.auto import choose
from evenly.choosing.task import Task
from evenly.gpus.numbers import numbers

LEAST = numbers()["streams"]["least"]


@ev.kernel
def softmax(R, x, out):
    for t in R.tiles():
        top = max((x[k] for k in R.atoms(t)), default=0.0)
        total = sum(math.exp(x[k] - top) for k in R.atoms(t))
        for k in R.atoms(t):
            out[k] = math.exp(x[k] - top) / total


@ev.kernel
def gathers(A, x, out):
    for t in A.tiles():
        top = max((A.value(k) for k in A.atoms(t)), default=0.0)
        out[t] = sum(A.value(k) * x[A.column(k)] - top for k in A.atoms(t))


@ev.kernel
def different(R, x, out):
    for t in R.tiles():
        top = max((x[k] for k in R.atoms(t)), default=0.0)
        for k in R.atoms(t):
            out[k] = top


def task(kernel: Any, *args: Any, plans: bool = True) -> Task:
    return kernel.task(Binding(kernel.named(args)).specs(), plans)


def chosen(lengths: Any, kept: bool = True, dtype: Any = np.float32) -> Any:
    """The choice for such tiles, which are repeated until there are many atoms."""
    each = sum(lengths) * np.dtype(dtype).itemsize
    return of_these(np.tile(lengths, -(-LEAST // max(each, 100))), kept, dtype)


def of_these(lengths: Any, kept: bool = True, dtype: Any = np.float32) -> Any:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    x = np.zeros(offsets[-1], dtype)
    R = ev.ragged(offsets)
    return choose(R, "cuda", task(softmax, R, x, x.copy(), plans=kept))


@pytest.mark.parametrize("length", [1, 16, 100, 1000, 4096])
def test_tiles_of_one_length_fit_into_a_group(length: int) -> None:
    found = chosen([length] * 300)
    assert isinstance(found, ev.GroupMapped)
    assert found.size * found.items >= length
    assert found.size == 2 or found.size * found.items < 2 * (length + found.run - 1)
    assert found == chosen([length] * 300, kept=False)


def test_tiles_of_other_lengths() -> None:
    assert not of_these([50_000_000, *[20] * 500]).owns_tiles
    fits = ev.GroupMapped(128, items=32, run=4), ev.GroupMapped(4, items=8, run=4)
    assert chosen([1, 2, 3] * 50_000 + [3000] * 40) not in fits
    assert chosen([20, *[0] * 20] * 5000) not in fits
    assert chosen([20] * 5000) in fits
    assert chosen([0] * 5) not in fits


def test_runs_of_16_bytes_may_begin_before_a_tile() -> None:
    """Not if each tile is of whole runs."""
    assert chosen([16] * 300) == ev.GroupMapped(2, items=8, run=4)
    assert chosen([16, 15] * 300) == ev.GroupMapped(4, items=8, run=4)
    assert chosen([15] * 300) == ev.GroupMapped(4, items=8, run=4)
    assert chosen([16] * 300, dtype=np.float64) == ev.GroupMapped(2, items=8, run=2)
    assert chosen([16] * 300, dtype=np.float16) == ev.GroupMapped(2, items=8, run=8)


def test_only_what_is_read_again_counts() -> None:
    offsets, x = np.array([0, 2]), np.zeros(2, np.float32)
    R = ev.ragged(offsets)
    assert task(softmax, R, x, x.copy()).again
    assert not task(different, R, x, x.copy()).again
    A = ev.csr((x, np.array([0, 1]), offsets), shape=(1, 2))
    assert not task(gathers, A, x, x[:1].copy()).again


def test_the_model_decides_about_few_atoms() -> None:
    assert of_these([8] * 100_000) == ev.GroupMapped(2, items=4, run=4)
    assert of_these([872, *[15] * 13_000]) == of_these([*[15] * 13_000, 872])
