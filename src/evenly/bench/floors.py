"""The least time that a product can take on a machine with given rates.

Every byte must be read or written once, at the rate of a copy. Each gather from x moves 32 bytes out of L2, at the rate
of gathers from random addresses. The floor is the larger of these two times. A matrix that fits into the L2 cache can
be faster than that when the cache is warm, so the share of the floor means something for larger matrices only.
"""

from __future__ import annotations

from typing import Any

from .place import Rates

SECTOR = 32  # bytes, the least that a read from L2 moves


def moved(matrix: Any) -> int:
    """Return the bytes of the csr_array, of y, and of the entries of x that are read, each counted once."""
    read = min(matrix.nnz, matrix.shape[1])
    vectors = (read + matrix.shape[0]) * matrix.data.itemsize
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes + vectors)


def stored(layout: Any, *vectors: Any) -> int:
    """Return the bytes of a layout's arrays, padding included, and of the vectors, each counted once."""
    arrays = [getattr(layout, n) for n, f in type(layout).__fields__.items() if "array" in f.kind]
    return sum(int(array.nbytes) for array in (*arrays, *vectors))


def gathers(matrix: Any) -> int:
    """Count the nonzeros that need a sector (32 bytes) of x of their own.

    A nonzero shares its sector if the one before it in the row, or the one at the same place in
    the row above, reads the same: they are loaded together.
    """
    from .sectors import own

    per = SECTOR // matrix.data.itemsize
    return int(own(matrix.indptr, matrix.indices, per.bit_length() - 1))


def floor(matrix: Any, rates: Rates) -> float:
    """Return the floor in microseconds."""
    copied = moved(matrix) / rates.copy
    gathered = gathers(matrix) * SECTOR / rates.gather if rates.gather else 0.0
    return max(copied, gathered) * 1e6
