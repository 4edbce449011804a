"""ev.linalg.attention against dense softmax: every layout, order of memory, type and mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.algorithms.linalg.attention import LOG2_E, attention_rows
from evenly.layouts import convert
from tests.algorithms.linalg.operands import ORDERS, placed
from tests.batteries import matrices, names

MATRIX = matrices(np.float64)["empty in the middle"]
SMALL = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
WHOLE = ["thread_mapped", "warp_mapped", "block_mapped", "lrb", "dynamic_chunks", "auto", ev.GroupMapped(8, lanes=4, vector=2)]  # fmt: skip


def operands(matrix: Any, width: int = 3, wide: int = 5, dtype: Any = np.float64) -> list[Any]:
    rng, (m, n) = np.random.default_rng(1), matrix.shape
    return [
        rng.standard_normal((r, k)).astype(dtype) for r, k in ((m, width), (n, width), (n, wide))
    ]


def expected(matrix: Any, Q: Any, K: Any, V: Any, scale: float | None = None) -> np.ndarray:
    """By the definition, row by row; a column that a row has twice counts twice."""
    rows = matrix.tocsr()
    found = np.zeros((rows.shape[0], V.shape[1]))
    for i in range(rows.shape[0]):
        at = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
        scores = (K[at] @ Q[i]) * (Q.shape[1] ** -0.5 if scale is None else scale)
        weights = np.exp(scores - scores.max(initial=-np.inf))
        found[i] = (weights / weights.sum()) @ V[at] if len(at) else 0
    return found


@pytest.mark.parametrize("name", names())
def test_formats(name: str) -> None:
    matrix = matrices(np.float64)[name]
    given = operands(matrix)
    for A in matrix, convert(matrix, "csr"), matrix.tocoo(), matrix.tocsc():
        np.testing.assert_allclose(ev.linalg.attention(A, *given), expected(matrix, *given))


@pytest.mark.parametrize("layout", ["ell", "sell"])
def test_layouts_with_padding(layout: str) -> None:
    matrix = MATRIX.copy()
    matrix.sum_duplicates()
    given = operands(matrix)
    A = convert(matrix, layout)
    found = ev.linalg.attention(A, *given, schedule="thread_mapped")
    np.testing.assert_allclose(found, expected(matrix, *given))


@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
@pytest.mark.parametrize("order", ORDERS)
def test_memory_in_any_order(order: str, target: str) -> None:
    given = operands(MATRIX)
    wanted = expected(MATRIX, *given, scale=0.5)
    placed_ = [placed(x, order) for x in given]
    out = placed(np.ones(wanted.shape), order)
    assert ev.linalg.attention(MATRIX, *placed_, scale=0.5, out=out, target=target) is out
    np.testing.assert_allclose(out, wanted)


@pytest.mark.parametrize("schedule", WHOLE)
def test_schedules_and_repeated_bits(schedule: Any) -> None:
    matrix = matrices(np.float32)["a tile longer than a block"]
    given = operands(matrix, 6, 9, np.float32)
    for target in "cpu", "simt":
        how = {"schedule": schedule, "target": target}
        first, second = (ev.linalg.attention(matrix, *given, **how) for _ in range(2))
        assert first.tobytes() == second.tobytes()
        np.testing.assert_allclose(first, expected(matrix, *given), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("width", "schedule"),
    [
        (32, ev.GroupMapped(8, items=8, lanes=8, vector=4)),
        (64, ev.GroupMapped(8, items=8, lanes=8, vector=8)),
        (12, ev.GroupMapped(16, items=5, lanes=4, vector=4)),
        (128, ev.GroupMapped(32, items=8, lanes=32, vector=4)),
        (8, ev.Lrb(lanes=2, thread=1, group=8, warp=64, items=4, vector=4)),
    ],
    ids=str,
)
def test_batches_of_atoms(width: int, schedule: Any) -> None:
    """Rows of whole batches, of parts of one, and empty ones."""
    matrix = sp.random(24, 90, 0.4, "csr", np.float64, random_state=1)
    matrix = matrix.multiply(np.linspace(0, 1, 24)[:, None] > 0.2).tocsr()
    matrix.eliminate_zeros()
    given = operands(matrix, width, width, np.float32)
    wanted = expected(matrix, *(x.astype(np.float64) for x in given))
    for seed in 0, 1:
        out = np.empty(wanted.shape, np.float32)
        one, scale = np.float32(1), np.float32(LOG2_E * width**-0.5)
        kernel = attention_rows[schedule].on("simt", seed=seed)
        kernel(ev.csr(matrix), *given, out, None, None, None, None, scale, one)
        np.testing.assert_allclose(out, wanted, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize(("width", "wide"), [(0, 1), (1, 33), (40, 0)])
def test_widths(width: int, wide: int) -> None:
    given = operands(MATRIX, width, wide)
    scale = 1.0 if not width else None
    np.testing.assert_allclose(
        ev.linalg.attention(MATRIX, *given, scale=scale), expected(MATRIX, *given, scale)
    )


def test_halves_are_added_as_floats() -> None:
    given = operands(MATRIX, dtype=np.float16)
    found = ev.linalg.attention(MATRIX, *given)
    assert found.dtype == np.float16
    wide = [x.astype(np.float64) for x in given]
    np.testing.assert_allclose(found, expected(MATRIX, *wide), rtol=2e-3, atol=2e-3)


def test_a_subset_of_rows() -> None:
    given = operands(MATRIX)
    rows = np.array([1, 4], np.int32)
    found = ev.linalg.attention(ev.subset(ev.csr(MATRIX), rows), *given)
    wanted = expected(MATRIX, *given)
    wanted[np.setdiff1d(np.arange(len(wanted)), rows)] = 0
    np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
def test_scores_that_are_infinite_or_no_numbers(target: str) -> None:
    """As a softmax of them: nan, but where a score of -inf is beside others."""
    V = np.array([[1.0], [2.0], [5.0]])
    for first, last, wanted in (
        (-np.inf, 0.0, 5.0), (-np.inf, -np.inf, np.nan), (np.inf, 0.0, np.nan), (np.nan, 0.0, np.nan),
    ):  # fmt: skip
        K = np.array([[first], [0.0], [last]])
        with np.errstate(invalid="ignore"):
            found = ev.linalg.attention(SMALL, np.ones((2, 1)), K, V, target=target)
        np.testing.assert_allclose(found, [[wanted], [2.0]])


def test_large_scores_do_not_overflow() -> None:
    Q, K, V = np.full((2, 1), 1e4), np.array([[1.0], [0.0], [1.1]]), np.array([[1.0], [2.0], [5.0]])
    np.testing.assert_array_equal(ev.linalg.attention(SMALL, Q, K, V), [[5.0], [2.0]])


def test_a_plan_for_other_operands() -> None:
    given = operands(MATRIX)
    layer = ev.linalg.attention.plan(MATRIX, *given)
    np.testing.assert_allclose(layer(), expected(MATRIX, *given))
    others = [2 * x for x in given]
    np.testing.assert_allclose(layer(*others), expected(MATRIX, *others))
    with pytest.raises(ev.InputError, match="the type that the plan was made for"):
        layer(*(x.astype(np.float32) for x in given))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ev.linalg.attention(SMALL, np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 1))),
         "Q: expected an array of shape (2, 2), as many rows as A, got shape (3, 2)"),
        (lambda: ev.linalg.attention(SMALL, np.ones((2, 2)), np.ones((3, 3)), np.ones((3, 1))),
         "K: expected an array of shape (3, 2), as many rows as A has columns, as wide as Q, got shape (3, 3)"),
        (lambda: ev.linalg.attention(SMALL, np.ones((2, 2)), np.ones((3, 2)), np.ones((2, 1))),
         "V: expected an array of shape (3, 1), as many rows as A has columns, got shape (2, 1)"),
        (lambda: ev.linalg.attention(SMALL, np.ones((2, 2), int), np.ones((3, 2), int), np.ones((3, 1), int)),
         "Q: expected real numbers of a floating-point type, got int64"),
        (lambda: ev.linalg.attention(SMALL, np.ones((2, 2), bool), np.ones((3, 2), bool), np.ones((3, 1))),
         "Q: expected numbers, here or in the other operand, got bool in both"),
        (lambda: ev.linalg.attention(SMALL, np.ones((2, 2)), np.ones((3, 2)), np.ones((3, 1)), scale="a"),
         "scale: expected a number of float64, got 'a'"),
        (lambda: ev.linalg.attention(SMALL, np.ones((2, 2)), np.ones((3, 2)), np.ones((3, 1)), scale=1j),
         "scale: expected a number of float64, got 1j"),
    ],
)  # fmt: skip
def test_mistakes(call: Any, said: str) -> None:
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value).startswith(said)
