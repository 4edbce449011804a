"""Layouts x schedules x kernels x dtypes on target `cpu`, over the battery, against the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import evenly as ev
from tests.batteries import matrices
from tests.covering import DTYPES, covering, gives_what_the_reference_gives, parameters
from tests.kernels import CASES, SCHEDULES


def test_every_pair_is_covered() -> None:
    for a, b in itertools.combinations(zip(*covering(), strict=True), 2):
        assert len(set(zip(a, b, strict=True))) == len(set(a)) * len(set(b))


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), parameters())
def test_cpu_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: int
) -> None:
    gives_what_the_reference_gives(kernel, SCHEDULES[schedule], layout, DTYPES[dtype], "cpu")


@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("offsets", [np.int32, np.int64])
def test_index_types_mix(indices: type, offsets: type) -> None:
    matrix = matrices()["power law"]
    A = ev.csr(
        (matrix.data, matrix.indices.astype(indices), matrix.indptr.astype(offsets)),
        shape=matrix.shape,
    )
    case = CASES["spmv"]
    args = case.arguments(A, matrix, np.float32)
    case.kernel[ev.MergePath()].on("cpu")(*args)
    np.testing.assert_array_equal(args[2], matrix @ args[1])
