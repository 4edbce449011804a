"""Complex numbers and floats of 16 bits under every schedule, on target `cpu`, over the battery."""

from __future__ import annotations

import copy
import itertools

import pytest

from tests.kernels import SCHEDULES
from tests.typed import (
    TYPES,
    covering,
    few,
    gives_what_the_reference_gives,
    moved_bits_are_kept,
    several_agree,
)


def test_every_pair_is_covered() -> None:
    for a, b in itertools.combinations(zip(*covering(), strict=True), 2):
        assert len(set(zip(a, b, strict=True))) == len(set(a)) * len(set(b))
    for first in range(4):
        assert [len(set(kind)) for kind in zip(*few(first), strict=True)] == [
            4,
            len(SCHEDULES),
            4,
            4,
        ]


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), covering())
def test_cpu_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: str
) -> None:
    gives_what_the_reference_gives(kernel, schedule, layout, dtype, "cpu")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("schedule", ["group 3", "merge"])
def test_accumulators_of_several_widths(schedule: str, dtype: str) -> None:
    several_agree(schedule, dtype, "cpu", copy.deepcopy)


@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_float_of_16_bits_that_is_moved_keeps_its_bits(dtype: str, target: str) -> None:
    moved_bits_are_kept(dtype, target)
