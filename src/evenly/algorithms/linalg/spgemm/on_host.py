"""A product on the CPU: in parts of consecutive rows, of about as many products as there are columns."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

from .parts import count_parts, count_row_products, filling_parts
from .work import EACH, EVENLY, Work, made, sums_of

PARTS, EACH_PART = (
    16,
    8192,
)  # parts, if they have so many products each; more, if there are many products for a column
MOST = 1024  # parts
EMPTY = (
    16  # with more columns than so many for each nonzero of B, those that it has are numbered anew
)
DEFAULT = (
    1 << 30
)  # bytes that scratch arrays may take. One worker may have more, if the caller does not say


class OnHost(Work):
    """A product whose rows are made one after the other, in parts."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.width = self.columns
        self.names: Any = None
        if self.columns > EMPTY * (self.B.num_atoms + 4096):
            self.number_columns()
        products = kit.empty(self.A.offsets, (self.rows,), np.int64)
        count_row_products[EVENLY].on(self.target)(self.A, self.B, products)
        self.before = before = ev.prefix_sum(products, include_initial=True)
        self.products = int(before[-1])
        parts = max(self.products // max(self.width, 1), min(self.products // EACH_PART, PARTS))
        parts = max(min(parts, MOST, self.rows), 1)
        cuts = np.arange(1, parts) * self.products // parts
        self.starts = np.concatenate([[0], np.searchsorted(before, cuts), [self.rows]])
        self.P = ev.ragged(before[self.starts], num_atoms=self.products, check=False)

    def number_columns(self) -> None:
        """Number the columns that B has, in order: then there are at most as many as it has nonzeros."""
        self.reserve(32 * self.B.num_atoms)
        self.names, columns = ev.unique(self.B.indices, return_inverse=True)
        self.width, offsets = len(self.names), self.B.offsets
        shape = self.B.num_tiles, self.width
        self.B = ev.csr((self.B.values, columns, offsets), shape=shape, check=False)

    def bytes_for(self, nonzeros: int, rows: int, depth: int) -> int:
        return 32 * rows

    def room(self) -> int | None:
        given, one = super().room(), 24 * self.width + 64
        return one if given is None and one > DEFAULT else given

    def counts(self) -> Any:
        counts = kit.zeros(self.A.offsets, (self.rows,), np.int64)
        self.run(count_parts, EACH, self.P, self.starts, self.A, self.B, self.width, counts)
        return counts

    def fill(self, offsets: Any, columns: Any, values: Any) -> None:
        kernel = made(filling_parts, sums_of(values))
        given = self.P, self.starts, self.A, self.B, self.before, self.width
        self.run(kernel, EACH, *given, offsets, columns, values)
        if self.names is not None:
            columns[:] = self.names[columns]
