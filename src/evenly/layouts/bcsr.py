"""BCSR: CSR of dense R x C blocks. A tile is a scalar row, an atom is a cell of a block.

Use it for matrices of small dense blocks, such as those of finite elements: one column
index serves R * C values. Zeros that are stored in a block are atoms, too. Source:
the layout of scipy.sparse.bsr_array; Im and Yelick, "Optimizing Sparse Matrix
Computations for Register Reuse in SPARSITY" (ICCS 2001).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.interop import sparse
from evenly.layouts.arguments import (
    affordable,
    compressed,
    host_csr,
    inferred,
    take_apart,
)
from evenly.layouts.blocks import Blocks
from evenly.layouts.checker import finished
from evenly.layouts.contract import Array, Index, Static, layout
from evenly.layouts.entries import check_compressed
from evenly.layouts.moving import bounds, move
from evenly.layouts.search import Searched


@layout
class Bcsr(Searched):
    """A matrix of `num_rows` scalar rows in blocks of R rows and C columns.

    Block row b has the blocks offsets[b] .. offsets[b+1]-1. Scalar row r is in block row
    b = r // R. If b has n blocks, the row's atoms begin at position
    R * C * offsets[b] + (r % R) * n * C. Cell (i, j) of block q is
    values[(q * R + i) * C + j].
    """

    offsets: Array[Index]  # (block rows + 1,), non-decreasing, offsets[0] == 0
    indices: Array[Index]  # (blocks,), the block column of each block
    values: Array  # (blocks * R * C,), each block in C order
    block_rows: Static  # R
    block_columns: Static  # C
    num_rows: int  # at most R * (block rows)
    num_columns: int
    num_atoms: int  # the cells of the first num_rows rows

    id_bounds = {"column": "num_columns"}

    @property
    def num_tiles(self):
        return self.num_rows

    def blocks_of(self, tile):
        return self.offsets[tile // self.block_rows + 1] - self.offsets[tile // self.block_rows]

    def begin(self, tile):
        return (
            self.offsets[tile // self.block_rows] * self.block_rows
            + tile % self.block_rows * self.blocks_of(tile)
        ) * self.block_columns

    def end(self, tile):
        return (
            self.offsets[tile // self.block_rows] * self.block_rows
            + (tile % self.block_rows + 1) * self.blocks_of(tile)
        ) * self.block_columns

    def block(self, tile, k):
        return self.offsets[tile // self.block_rows] + (k - self.begin(tile)) // self.block_columns

    def row(self, tile, k):
        return tile

    def column(self, tile, k):
        return (
            self.indices[self.block(tile, k)] * self.block_columns
            + (k - self.begin(tile)) % self.block_columns
        )

    def value(self, tile, k):
        return self.values[
            (self.block(tile, k) * self.block_rows + tile % self.block_rows) * self.block_columns
            + (k - self.begin(tile)) % self.block_columns
        ]

    def validate(self, name: str = "A") -> None:
        """Check every offset and every block column. Raises InputError for the first that is wrong."""
        bound = -(-self.num_columns // self.block_columns)
        check_compressed(self, bound, name, "block column indices")

    def slice(self, tiles: Any) -> Any:
        """Return the consecutive rows `tiles` as a matrix. The first must be a multiple of R."""
        start, stop = bounds(tiles, self.num_tiles)
        if start % self.block_rows:
            expected = f"a start that is a multiple of {self.block_rows}, the rows of a block"
            raise InputError("tiles", expected=expected, given=str(start))
        size = self.block_rows * self.block_columns
        first, last = start // self.block_rows, -(-stop // self.block_rows)
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        offsets = self.offsets[first : last + 1] - self.offsets[first]
        parts = (offsets, self.indices[begin:end], self.values[begin * size : end * size])
        shape = (stop - start, self.num_columns)
        return _made(parts, self.block_rows, self.block_columns, shape)

    def blocks(self) -> Blocks:
        """Return a view whose tiles are block rows and whose atoms are blocks."""
        parts = (self.offsets, self.indices, self.values)
        return Blocks(*parts, self.block_rows, self.block_columns, self.num_columns)


@layout
class PaddedBcsr(Bcsr):
    """A :class:`Bcsr` whose last block column reaches beyond the matrix. Cells out there are masked."""

    def valid(self, tile, position):
        return self.column(tile, position) < self.num_columns


def bcsr(
    matrix: Any,
    *,
    shape: Any = None,
    block: tuple[int, int] | None = None,
    max_bytes: int | None = None,
    check: bool = True,
    validate: bool = False,
    name: str = "A",
) -> Bcsr:
    """Make a :class:`Bcsr` of a sparse matrix, or of the raw arrays (values, indices, offsets).

    matrix: scipy.sparse.bsr_array, CuPy's bsr or torch.sparse_bsr (not copied); another sparse
      matrix, whose duplicates are summed and whose edges are padded; or a tuple in SciPy's
      order of values (blocks, R, C), indices (blocks,) and offsets (block rows + 1,).
    shape: (rows, columns) of raw arrays. Optional.
    block: (R, C), the size of the blocks to build. Default: the largest of 8 x 8, 6 x 6, 4 x 4,
      3 x 3 and 2 x 2 whose blocks are at least half full, else 2 x 2.
    max_bytes: the most memory for blocks to build. Default: 1 GiB, or four times the size of
      the matrix as CSR if that is more.
    check, validate: as for `ev.csr`.

    Raises InputError for malformed arrays, and if the blocks take more than `max_bytes`.
    """
    if isinstance(matrix, Bcsr):
        return finished(matrix, name, False, validate)
    if sparse.is_sparse(matrix) and not _is_bsr(matrix):
        built = _converted(matrix, shape, block, max_bytes, name)
        return finished(built, name, False, validate)
    found = take_apart(matrix, "bsr", shape, name)
    made = compressed(found, name, axis=0)
    values = made["values"]
    _, height, width = (int(n) for n in values.shape)
    if 0 in (height, width):
        given = f"shape {tuple(values.shape)}"
        raise InputError(f"{name}.values", expected="blocks of at least 1 x 1", given=given)
    if block is not None and _checked_block(block) != (height, width):
        raise InputError("block", expected=f"the matrix's own {height, width}", given=repr(block))
    rows = (len(made["offsets"]) - 1) * height
    size: Any = found.shape
    if size is None:
        size = (rows, inferred(made["indices"], name) * width)
    if not rows - height < size[0] <= rows:
        expected = f"{rows} rows, {height} for each of {len(made['offsets']) - 1} block rows"
        raise InputError(f"{name}.shape", expected=expected, given=str(size[0]))
    parts = (made["offsets"], made["indices"], values.reshape(-1))
    return finished(_made(parts, height, width, size), name, check, validate)


def _made(parts: Any, height: int, width: int, shape: tuple[int, int]) -> Bcsr:
    """Make a PaddedBcsr if the last block column overhangs, else a Bcsr, since masks cost time."""
    offsets, indices, values = parts
    atoms = len(values)
    missing = (len(offsets) - 1) * height - shape[0]
    if missing:  # rows beyond the matrix have the last positions
        last = int(offsets[-1] - offsets[-2])
        atoms -= missing * last * width
    cls: type[Bcsr] = PaddedBcsr if shape[1] % width else Bcsr
    return cls(offsets, indices, values, height, width, shape[0], shape[1], atoms)


def _is_bsr(matrix: Any) -> bool:
    return getattr(matrix, "format", "") == "bsr" or str(getattr(matrix, "layout", "")).endswith(
        "sparse_bsr"
    )


def _converted(matrix: Any, shape: Any, block: Any, max_bytes: int | None, name: str) -> Bcsr:
    import scipy.sparse

    given = None if block is None else _checked_block(block)
    source, device = host_csr(matrix, shape, name)
    rows, columns = source.shape
    # SciPy's conversion allocates an offset for each padded row and an address for each block column.
    height, width = given or (2, 2)
    beside = 8 * (-(-rows // height) * height - (-columns // width))
    why = f"{rows:,} rows and {columns:,} columns in blocks of {height} x {width}"
    affordable(beside, source, max_bytes, name, "BCSR", why)
    height, width = given or _best_block(source)
    count = _count_blocks(source, height, width)
    needed = count * (height * width * source.data.itemsize + source.indices.itemsize)
    why = f"{count:,} blocks of {height} x {width}"
    affordable(needed, source, max_bytes, name, "BCSR", why)
    padded_rows, padded_columns = -(-rows // height) * height, -(-columns // width) * width
    indptr = np.concatenate(
        [source.indptr, np.full(padded_rows - rows, source.indptr[-1], source.indptr.dtype)]
    )
    padded = scipy.sparse.csr_array(
        (source.data, source.indices, indptr), shape=(padded_rows, padded_columns)
    )
    made = sparse.by_library(lambda: padded.tobsr((height, width)), padded, "bsr", name)
    parts = (made.indptr, made.indices, np.ascontiguousarray(made.data).reshape(-1))
    return move(_made(parts, height, width, (rows, columns)), device)


def _checked_block(block: Any) -> tuple[int, int]:
    good = isinstance(block, (tuple, list)) and len(block) == 2
    if not good or not all(isinstance(n, (int, np.integer)) and n > 0 for n in block):
        raise InputError("block", expected="(R, C), both at least 1", given=repr(block))
    return int(block[0]), int(block[1])


def _best_block(source: Any) -> tuple[int, int]:
    for size in (8, 6, 4, 3):
        if source.nnz >= 0.5 * size * size * _count_blocks(source, size, size):
            return size, size
    return 2, 2


def _count_blocks(source: Any, height: int, width: int) -> int:
    """Count the R x C blocks that have a nonzero."""
    rows, columns = source.shape
    if source.nnz == 0:
        return 0
    row = np.repeat(np.arange(rows, dtype=np.int64), np.diff(source.indptr))
    keys = row // height * -(-columns // width) + source.indices // width
    return len(np.unique(keys))
