"""The blocks of BCSR as atoms: a tile is a block row, an atom is a whole block.

Use it for kernels that compute with whole dense blocks (their products, their inverses).
`Bcsr.blocks()` makes it.
"""

from __future__ import annotations

from evenly.layouts.compressed import Compressed
from evenly.layouts.contract import Array, Index, Static, layout


@layout
class Blocks(Compressed):
    """The blocks of a `Bcsr`: a tile is a block row, an atom is a block.

    In a kernel, value(k, i, j) is cell (i, j) of block k, and its column is
    column(k) * block_columns + j.
    """

    offsets: Array[Index]  # (num_tiles + 1,), non-decreasing, offsets[0] == 0
    indices: Array[Index]  # (num_atoms,), the block column of each block
    values: Array  # (num_atoms * R * C,), each block in C order
    block_rows: Static  # R
    block_columns: Static  # C
    num_scalar_columns: int

    @property
    def num_atoms(self):
        return len(self.indices)

    def row(self, tile, k):
        return tile

    def column(self, k):
        return self.indices[k]

    def value(self, k, i, j):
        return self.values[(k * self.block_rows + i) * self.block_columns + j]
