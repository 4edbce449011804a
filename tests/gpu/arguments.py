"""A product's arguments in a GPU's memory, as CuPy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from tests.batteries import vector


def arguments(matrix: Any) -> Any:
    """CuPy, a layout of the matrix, x, and a y that nothing has been stored to."""
    cupy = pytest.importorskip("cupy")
    A = ev.csr(matrix).to("cuda")
    x, y = cupy.asarray(vector(matrix.shape[1])), cupy.full(matrix.shape[0], cupy.nan, np.float32)
    return cupy, A, x, y
