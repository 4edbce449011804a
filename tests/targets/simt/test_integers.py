"""Integers of every width in the emitted CUDA C++, executed under every schedule."""

from __future__ import annotations

import pytest
from tests.integers import COUNTED, atomics, check_atomics, few, hashed, reductions_agree

pytestmark = pytest.mark.simt


@pytest.mark.parametrize(("schedule", "layout", "t"), few(3))
def test_reductions(schedule: str, layout: str, t: str) -> None:
    reductions_agree(schedule, layout, t, "simt", seeds=(0, 1))


@pytest.mark.parametrize("t", COUNTED)
def test_atomics(t: str) -> None:
    given = atomics(t)
    hashed["merge_path"].on("simt", seed=3)(*given)
    check_atomics(given, t)
