"""Integers of every width under every schedule, on the reference and on target `cpu`, against NumPy."""

from __future__ import annotations

import pytest

from tests.integers import (
    COUNTED,
    TYPES,
    atomics,
    check_atomics,
    check_reductions,
    few,
    hashed,
    reductions_agree,
    reference,
)


@pytest.mark.parametrize("t", TYPES)
def test_reductions_of_the_reference(t: str) -> None:
    check_reductions(reference("csr", t), t)


@pytest.mark.parametrize(("schedule", "layout", "t"), few())
def test_reductions(schedule: str, layout: str, t: str) -> None:
    reductions_agree(schedule, layout, t, "cpu")


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, len(TYPES)))
def test_all_reductions(first: int) -> None:
    for schedule, layout, t in few(first):
        reductions_agree(schedule, layout, t, "cpu")


@pytest.mark.parametrize("target", ["python", "cpu"])
@pytest.mark.parametrize("t", COUNTED)
def test_atomics(t: str, target: str) -> None:
    given = atomics(t)
    hashed["merge_path"].on(target)(*given)
    check_atomics(given, t)
