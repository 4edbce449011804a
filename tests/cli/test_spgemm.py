"""`evenly spgemm FILE`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.bench.validation import errors_of_product
from tests.batteries import matrices


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_it_multiplies_and_checks(evenly: Any, small: Any, tmp_path: Any, dtype: str) -> None:
    csv = tmp_path / "times.csv"
    ran = evenly("spgemm", small, "--dtype", dtype, "--validate", "--csv", csv)
    assert ran.status == 0
    assert "Dimensions: 40 x 30 (117)" in ran.out and "Errors: 0" in ran.out
    assert "nonzeros" in ran.out and csv.read_text().splitlines()[1].startswith("spgemm,small,40,")


def test_errors_are_counted() -> None:
    A = matrices(np.float32)["stencil"]
    A.data = np.random.default_rng(0).random(A.nnz, np.float32)
    C = ev.linalg.spgemm(A, A)
    assert errors_of_product(A, A, C) == 0
    C.values[[1, 5]] *= 1.001
    assert errors_of_product(A, A, C) == 2
    fewer = sp.csr_array((C.values, C.indices, C.offsets), shape=C.shape)[:, :-1].tocsr()
    fewer.resize(C.shape)
    assert errors_of_product(A, A, ev.csr(fewer)) > 2


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_right_where_they_belong(odd: float) -> None:
    A = matrices(np.float32)["stencil"]
    A.data[3] = odd
    C = ev.linalg.spgemm(A, A)
    assert errors_of_product(A, A, C) == 0
    (at,) = np.nonzero(~np.isfinite(C.values))
    C.values[at[0]] = 1
    C.values[0 if at[0] else at[-1] + 1] = odd
    assert errors_of_product(A, A, C) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--dtype float16", "--dtype: expected one of"),
        ("--max-workspace 100", "and more, got 100"),
        ("--max-workspace 0", "--max-workspace: expected a number of bytes, 1 or more, got 0"),
    ],
)
def test_mistakes(evenly: Any, small: Any, options: str, said: str) -> None:
    ran = evenly("spgemm", small, *options.split())
    assert ran.status == 2
    assert said in ran.err
