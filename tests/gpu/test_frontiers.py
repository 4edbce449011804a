"""Subsets whose number of tiles is in GPU memory: the host never reads it."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from tests.frontiers import reaches_what_it_names
from tests.kernels import SCHEDULES

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_frontier_of_any_size(schedule: str, share: float) -> None:
    cupy = pytest.importorskip("cupy")
    reaches_what_it_names(SCHEDULES[schedule], "cuda", share, cupy.asarray, cupy.asnumpy)


def test_prefix_sums_of_many_tiles() -> None:
    """More tiles than one block of the scan takes, and than one round over its totals."""
    cupy = pytest.importorskip("cupy")
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 5, 1_500_000)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    base = ev.ragged(cupy.asarray(offsets))
    order = rng.permutation(len(sizes)).astype(np.int32)
    found = ev.subset(base, cupy.asarray(order)).offsets.get()
    np.testing.assert_array_equal(found, np.concatenate([[0], np.cumsum(sizes[order])]))
