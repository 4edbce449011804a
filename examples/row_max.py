"""The largest entry of each row and its column: `max` and `ev.argmax` over a tile's atoms.

Run it: python examples/row_max.py
"""

from __future__ import annotations

import math

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat


@ev.kernel
def row_max(A, largest, at):
    """Store the largest entry of each row, and its column: of several equal ones, the first."""
    for row in A.tiles():
        largest[row] = max((A.value(k) for k in A.atoms(row)), default=-math.inf)
        k = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)
        at[row] = A.column(k) if k >= 0 else -1


def main(schedule="auto", target=None, matrix=None):
    target = target or best()
    matrix = rmat(6) if matrix is None else matrix
    rows = matrix.shape[0]
    largest, at = np.empty(rows, matrix.dtype), np.empty(rows, np.int64)
    A, largest, at = put(target, ev.csr(matrix), largest, at)
    row_max[schedule].on(target)(A, largest, at)

    largest, at = get(largest), get(at)
    for row in range(rows):
        first, last = matrix.indptr[row], matrix.indptr[row + 1]
        values, columns = matrix.data[first:last], matrix.indices[first:last]
        if len(values):
            assert largest[row] == values.max()
            assert at[row] == columns[values.argmax()]
        else:
            assert largest[row] == -math.inf
            assert at[row] == -1


if __name__ == "__main__":
    main()
    print(f"row maxima on {best()}: equal to NumPy's results")
