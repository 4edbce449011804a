"""One SpMV or SpMM on one target: its arrays, plans, results and clocks."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from evenly import kit
from evenly.algorithms.linalg.spmm import spmm_rows
from evenly.algorithms.linalg.spmv import spmv_atoms, spmv_rows
from evenly.bench.validation import Reference
from evenly.cli import dtypes
from evenly.cli.timing import Clock, device_clock, host_clock
from evenly.interop.transfer import to_numpy, to_place
from evenly.layouts.grouped import tiles_are_rows
from evenly.targets.contract import Target


class Problem:
    """y = A x on `target`, where A is the layout of the csr_array `matrix`, and x is random. Types: see `dtypes`.

    columns: of x and y, which are dense matrices; None: they are vectors.
    """

    def __init__(
        self,
        matrix: Any,
        A: Any,
        target: Target,
        dtype: str,
        seed: int = 0,
        columns: int | None = None,
    ) -> None:
        self.matrix, self.target, self.columns = matrix, target, columns
        self.options = {"seed": seed} if target.counts else {}
        self.by_rows = tiles_are_rows(A)
        self.kernel = spmv_rows if self.by_rows else spmv_atoms
        self.x = dtypes.random_vector(matrix.shape[1] * (columns or 1), dtype)
        self.more: tuple[Any, ...] = ()  # arguments of the kernel
        if columns is not None:
            self.kernel, self.x = spmm_rows, self.x.reshape(-1, columns)
            self.more = None, None, *kit.Scales()
        self.A = A.to(target.place)
        self.x_there = self._put(dtypes.stored(self.x, dtype))

    @cached_property
    def reference(self) -> Reference:
        """SciPy's result in float64 or complex128, with error bounds."""
        return Reference(self.matrix, self.x)

    def plan(self, schedule: Any) -> Any:
        """Make a plan for a schedule. It has its own y."""
        bound = self.kernel[schedule].on(self.target.name, **self.options)
        return bound.plan(self.A, self.x_there, self._output(), *self.more)

    def result(self, plan: Any) -> np.ndarray[Any, Any]:
        """Run the plan and return its y, (rows,) or (rows, columns), in CPU memory."""
        y = self._output()
        plan(self.A, self.x_there, y, *self.more)
        return to_numpy(y)

    def clock(self, plan: Any) -> Clock:
        """Return a clock of the plan. It times the kernels on a GPU, the whole call elsewhere."""
        if self.target.place != "cpu":
            return device_clock(plan)
        y = self._output()
        return host_clock(lambda: plan(self.A, self.x_there, y, *self.more))

    def _output(self) -> Any:
        """Make a new y: zeros if the kernel adds to it, else NaN, so that a row that is not written shows."""
        start = np.nan if self.by_rows else 0.0
        return self._put(
            np.full((self.matrix.shape[0], *self.x.shape[1:]), start, self.matrix.dtype)
        )

    def _put(self, array: np.ndarray[Any, Any]) -> Any:
        return to_place(array, self.target.place)
