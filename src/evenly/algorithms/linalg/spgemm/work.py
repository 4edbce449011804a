"""One product of sparse matrices: what is the same wherever it is computed."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

from .products import STEP, count_products, find_factors, span_rows

EACH, EVENLY = ev.ThreadMapped(), ev.MergePath()
MADE: dict[tuple[Any, Any], Any] = {}


def made(make: Any, given: Any) -> Any:
    """Return the kernel that `make` returns for a constant or a type. It is made once."""
    if (make, given) not in MADE:
        MADE[make, given] = make(given)
    return MADE[make, given]


def sums_of(values: Any) -> Any:
    """Return the type that sums of `values` have in a kernel. Narrow integers wrap as wide ones do."""
    held = kit.held_as(values)
    return (held if held.itemsize >= 4 else np.dtype(np.int64)).type


@ev.kernel
def fill_with_ones(E, out):
    for i in E.tiles():
        out[i] = 1


class Work:
    """One product: its operands in CSR, and how it is to be run."""

    products: int  # in all
    needed: int  # bytes beside A, B and C, whatever the rows are

    def __init__(
        self, A: Any, B: Any, found: Any, most: int | None, schedule: Any, target: str
    ) -> None:
        self.A, self.B, self.found, self.most = A, B, found, most
        self.rows, self.columns = A.num_tiles, kit.shape(B, "B")[1]
        self.schedule, self.target = schedule, target
        self.needed = 0
        self.reserve(self.bytes_for(A.num_atoms, A.num_tiles, B.num_tiles))

    def bytes_for(self, nonzeros: int, rows: int, depth: int) -> int:
        """Return how many bytes are needed for the nonzeros and rows of A, and the rows of B."""
        raise NotImplementedError

    def reserve(self, bytes: int) -> None:
        """Count bytes that are needed whatever the rows are. Raises InputError if there may not be more than these."""
        self.needed += bytes
        if self.most is not None and self.most <= self.needed:
            raise self.too_little("more")

    def room(self) -> int | None:
        """Return how many bytes the scratch arrays of a kernel may take; None: as many as by default."""
        return None if self.most is None else self.most - self.needed

    def too_little(self, more: str) -> ev.InputError:
        """Return the error that says what more is needed."""
        what = f"for {self.rows:,} rows and {self.A.num_atoms:,} nonzeros of A"
        expected = f"{self.needed:,} bytes {what}, and {more}"
        return ev.InputError("max_workspace", expected=expected, given=f"{self.most:,}")

    def counts(self) -> Any:
        """Return how many nonzeros each row of C has, as int64."""
        raise NotImplementedError

    def fill(self, offsets: Any, columns: Any, values: Any) -> None:
        """Fill in the rows of C, which have these offsets."""
        raise NotImplementedError

    def counted(self) -> tuple[Any, int]:
        """Return the offsets of C's rows, and their last."""
        counts = self.counts()
        dtype = kit.index_type(self.products)  # there are at most as many nonzeros
        offsets = ev.prefix_sum(counts, include_initial=True, dtype=dtype)
        total = kit.entry(offsets, self.rows)
        if kit.index_type(total) != dtype:
            offsets = ev.prefix_sum(counts, include_initial=True, dtype=kit.index_type(total))
        return offsets, total

    def filled(self, offsets: Any, total: int) -> Any:
        """Return C, whose rows have these offsets."""
        columns = kit.empty(offsets, (total,), np.int32)
        values = kit.empty(self.A.values, (total,), self.found)
        if total:
            self.fill(offsets, columns, values)
        shape = self.rows, self.columns
        return ev.csr((values, columns, offsets), shape=shape, check=False)

    def result(self) -> Any:
        return self.filled(*self.counted())

    def numbered(self) -> tuple[Any, Any]:
        """Number the products. Return the first one of each nonzero of A, and the factors of some (`find_factors`)."""
        count, dtype = self.products // STEP + 2, kit.index_type(self.A.num_atoms)
        self.reserve(dtype.itemsize * count)
        products = kit.empty(self.A.offsets, (self.A.num_atoms,), np.int32)
        count_products[EVENLY].on(self.target)(self.A, self.B, products)
        first = ev.prefix_sum(products, include_initial=True, dtype=np.int64)
        steps = kit.empty(first, (count,), dtype)
        self.each(find_factors, kit.each(count), first, self.products, steps)
        return first, steps

    def spans(self, schedule: ev.Schedule) -> tuple[Any, Any, Any]:
        """Return, of each row of C, its products, its least column, and the words of a bit map of its columns."""
        like = self.A.offsets
        spans = tuple(kit.empty(like, (self.rows,), np.int64) for _ in "123")
        ends = (kit.empty(like, (self.B.num_tiles,), np.int32) for _ in "12")
        span_rows[schedule].on(self.target)(self.A, self.B, *ends, *spans)
        return spans

    def run(self, kernel: Any, schedule: Any, *arguments: Any) -> None:
        schedule = schedule if self.schedule == "auto" else self.schedule
        room = self.room()
        options = {} if room is None else {"max_workspace": room}
        try:
            kernel[schedule].on(self.target, **options)(*arguments)
        except ev.InputError as error:
            if error.argument != "max_workspace":
                raise
            raise self.too_little(error.expected) from None

    def each(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel that does little for each element."""
        kernel[EACH].on(self.target)(*arguments)

    def without_repeats(self) -> Any:
        """Return B with its columns in order, and equal ones of a row added up as those of C are."""
        offsets = kit.positions(self.B.offsets, self.columns + 1)
        dtype = kit.held_as(kit.empty(self.B.values, (1,), self.found))
        ones = kit.empty(self.B.values, (self.columns,), dtype)
        self.each(fill_with_ones, kit.each(self.columns), ones)
        columns, shape = kit.part(offsets, 0, self.columns), (self.columns, self.columns)
        # Its rows need not be looked at.
        identity = ev.csr((ones, columns, offsets), shape=shape, check=False)
        found = kit.result_type(self.B, identity)
        return type(self)(self.B, identity, found, self.most, "auto", self.target).result()
