"""Stores to one element: equal constants are allowed, different values are a race, at any seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language.diagnostics import LanguageError

SCHEDULES = {
    "thread": ev.ThreadMapped(), "group": ev.GroupMapped(8), "flat": ev.GroupMapped(16, flatten=True),
    "warp": ev.WarpMapped(), "block": ev.BlockMapped(), "merge": ev.MergePath(), "nonzero": ev.NonzeroSplit(),
    "work": ev.WorkOriented(), "lrb": ev.Lrb(), "dynamic": ev.DynamicChunks(),
}  # fmt: skip
EVERY = pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)


@ev.kernel
def scatter(A, out):
    for r in A.tiles():
        for k in A.atoms(r):
            out[A.column(k)] = r


@ev.kernel
def marks(A, p, seen, changed, flags, mask, z, n):
    for r in A.tiles():
        for k in A.atoms(r):
            if A.value(k) > 0:
                changed[0] = 1
                seen[A.column(k)] = True
                z[A.column(k)] = 2j
        flags[0] = 2.5
        flags[p[r]] = 2.5
        for _j in ev.lanes(2):
            mask[n] = n + 1


@ev.kernel
def in_common(A, X, weights, marked, out):
    """Lanes around a pass whose atoms and tiles store what does not depend on the lane."""
    for r in A.tiles():
        for j in ev.lanes(X.shape[1]):
            total = 0.0
            for k in A.atoms(r):
                weights[k] = 2 * A.value(k)
                total += weights.shape[0] * X[A.column(k), j]
            marked[r] = 1
            out[r, j] = total


def _matrix(n: int = 40, meets: bool = True) -> Any:
    """Tiles 2i and 2i + 1 share column i; else each has a column of its own."""
    columns = np.arange(n, dtype=np.int32) // (2 if meets else 1)
    return ev.csr((np.ones(n, np.float32), columns, np.arange(n + 1, dtype=np.int32)), shape=(n, n))


def _marked(target: str, schedule: Any, **options: Any) -> list[np.ndarray]:
    A = _matrix()
    p = np.arange(40, dtype=np.int32) // 3 + 1
    out = [
        np.zeros(40, bool), np.zeros(2, np.int32), np.zeros(20, np.float16),
        np.zeros(4), np.zeros(40, np.complex128),
    ]  # fmt: skip
    seen, changed, flags, mask, z = out
    marks[schedule].on(target, **options)(A, p, seen, changed, flags, mask, z, 3)
    return out


@EVERY
def test_one_constant_is_admitted_and_no_race_on_cpu(schedule: Any) -> None:
    expected = _marked("python", "thread_mapped")
    assert expected[1].tolist() == [1, 0]
    for a, b in zip(_marked("cpu", schedule), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.simt
@EVERY
def test_one_constant_is_admitted_and_no_race(schedule: Any) -> None:
    expected = _marked("python", "thread_mapped")
    for seed in range(3):
        for a, b in zip(_marked("simt", schedule, seed=seed), expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.simt
@EVERY
def test_what_lanes_have_in_common_is_stored_without_a_race(schedule: Any) -> None:
    X = np.arange(200.0).reshape(40, 5)
    for seed in range(2):
        weights, marked, out = np.zeros(40), np.zeros(40, np.int32), np.zeros((40, 5))
        in_common[schedule].on("simt", seed=seed)(_matrix(), X, weights, marked, out)
        assert set(weights) == {2.0} and set(marked) == {1}
        np.testing.assert_array_equal(out, 40 * X[np.arange(40) // 2])


@pytest.mark.simt
@EVERY
def test_different_values_are_a_race_at_any_seed(schedule: Any) -> None:
    for seed in range(6):
        with pytest.raises(ev.SimtError, match=r"data race on array out\[\d+\]") as caught:
            scatter[schedule].on("simt", seed=seed)(_matrix(), np.zeros(40, np.int32))
        assert caught.value.kind == "race"
        assert "store different values into one place, and they have no order" in str(caught.value)
        assert any("out[A.column(k)] = r" in at.text for at in caught.value.locations)
    out = np.zeros(40, np.int32)
    scatter[schedule].on("simt")(_matrix(meets=False), out)
    assert out.tolist() == list(range(40))


@pytest.mark.simt
def test_what_one_atom_or_one_round_stores_is_in_order() -> None:
    """Iterations of a loop and statements of an atom are ordered."""

    @ev.kernel
    def rounds(A, out, last):
        for r in A.tiles():
            for i in range(3):
                for k in A.atoms(r):
                    out[A.column(k)] = i
            for k in A.atoms(r):
                for i in range(20):
                    last[A.column(k)] = i + k

    A = ev.csr((np.ones(4, np.float32), np.int32([0, 0, 1, 2]), np.int32([0, 2, 4])), shape=(2, 3))
    out, last = np.zeros(3, np.int32), np.zeros(3, np.int32)
    with pytest.raises(ev.SimtError, match="last"):  # column 0 has two atoms
        rounds["thread_mapped"].on("simt")(A, out, last)
    A = ev.csr((np.ones(3, np.float32), np.int32([0, 1, 2]), np.int32([0, 2, 3])), shape=(2, 3))
    rounds["thread_mapped"].on("simt")(A, out, last)
    assert (out.tolist(), last.tolist()) == ([2, 2, 2], [19, 20, 21])


@pytest.mark.parametrize("second", ["2", "-0.0", "x[r]"])
def test_two_constants_are_refused(second: str) -> None:
    text = (
        f"def two(A, x, y):\n    for r in A.tiles():\n        y[0] = 0.0\n        y[0] = {second}\n"
    )
    space: dict[str, Any] = {}
    exec(text, space)
    kernel = ev.kernel(space["two"], source=text)
    with pytest.raises(LanguageError, match="every tile stores into the same element of y"):
        kernel.on("cpu")(_matrix(), np.ones(40), np.zeros(1))
