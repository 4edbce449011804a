"""Check results against SciPy's in float64, within the bound of the rounding error.

A dot product of n terms, summed in any order in a precision with unit roundoff u, differs
from the exact one by at most gamma_n |a|.|x|, with gamma_n = n u / (1 - n u): Higham, "Accuracy
and Stability of Numerical Algorithms" (2002), section 3.1. The reference has such an error,
too, with the u of float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Vector = np.ndarray[Any, Any]


class Reference:
    """A x in float64 (complex128 if A is complex), with the bound of each entry's error in the precision of A."""

    def __init__(self, matrix: Any, x: Vector) -> None:
        """matrix: (m, n) csr_array of float32, float64, complex64 or complex128; x: (n,) or (n, k) of the same type."""
        of, self.in_parts = np.finfo(matrix.dtype), matrix.dtype.kind == "c"
        wide_type = np.complex128 if self.in_parts else np.float64
        with np.errstate(all="ignore"):
            wide, wide_x = matrix.astype(wide_type), x.astype(wide_type)
            terms = np.diff(matrix.indptr).reshape(-1, *[1] * (x.ndim - 1))
            # The real or imaginary part of a complex dot product has 2 n real terms; each pair is at most |a| |x|.
            sums = 2 * terms if self.in_parts else terms
            self.exact: Vector = wide @ wide_x
            self.scale: Vector = abs(wide) @ abs(wide_x)  # |A| |x|
            relative = gamma(sums, matrix.dtype) + gamma(sums, wide_type)
            if self.in_parts:
                relative = (
                    2 * relative + 8 * of.eps
                )  # for both parts, and for |a| and |x|, which are rounded as well
            # products that are subnormal have a larger relative error than u
            lost = sums * float(of.smallest_subnormal)
            self.bound: Vector = relative * self.scale + lost
            # rows whose partial sums may overflow
            self.may_overflow: Vector = self.scale > float(of.max)
            self.may_overflow &= ~rows_with(~np.isfinite(wide.data), wide).reshape(terms.shape)

    def errors(self, y: Vector) -> int:
        """Count the entries of y, (m,) or (m, k), whose error exceeds its bound, or that are NaN."""
        with np.errstate(all="ignore"):
            right = np.isfinite(self.exact) & (np.abs(y - self.exact) <= self.bound)
            right |= (y == self.exact) | (np.isnan(y) & np.isnan(self.exact))
            right |= self.may_overflow & ~np.isfinite(y)
            if self.in_parts:  # how inf and nan spread depends on how the product is written
                right |= ~np.isfinite(self.exact) & ~np.isfinite(y)
        return int(np.count_nonzero(~right))

    def largest(self, y: Vector) -> float:
        """Return the largest |y - A x| / (|A| |x|) of all rows; infinite if only the divisor is 0."""
        with np.errstate(all="ignore"):
            off = np.abs(y - self.exact)
            relative = np.where(off == 0, 0.0, off / self.scale)
        return float(relative.max(initial=0.0))


def errors_of_product(A: Any, B: Any, C: Any) -> int:
    """Count the entries of C, a layout, that are further from those of A B in 64 bits than rounding explains.

    Where A B has nan or an infinity, C has to have it, too.
    """
    import scipy.sparse

    host = C.to("cpu")
    found = scipy.sparse.csr_array((host.values, host.indices, host.offsets), shape=host.shape)
    wide = np.complex128 if A.dtype.kind == "c" else np.float64
    wide_A, wide_B = A.astype(wide), B.astype(wide)
    terms = int(np.diff(A.indptr).max(initial=0)) * (4 if A.dtype.kind == "c" else 1)
    allowed = (abs(wide_A) @ abs(wide_B)) * float(gamma(terms + 1, A.dtype) + gamma(terms, wide))
    exact = scipy.sparse.csr_array(wide_A @ wide_B)
    wrong = abs(found.astype(wide) - exact) > allowed
    for test in (np.isnan, np.isinf):
        wrong = wrong + (_marked(test, found) != _marked(test, exact))
    return int(wrong.nnz)


def _marked(test: Any, M: Any) -> Any:
    import scipy.sparse

    return scipy.sparse.csr_array((test(M.data), M.indices, M.indptr), shape=M.shape)


def rows_with(chosen: Vector, matrix: Any) -> Vector:
    """Return which rows, (m,) bool, have one of the `chosen` entries, (nnz,) bool, of the csr_array `matrix`."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    found: Vector = np.diff(before[matrix.indptr]) > 0
    return found


def gamma(terms: Any, dtype: Any) -> Any:
    """Return gamma_n for n `terms`, or 2 n u if n u is above 1/2, where the bound says little."""
    share = terms * (float(np.finfo(dtype).eps) / 2)
    return share / (1 - np.minimum(share, 0.5))
