"""Integers of every width on a GPU: every schedule, atomics, expressions, arrays of every library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.transfer import to_cuda, to_numpy
from tests.gpu.test_typed import moved
from tests.integers import (
    COUNTED,
    TYPES,
    atomics,
    check_atomics,
    few,
    hashed,
    random_bits,
    reductions_agree,
    run,
)
from tests.language.test_integer_expressions import agree

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("schedule", "layout", "t"), [*few(), *few(1)])
def test_reductions(schedule: str, layout: str, t: str) -> None:
    reductions_agree(schedule, layout, t, "cuda", moved)


@pytest.mark.parametrize("t", COUNTED)
def test_atomics(t: str) -> None:
    given = atomics(t)
    run(hashed["merge_path"].on("cuda"), given, moved)
    check_atomics(given, t)


@pytest.mark.parametrize("seed", range(20))
def test_expressions(seed: int) -> None:
    agree(seed, "cuda", moved)


@ev.kernel
def complemented(A, x, y):
    for row in A.tiles():
        y[row] = ~x[row] + A.value(0)


@pytest.mark.parametrize("t", TYPES)
def test_arrays_of_every_library(t: str) -> None:
    """What NumPy, CuPy, PyTorch and `ev.DeviceArray` call a type is the same one."""
    x, one = random_bits(t, 5), np.ones(1, t)
    made: list[Any] = [to_cuda, ev.DeviceArray.from_numpy]
    try:
        import torch

        made.append(lambda a: torch.from_numpy(a.copy()).cuda())
    except ImportError:
        pass
    for make in made:
        offsets = np.array([0, 1, 1, 1, 1, 1], np.int32)
        A = ev.csr((make(one), to_cuda(np.zeros(1, np.int32)), to_cuda(offsets)), shape=(5, 1))
        y = make(np.zeros(5, t))
        complemented(A, make(x), y)
        np.testing.assert_array_equal(to_numpy(y), ~x + one)
