"""The least time that a product can take on a machine of given rates.

Every byte has to come in or go out once, at the rate of a copy. And where x is gathered, each gather moves 32 bytes out
of L2, at the rate of gathers from random places. The floor is the larger of the two. What fits into the L2 cache can be
faster than the first when warm: shares of the floor mean something for matrices that do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .place import Rates

SECTOR = 32  # bytes that L2 gives at least


def moved(matrix: Any) -> int:
    """Bytes of the csr_array, of y and of the entries of x that it reads, each once."""
    read = min(matrix.nnz, matrix.shape[1])
    vectors = (read + matrix.shape[0]) * matrix.data.itemsize
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes + vectors)


def gathers(matrix: Any) -> int:
    """Nonzeros that need 32 bytes of x of their own.

    Not so those whose 32 bytes are also wanted by the nonzero before them in their row, or by the
    one at the same place in the row above: they are loaded together.
    """
    if not matrix.nnz:
        return 0
    sectors = matrix.indices // (SECTOR // matrix.data.itemsize)
    offsets = matrix.indptr
    lengths = np.diff(offsets)
    starts = offsets[:-1][lengths > 0]
    shared = np.empty(len(sectors), bool)
    np.equal(sectors[1:], sectors[:-1], out=shared[1:])
    shared[starts] = False
    # Back to the same place in the row above is as far as that row is long.
    above = np.repeat(np.concatenate([lengths[:1], lengths[:-1]]), lengths)
    place = np.arange(len(sectors), dtype=offsets.dtype) - np.repeat(offsets[:-1], lengths)
    has = place < above
    has[: lengths[0]] = False
    here = np.flatnonzero(has)
    shared[here] |= sectors[here] == sectors[here - above[here]]
    return int(len(sectors) - np.count_nonzero(shared))


def floor(matrix: Any, rates: Rates) -> float:
    """Microseconds."""
    copied = moved(matrix) / rates.copy
    gathered = gathers(matrix) * SECTOR / rates.gather if rates.gather else 0.0
    return max(copied, gathered) * 1e6
