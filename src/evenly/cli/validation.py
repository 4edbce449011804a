"""Is a result right? SciPy's in float64, and how far from it a right one may lie.

A dot product of n terms in a precision of unit roundoff u, summed in any order, differs
from the exact one by at most gamma_n |a|.|x|, gamma_n = n u / (1 - n u): Higham, "Accuracy
and Stability of Numerical Algorithms" (2002), section 3.1. The reference has such an error
too, of float64's u.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Vector = np.ndarray[Any, Any]


class Reference:
    """A x in float64, with the bound of each row's error in the precision of A."""

    def __init__(self, matrix: Any, x: Vector) -> None:
        """matrix: (m, n) csr_array of float32 or float64; x: (n,) of the same type."""
        with np.errstate(all="ignore"):
            wide, x64 = matrix.astype(np.float64), x.astype(np.float64)
            terms = np.diff(matrix.indptr)
            self.exact: Vector = wide @ x64
            self.scale: Vector = abs(wide) @ abs(x64)  # |A| |x|
            relative = gamma(terms, matrix.dtype) + gamma(terms, np.float64)
            # products below the smallest normal number lose more than u of themselves
            lost = terms * float(np.finfo(matrix.dtype).smallest_subnormal)
            self.bound: Vector = relative * self.scale + lost
            # sums of numbers that may leave the range of the type on the way
            self.may_overflow: Vector = self.scale > float(np.finfo(matrix.dtype).max)
            self.may_overflow &= ~rows_with(~np.isfinite(wide.data), wide)

    def errors(self, y: Vector) -> int:
        """How many entries of y (m,) lie outside of their bound, or are no numbers."""
        with np.errstate(all="ignore"):
            right = np.isfinite(self.exact) & (np.abs(y - self.exact) <= self.bound)
            right |= (y == self.exact) | (np.isnan(y) & np.isnan(self.exact))
            right |= self.may_overflow & ~np.isfinite(y)
        return int(np.count_nonzero(~right))

    def largest(self, y: Vector) -> float:
        """The largest |y - A x| / |A| |x| of a row; infinite where only the divisor is 0."""
        with np.errstate(all="ignore"):
            off = np.abs(y - self.exact)
            relative = np.where(off == 0, 0.0, off / self.scale)
        return float(relative.max(initial=0.0))


def rows_with(chosen: Vector, matrix: Any) -> Vector:
    """Which rows (m,) hold one of the `chosen` (bool) entries of the csr_array `matrix`."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    found: Vector = np.diff(before[matrix.indptr]) > 0
    return found


def gamma(terms: Any, dtype: Any) -> Any:
    """gamma_n for n `terms`. Beyond n u = 1/2, where it says little, 2 n u."""
    share = terms * (float(np.finfo(dtype).eps) / 2)
    return share / (1 - np.minimum(share, 0.5))
