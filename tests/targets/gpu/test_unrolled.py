"""Loops are unrolled where local arrays lie in registers then: where their counters alone say which element is meant."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.emitting import emitted

import evenly as ev

X = np.ones(4, np.float32)
A = ev.csr((X, np.array([0, 1, 2, 3], np.int32), np.array([0, 1, 4], np.int32)), shape=(2, 4))
FEW, MANY = 40, 2000


@ev.kernel
def known(A, x, y):
    for row in A.tiles():
        w = ev.local(16, np.float32)
        for i in range(FEW):
            w[(i + 3) % 16] += x[row]
            w[i % 16] -= w[(i + 1) % 16]
        y[row] = w[0]


@ev.kernel
def of_a_column(A, x, y):
    for row in A.tiles():
        w = ev.local(16, np.float32)
        for i in range(FEW):
            w[i % 16] += x[row]
        y[row] = w[A.column(A.begin(row)) % 16]


@ev.kernel
def without_a_bound(A, x, y):
    for row in A.tiles():
        w = ev.local(16, np.float32)
        for i in range(row):
            w[i % 16] += x[row]
        y[row] = w[0]


@ev.kernel
def too_long(A, x, y):
    for row in A.tiles():
        w = ev.local(16, np.float32)
        for i in range(MANY):
            w[i % 16] += x[row]
        y[row] = w[0]


@ev.kernel
def without_an_array(A, x, y):
    for row in A.tiles():
        total = x[row]
        for i in range(FEW):
            total = total * x[row] + i
        y[row] = total


def mixed(depth: int) -> ev.Kernel:
    """A kernel whose index comes from a counter by so many variables, each of which reads the one before twice."""
    lines = "".join(f"            v{n + 1} = v{n} ^ (v{n} >> 1)\n" for n in range(depth))
    text = f"""def mixed(A, x, y):
    for row in A.tiles():
        w = ev.local(16, np.float32)
        for v0 in range(16):
{lines}            w[v{depth} % 16] += x[row]
        y[row] = w[0]
"""
    names: dict[str, Any] = {"ev": ev, "np": np}
    exec(text, names)
    return ev.kernel(source=text)(names["mixed"])


@pytest.mark.parametrize(
    ("kernel", "loops"),
    [
        (mixed(60), 1),
        (known, 1),
        (of_a_column, 0),
        (without_a_bound, 0),
        (too_long, 0),
        (without_an_array, 0),
    ],
    ids=lambda given: getattr(given, "name", None),
)
def test_loops_are_unrolled_for_local_arrays(kernel: ev.Kernel, loops: int) -> None:
    (code,) = emitted(kernel, (A, X, X[:2].copy()), ev.ThreadMapped())
    heads = [line.strip() for line in code.source.splitlines()]
    found = [a for a, b in pairwise(heads) if b.startswith("for (long long")]
    assert found.count("#pragma unroll") == loops
    assert len(found) == 1


def test_the_array_lies_in_registers() -> None:
    compiling = pytest.importorskip("evenly.targets.cuda.compile")
    pytest.importorskip("cuda.core")
    (code,) = emitted(known, (A, X, X[:2].copy()), ev.ThreadMapped())
    assert compiling.resources(code.source, code.name, "sm_90")["stack"] == 0
