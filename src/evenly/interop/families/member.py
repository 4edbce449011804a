"""`Member`: one matrix of two families. It knows its size before it is made."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LINE = 32  # float32 in the 128 bytes of a line
# Families of columns whose neighbouring atoms gather from the same lines.
CLOSE = ("near", "bands", "blocks", "repeated")


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long rows are.

    about: to be read. kind, mean, a, b, order, run: see lengths.py. longest: the length of the rows in `long`.
    border: whether all rows have the first column.
    """

    about: str
    kind: int
    mean: float
    a: float = 0.0
    b: float = 0.0
    order: int = 0
    run: int = 1
    long: tuple[int, ...] = ()
    longest: int = 0
    border: bool = False


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the columns of a row lie. about: to be read; kind, window, group, a: see columns.py."""

    about: str
    kind: int
    window: int = 1 << 30
    group: int = 1
    a: int = 1


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks on the diagonal that have all nonzeros; a matrix without such blocks is one.

    rows, columns: (blocks + 1,) int64, where they begin. keys: (blocks,) int64: blocks of one key are equal.
    """

    rows: Array
    columns: Array
    keys: Array

    @property
    def of_row(self) -> Array:
        """The block of each row, (rows,) int32."""
        return np.repeat(np.arange(len(self.keys), dtype=np.int32), np.diff(self.rows))


def one_block(rows: int, columns: int) -> Blocks:
    """Return a matrix that is one block."""
    return Blocks(np.array([0, rows]), np.array([0, columns]), np.zeros(1, np.int64))


@dataclass(frozen=True, slots=True)
class Member:
    """A matrix of a family of row lengths and a family of columns.

    name: "SEED/LENGTHS/COLUMNS". about: its parameters, to be read. nnz: about how many nonzeros it has: a sample of a
    distribution with long tails misses its mean, and no row is longer than the matrix is wide.
    """

    name: str
    lengths: str
    columns: str
    rows: int
    cols: int
    nnz: int
    seed: int
    about: str
    shape: Lengths = field(repr=False)
    places: Columns = field(repr=False)
    blocks: Blocks = field(repr=False)

    @property
    def stream(self) -> bool:
        """Whether neighbouring atoms gather from the same lines: by the columns' family, or since rows are dense."""
        blocks = len(self.blocks.keys)
        return self.columns in CLOSE or self.cols / blocks <= LINE * self.nnz / self.rows

    def offsets(self) -> Array:
        """Draw the lengths. Returns the offsets, (rows + 1,) int32. Raises OverflowError for 2**31 nonzeros."""
        from .lengths import draw

        shape, blocks = self.shape, self.blocks
        found = np.empty(self.rows, np.int64)
        widest = int(np.diff(blocks.columns).min())
        drawn = shape.kind, shape.mean, shape.a, shape.b, shape.order, shape.run
        given = *drawn, blocks.of_row, blocks.rows, blocks.keys, widest, found
        word = np.uint64(self.seed)
        in_threads(lambda first, last: draw(first, last, word, *given), even(self.rows))
        found[list(shape.long)] = min(shape.longest, widest)
        offsets = np.concatenate([[0], np.cumsum(found)])
        if offsets[-1] > np.iinfo(np.int32).max:
            raise OverflowError(f"{self.name} has {offsets[-1]} nonzeros, more than int32 counts")
        return offsets.astype(np.int32)

    def structure(self) -> tuple[Array, Array]:
        """Draw the matrix without values. Returns the offsets, (rows + 1,) int32, and the columns, (nnz,) int32.

        The columns of a row are sorted, and none comes twice.
        """
        from .columns import fill

        offsets = self.offsets()
        found = np.empty(offsets[-1], np.int32)
        places, blocks = self.places, self.blocks
        drawn = places.kind, places.window, places.group, places.a
        begins = blocks.of_row, blocks.rows, blocks.columns, blocks.keys
        given = *drawn, *begins, offsets, found
        word = np.uint64(self.seed + 1)
        in_threads(lambda first, last: fill(first, last, word, *given), even_atoms(offsets))
        if self.shape.border:
            found[offsets[:-1][np.diff(offsets) > 0]] = 0
        return offsets, found

    def make(self) -> Any:
        """Draw the matrix, with values of 0 .. 1: a csr_array of float32, with int32 indices."""
        import scipy.sparse

        from .columns import values

        offsets, columns = self.structure()
        data = np.empty(len(columns), np.float32)
        word = np.uint64(self.seed + 2)
        in_threads(lambda first, last: values(first, last, word, data), even(len(data)))
        made = scipy.sparse.csr_array((data, columns, offsets), shape=(self.rows, self.cols))
        made.has_canonical_format = True
        return made


Bounds = list[tuple[int, int]]


def even(count: int) -> Bounds:
    """Cut 0 .. count - 1 into equal parts for threads."""
    parts = 4 * (os.cpu_count() or 1)
    cuts = [count * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(cuts))


def even_atoms(offsets: Array) -> Bounds:
    """Cut the rows into parts with about as many nonzeros each."""
    atoms = [last for _, last in even(int(offsets[-1]))]
    cuts = [0, *np.searchsorted(offsets, atoms[:-1]).tolist(), len(offsets) - 1]
    return list(itertools.pairwise(cuts))


def in_threads(work: Callable[[int, int], None], bounds: Bounds) -> None:
    """Do the work of all parts. What is compiled without the interpreter's lock runs at once."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(work, first, last) for first, last in bounds if first < last]:
            done.result()
