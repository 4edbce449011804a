"""Under schedules that split tiles, only the last phase that reads an array streams it past the caches."""

from __future__ import annotations

import numpy as np
from tests.emitting import emitted
from tests.kernels import softmax_rows, spmv

import evenly as ev

X = np.ones(4, np.float32)
A = ev.csr((X, np.array([0, 1, 2, 3], np.int32), np.array([0, 1, 4], np.int32)), shape=(2, 4))


def streamed(kernel: ev.Kernel) -> list[bool]:
    """Whether each phase streams the values."""
    found = emitted(kernel, (A, X, X[:2].copy()), ev.NonzeroSplit())
    return [".once(" in k.source for k in found if k.name[-1].isdigit()]


def test_only_the_last_pass_streams() -> None:
    assert streamed(spmv) == [True]
    assert streamed(softmax_rows) == [False, False, True]
