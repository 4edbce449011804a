"""One SpMV on one target: its arrays, plans, results and clocks."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from evenly.algorithms.linalg.spmv import spmv_atoms, spmv_rows
from evenly.bench.validation import Reference
from evenly.cli import dtypes
from evenly.cli.timing import Clock, device_clock, host_clock
from evenly.interop.transfer import to_numpy, to_place
from evenly.layouts.grouped import tiles_are_rows
from evenly.targets.contract import Target


class Problem:
    """y = A x on `target`, where A is the layout of the csr_array `matrix`, and x is random. Types: see `dtypes`."""

    def __init__(self, matrix: Any, A: Any, target: Target, dtype: str, seed: int = 0) -> None:
        self.matrix, self.target = matrix, target
        self.options = {"seed": seed} if target.counts else {}
        self.by_rows = tiles_are_rows(A)
        self.kernel = spmv_rows if self.by_rows else spmv_atoms
        self.x = dtypes.random_vector(matrix.shape[1], dtype)
        self.A = A.to(target.place)
        self.x_there = self._put(dtypes.stored(self.x, dtype))

    @cached_property
    def reference(self) -> Reference:
        """SciPy's result in float64 or complex128, with error bounds."""
        return Reference(self.matrix, self.x)

    def plan(self, schedule: Any) -> Any:
        """Make a plan for a schedule. It has its own y."""
        bound = self.kernel[schedule].on(self.target.name, **self.options)
        return bound.plan(self.A, self.x_there, self._output())

    def result(self, plan: Any) -> np.ndarray[Any, Any]:
        """Run the plan and return its y, (rows,), in CPU memory."""
        y = self._output()
        plan(self.A, self.x_there, y)
        return to_numpy(y)

    def clock(self, plan: Any) -> Clock:
        """Return a clock of the plan. It times the kernels on a GPU, the whole call elsewhere."""
        if self.target.place != "cpu":
            return device_clock(plan)
        y = self._output()
        return host_clock(lambda: plan(self.A, self.x_there, y))

    def _output(self) -> Any:
        """Make a new y: zeros if the kernel adds to it, else NaN, so that a row that is not written shows."""
        start = np.nan if self.by_rows else 0.0
        return self._put(np.full(self.matrix.shape[0], start, self.matrix.dtype))

    def _put(self, array: np.ndarray[Any, Any]) -> Any:
        return to_place(array, self.target.place)
