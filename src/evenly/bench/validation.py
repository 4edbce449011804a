"""Is a result right? SciPy's in 64 bits, and how far from it a right one may lie.

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
    """A x in float64 (of complex numbers, in complex128), with the bound of each row's error in the precision of A."""

    def __init__(self, matrix: Any, x: Vector) -> None:
        """matrix: (m, n) csr_array of float32, float64, complex64 or complex128; x: (n,) of the same type."""
        of, self.in_parts = np.finfo(matrix.dtype), matrix.dtype.kind == "c"
        wide_type = np.complex128 if self.in_parts else np.float64
        with np.errstate(all="ignore"):
            wide, wide_x = matrix.astype(wide_type), x.astype(wide_type)
            terms = np.diff(matrix.indptr)
            # a part of a complex product is two products: 2 n terms, of which a sum has |a| |x| each
            sums = 2 * terms if self.in_parts else terms
            self.exact: Vector = wide @ wide_x
            self.scale: Vector = abs(wide) @ abs(wide_x)  # |A| |x|
            relative = gamma(sums, matrix.dtype) + gamma(sums, wide_type)
            if self.in_parts:
                relative = (
                    2 * relative + 8 * of.eps
                )  # both parts, and |a| and |x|, rounded themselves
            # products below the smallest normal number lose more than u of themselves
            lost = sums * float(of.smallest_subnormal)
            self.bound: Vector = relative * self.scale + lost
            # sums of numbers that may leave the range of the type on the way
            self.may_overflow: Vector = self.scale > float(of.max)
            self.may_overflow &= ~rows_with(~np.isfinite(wide.data), wide)

    def errors(self, y: Vector) -> int:
        """How many entries of y (m,) lie outside of their bound, or are no numbers."""
        with np.errstate(all="ignore"):
            right = np.isfinite(self.exact) & (np.abs(y - self.exact) <= self.bound)
            right |= (y == self.exact) | (np.isnan(y) & np.isnan(self.exact))
            right |= self.may_overflow & ~np.isfinite(y)
            if self.in_parts:  # which parts inf and nan reach depends on how products are written
                right |= ~np.isfinite(self.exact) & ~np.isfinite(y)
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
