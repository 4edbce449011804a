"""Which reductions of several numbers are reductions by a key."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language import ir, walk
from evenly.language.keyed import Keyed, keyed
from tests.batteries import equal_rows
from tests.emitting import typed


@ev.func
def of_softmax(a, b):
    top = max(a[0], b[0])
    less = math.exp2(-abs(a[0] - b[0]))
    left, right = less if a[0] < top else 1.0, less if b[0] < top else 1.0
    return top, a[1] * left + b[1] * right, right * b[2] + left * a[2]


@ev.func
def least(a, b):
    low = min(b[0], a[0])
    return (
        low,
        a[1] * math.exp(low - a[0] if a[0] > low else 0.0) + b[1],
        a[2] + b[2],
    )


@ev.func
def at_least(a, b):
    low = min(a[0], b[0])
    left, right = 0.0 if a[0] > low else 1.0, 0.0 if b[0] > low else 1.0
    return low, a[1] * left + b[1] * right, a[2] * left + b[2] * right


@ev.func
def two_factors(a, b):
    top = max(a[0], b[0])
    left, right = 0.0 if a[0] < top else 1.0, 0.0 if b[0] < top else 1.0
    return top, a[1] * left + b[1] * right, a[2] * right + b[2] * left


@ev.func
def halved(a, b):
    top = max(a[0], b[0])
    left, right = 0.0 if a[0] < top else 0.5, 0.0 if b[0] < top else 0.5
    return top, a[1] * left + b[1] * right, a[2] * left + b[2] * right


@ev.func
def by_another(a, b):
    top = max(a[0], b[0])
    left, right = 0.0 if a[0] < top else 1.0, 0.0 if b[0] < top else a[1]
    return top, a[1] * left + b[1] * right, a[2] * left + b[2] * right


@ev.func
def added(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def found(f: Any) -> Keyed | None:
    @ev.kernel
    def reduced(A, out):
        for row in A.tiles():
            x, y, z = ev.reduce(
                f,
                ((A.value(k), A.value(k) + 1, A.value(k) + 2) for k in A.atoms(row)),
                (0.0, 0.0, 0.0),
            )
            out[row] = x + y + z

    matrix = equal_rows(3, 2, 5)
    args = ev.csr(matrix.astype(np.float64)), np.zeros(3)
    phases, _ = typed(reduced, args, ev.ThreadMapped())
    (acc,) = (
        a
        for phase in phases.phases
        for s in walk.statements(phase.body)
        if isinstance(s, ir.Pass)
        for a in s.accumulators
    )
    return keyed(acc)


@pytest.mark.parametrize(("f", "name"), [(of_softmax, "maximum"), (at_least, "minimum")])
def test_the_key_and_the_factor_are_found(f: Any, name: str) -> None:
    code = found(f)
    assert code is not None and code.key == 0
    (better,), (factor,) = code.better.results, code.factor.results
    assert isinstance(better, ir.Call) and better.name == name
    old, new = code.factor.params
    worse = ir.Compare("<" if name == "maximum" else ">", old, new)
    assert worse in list(walk.subexpressions(factor))


@pytest.mark.parametrize("f", [least, two_factors, halved, by_another, added])
def test_others_are_none(f: Any) -> None:
    """Fields with other factors, or with one that is not 1 for equal keys, or that another field decides."""
    assert found(f) is None
