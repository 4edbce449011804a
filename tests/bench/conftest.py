"""A folder of small matrices, rows of a run on a GPU, and command lines."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from evenly.bench.record import FamilyRow, Row, size_of
from tests.cli.conftest import evenly  # noqa: F401  (a fixture)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """matrices/: first.mtx, deep/second.mtx.gz (symmetric), third.npz. The cache is empty."""
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "cache"))
    made = tmp_path / "matrices"
    (made / "deep").mkdir(parents=True)
    rng = np.random.default_rng(2)
    scipy.io.mmwrite(made / "first.mtx", sp.random_array((60, 50), density=0.1, rng=rng))
    half = sp.random_array((40, 40), density=0.1, rng=rng)
    import gzip

    with gzip.open(made / "deep" / "second.mtx.gz", "wb") as file:
        scipy.io.mmwrite(file, half + half.T, symmetry="symmetric")
    sp.save_npz(made / "third.npz", sp.random_array((30, 70), density=0.2, rng=rng).tocsr())
    return made


def row(matrix: str, contender: str, family: str, us: float, **others) -> Row:
    """Make a row of a run on a GPU, of a FamilyRow if it has families. others: columns that differ from the defaults."""
    nnz = others.pop("nnz", 5000)
    usual = {
        "machine": "a GPU", "versions": "1", "target": "cuda", "dtype": "float32",
        "matrix": matrix, "origin": "file", "rows": 100, "cols": 100, "nnz": nnz,
        "size": size_of(nnz), "contender": contender, "family": family, "clock": "kernels",
        "cache": "warm", "us": us, "us_min": us, "us_max": us * 1.25, "rounds": 10,
    }  # fmt: skip
    return (FamilyRow if "lengths" in others else Row)(**(usual | others))
