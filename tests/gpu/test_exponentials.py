"""Powers of e on a GPU, beside those of 80 bits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gpu.test_typed import moved
from tests.test_exponentials import hold_both

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_the_language(dtype: type) -> None:
    hold_both(dtype, "cuda", moved)
