"""Complex numbers and floats of 16 bits in the emitted CUDA C++, executed under every schedule."""

from __future__ import annotations

import pytest
from tests.typed import few, gives_what_the_reference_gives

pytestmark = pytest.mark.simt


@pytest.mark.parametrize(("kernel", "schedule", "layout", "dtype"), few())
def test_simt_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: str
) -> None:
    gives_what_the_reference_gives(kernel, schedule, layout, dtype, "simt", seeds=(0, 1))
