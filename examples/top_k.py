"""The four largest values of each row, with their columns. Of equal ones, the first comes first.

They are in a local array of the row, which one loop over the row's positions keeps sorted.

Run it: python examples/top_k.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly.interop.generators import rmat

MOST = 4


@ev.kernel
def top_k(A, values, columns):
    for row in A.tiles():
        size = 0
        at = ev.local(MOST, np.int64)  # positions, of the largest value first
        for k in range(A.begin(row), A.end(row)):
            i = size
            while i > 0 and A.value(at[i - 1]) < A.value(k):
                if i < MOST:
                    at[i] = at[i - 1]
                i -= 1
            if i < MOST:
                at[i] = k
                size = min(size + 1, MOST)
        for i in range(MOST):
            values[row, i] = A.value(at[i]) if i < size else 0.0
            columns[row, i] = A.column(at[i]) if i < size else -1


def main(schedule="auto", target=None):
    target = target or best()
    matrix = rmat(6)
    matrix.data = np.round(matrix.data, 1)  # so that some are equal
    rows = matrix.shape[0]
    values, columns = np.empty((rows, MOST), np.float32), np.empty((rows, MOST), np.int32)
    A, values, columns = put(target, ev.csr(matrix), values, columns)
    top_k[schedule].on(target)(A, values, columns)
    for row, (start, stop) in enumerate(zip(matrix.indptr, matrix.indptr[1:], strict=False)):
        here = matrix.data[start:stop]
        order = start + np.argsort(-here, kind="stable")[:MOST]
        missing = (0, MOST - len(order))
        np.testing.assert_array_equal(get(values)[row], np.pad(matrix.data[order], missing))
        expected = np.pad(matrix.indices[order], missing, constant_values=-1)
        np.testing.assert_array_equal(get(columns)[row], expected)


if __name__ == "__main__":
    main()
    print(f"top {MOST} on {best()}: equal to NumPy's results")
