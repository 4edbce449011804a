"""y = A x on a CPU, once, for a matrix that is not stored by rows: nothing is grouped.

Parts of consecutive columns, or nonzeros, have sums for all rows, to which they add their products one after the
other. Then the sums of a row are added up. How many parts there are follows from the matrix alone, and so do the bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

EACH = ev.ThreadMapped()
FEWEST = 3  # nonzeros of a part for each row
EACH_PART, MOST = 16384, 32  # nonzeros of a part; parts


@ev.kernel
def add_products(P, starts, A, columns, x, rows, sums):
    """sums[part * rows + row]: the products of a part that belong to a row.

    starts: the first tile of each part. columns: of each nonzero; None: tiles are columns.
    """
    for part in P.tiles():
        first = part * rows
        for row in range(rows):
            sums[first + row] = 0
        for tile in range(starts[part], starts[part + 1]):
            for k in range(A.begin(tile), A.end(tile)):
                column = tile if columns is None else columns[k]
                sums[ev.distinct(first + A.row(k))] += A.value(k) * x[column]


@ev.kernel
def add_parts(E, sums, parts, y):
    for row in E.tiles():
        total = sums[row]
        for part in range(1, parts):
            total += sums[part * len(y) + row]
        y[row] = total


def scattered(A: Any, x: Any, out: Any, new: bool) -> Any:
    """Compute out = A x for the layout of `ev.csc` or `ev.coo` in CPU memory, and return `out`.

    out: of the type of products. new: whether it is a new array, which overlaps nothing.
    """
    rows, nonzeros, of_columns = A.num_rows, A.num_atoms, A.format == "csc"
    kit.check_indices(A.indices if of_columns else A.rows, rows, "A.rows", "row indices")
    held = kit.held_as(out)
    parts = max(min(nonzeros // max(FEWEST * rows, EACH_PART), MOST), 1)
    cuts = np.arange(parts + 1) * nonzeros // parts
    starts = np.searchsorted(kit.to_numpy(A.offsets), cuts) if of_columns else cuts
    starts[0], starts[-1] = 0, A.num_tiles
    at_once = parts == 1 and held == kit.dtype(out)
    if not (at_once or new):
        kit.check_apart(out, A=A, x=x)
    sums = out if at_once else kit.empty(x, (parts * rows,), held)
    columns = None if of_columns else A.columns
    P = ev.ragged(cuts, num_atoms=nonzeros, check=False)
    add_products[EACH](P, starts, A, columns, x, rows, sums)
    if not at_once:
        add_parts[EACH](kit.each(rows), sums, parts, out)
    return out
