"""Complex numbers and floats of 16 bits in the emitted CUDA C++, executed under every schedule."""

from __future__ import annotations

import copy

import pytest
from tests.typed import few, gives_what_the_reference_gives, several_agree

pytestmark = pytest.mark.simt


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), few())
def test_simt_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: str
) -> None:
    gives_what_the_reference_gives(kernel, schedule, layout, dtype, "simt", seeds=(0, 1))


@pytest.mark.parametrize("schedule", ["group 48", "flat 64", "work", "merge", "nonzero"])
def test_accumulators_of_several_widths(schedule: str) -> None:
    """One of 16 bytes makes room for two words of every other."""
    several_agree(schedule, "complex128", "simt", copy.deepcopy)
