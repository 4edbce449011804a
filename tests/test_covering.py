"""Layouts x schedules x kernels x dtypes on target `cpu`, over the battery, against the reference."""

from __future__ import annotations

import itertools

import pytest

from tests.covering import DTYPES, covering, gives_what_the_reference_gives, parameters
from tests.kernels import SCHEDULES


def test_every_pair_is_covered() -> None:
    for a, b in itertools.combinations(zip(*covering(), strict=True), 2):
        assert len(set(zip(a, b, strict=True))) == len(set(a)) * len(set(b))


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), parameters())
def test_cpu_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: int
) -> None:
    gives_what_the_reference_gives(kernel, SCHEDULES[schedule], layout, DTYPES[dtype], "cpu")
