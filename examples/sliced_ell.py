"""A layout of your own: sliced ELL. Every 32 rows form a slice, padded to its longest row.

Slots are stored column by column within a slice, so that loads coalesce if each thread has one
row. Positions go row by row, as the contract demands. `atom_id` converts a position to a slot. (evenly has
one of its own: `ev.sell`.)

Source: Monakov, Lokhmotov, Avetisyan, "Automatically Tuning Sparse Matrix-Vector
Multiplication for GPU Architectures" (HiPEAC 2010).

Run it: python examples/sliced_ell.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put
from spmv import spmv

import evenly as ev
from evenly.interop.generators import rmat
from evenly.layouts import Searched

HEIGHT = 32  # rows in a slice, as many as a warp has threads


@ev.layout
class SlicedEll(Searched):
    starts: ev.Array[ev.Index]  # (slices,), the first slot of each slice
    widths: ev.Array[ev.Index]  # (slices,), the slots of each row in the slice
    indices: ev.Array[ev.Index]  # (slots,), the column of each slot; -1 is padding
    values: ev.Array  # (slots,), the value of each slot
    num_tiles: int
    num_atoms: int

    def begin(self, tile):
        return self.starts[tile // HEIGHT] + tile % HEIGHT * self.widths[tile // HEIGHT]

    def end(self, tile):
        return self.begin(tile) + self.widths[tile // HEIGHT]

    def atom_id(self, tile, position):
        return self.starts[tile // HEIGHT] + tile % HEIGHT + HEIGHT * (position - self.begin(tile))

    def valid(self, tile, position):
        return self.indices[self.atom_id(tile, position)] >= 0

    def column(self, k):
        return self.indices[k]

    def value(self, k):
        return self.values[k]


def sliced_ell(matrix):
    """Make a SlicedEll of a SciPy CSR matrix."""
    rows, lengths = matrix.shape[0], np.diff(matrix.indptr)
    slices = -(-rows // HEIGHT)
    padded = np.zeros(slices * HEIGHT, np.int64)
    padded[:rows] = lengths
    widths = padded.reshape(slices, HEIGHT).max(axis=1, initial=0)
    starts = np.concatenate([[0], np.cumsum(widths * HEIGHT)])
    indices = np.full(starts[-1], -1, matrix.indices.dtype)
    values = np.zeros(starts[-1], matrix.dtype)
    row = np.repeat(np.arange(rows), lengths)
    place_in_row = np.arange(matrix.nnz) - matrix.indptr[row]
    slot = starts[row // HEIGHT] + row % HEIGHT + HEIGHT * place_in_row
    indices[slot], values[slot] = matrix.indices, matrix.data
    # The last slice may be padded with rows that are not tiles. They have the last positions.
    missing = (slices * HEIGHT - rows) * widths[-1] if slices else 0
    return SlicedEll(starts[:-1], widths, indices, values, rows, starts[-1] - missing)


def main(schedule="auto", target=None, matrix=None):
    target = target or best()
    matrix = rmat(6) if matrix is None else matrix
    x = np.random.default_rng(0).random(matrix.shape[1]).astype(matrix.dtype)
    A, x_there, y = put(target, sliced_ell(matrix), x, np.empty(matrix.shape[0], x.dtype))
    spmv[schedule].on(target)(A, x_there, y)
    np.testing.assert_allclose(get(y), matrix @ x, rtol=1e-4, atol=1e-6)


if __name__ == "__main__":
    main()
    print(f"spmv over a layout of your own on {best()}: equal to SciPy's result")
