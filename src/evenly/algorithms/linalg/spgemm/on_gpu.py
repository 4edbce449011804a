"""A product on a GPU: rows in bins by their products; long ones in windows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly import kit

from .buckets import sorting
from .merged import merging
from .products import BINS, FEW, Rows, order_rows, survey
from .windows import (
    WIDTH,
    Windows,
    count_long,
    count_windows,
    cut_rows,
    filling_long,
    number_windows,
)
from .work import EACH, EVENLY, Work, made, sums_of

LONG = ev.BlockMapped(block=128), ev.GroupMapped(32, block=64)  # longer rows: to count, to fill
TABLES = 1 << 30  # bytes for tables of long rows, where the caller does not say


class Lot(NamedTuple):
    """Long rows: their products as atoms; which rows; their first windows; where their windows begin, and how many."""

    layout: Any
    rows: Any
    firsts: Any
    starts: Any
    windows: int


class OnGpu(Work):
    """Rows in bins by their products; long ones in windows."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        like = self.A.offsets
        self.row_products = kit.empty(like, (self.rows,), np.int64)
        found = kit.empty(like, (14,), np.int64)
        operands = self.A, kit.each(self.rows), self.B
        survey[EVENLY].on(self.target)(*operands, self.row_products, found)
        *sizes, descends, equal = kit.to_numpy(found).tolist()
        rows, products = sizes[:6], sizes[6:]
        self.products, self.repeats = sum(products), descends or equal
        self.few = FEW
        if descends:  # no rows can be merged
            self.few, rows[:2], products[:2] = 0, [0, sum(rows[:2])], [0, sum(products[:2])]
        self.begins: Any = None  # of the windows of the only lot
        self.in_order: Any = None  # B
        if any(rows[1:]):
            self.first, self.steps = self.numbered()
        self.order, self.offsets = self._order(rows)
        self.merged = (kit.each(rows[0]), self._rows(0, rows[0])) if rows[0] else None
        self.short = list(self._short(rows, products))
        self.lots = list(self._lots(sum(rows[4:]), sum(products[4:])))

    def bytes_for(self, nonzeros: int, rows: int, depth: int) -> int:
        return 12 * nonzeros + 80 * rows + 8 * depth

    @property
    def spare(self) -> int:
        """How many bytes there may be for long rows."""
        return TABLES if self.most is None else self.most - self.needed

    def ascending(self) -> Any:
        """Return B with rows that ascend."""
        if self.in_order is None:
            self.in_order = self.without_repeats() if self.repeats else self.B
        return self.in_order

    def _order(self, sizes: list[int]) -> tuple[Any, Any]:
        """Return the rows by their bins, and where their products begin in this order.

        None: the order of the rows, since all are in one bin; none are needed.
        """
        order, products = None, self.row_products
        if self.rows not in sizes[:4]:
            ends = np.cumsum(sizes).tolist()
            order = kit.empty(products, (ends[-1],), np.int32)
            given = kit.whole(self.rows), self.A, products, self.few, *ends[:-1], order
            order_rows.on(self.target)(*given)
            products = kit.take(products, order)
        offsets = ev.prefix_sum(products, include_initial=True) if any(sizes[1:]) else None
        return order, offsets

    def _rows(self, start: int, stop: int) -> Any:
        """Return which rows these are in the order; None: all of them."""
        return None if self.order is None else kit.part(self.order, start, stop)

    def _short(self, sizes: list[int], products: list[int]) -> Any:
        """Yield the bins of short rows: the most products, the schedule, a layout, and which rows these are."""
        for i, (most, schedule) in enumerate(BINS, 1):
            start, stop = sum(sizes[:i]), sum(sizes[: i + 1])
            if start < stop:
                rows = Rows(kit.part(self.offsets, start, stop + 1), products[i])
                yield most, schedule, rows, self._rows(start, stop)

    def _lots(self, count: int, products: int) -> Any:
        """Yield the long rows, as many at a time as there is memory for."""
        if not count:
            return
        last = len(self.order)
        rows = self._rows(last - count, last)
        firsts, windows = (kit.empty(self.first, (count,), np.int64) for _ in "12")
        _, lows, words = self.spans(EVENLY)
        self.each(count_windows, kit.each(count), rows, lows, words, firsts, windows)
        starts = ev.prefix_sum(windows, include_initial=True)
        offsets = kit.part(self.offsets, last - count, last + 1)
        for low, high, tiles in self._cuts(starts, count):
            if high - low < count:
                products = kit.entry(offsets, high) - kit.entry(offsets, low)
            layout = Rows(kit.part(offsets, low, high + 1), products)
            yield Lot(
                layout,
                kit.part(rows, low, high),
                kit.part(firsts, low, high),
                kit.part(starts, low, high + 1),
                tiles,
            )

    def _cuts(self, starts: Any, count: int) -> Any:
        """Yield where the long rows are cut into lots, and how many windows each lot has."""
        total, most = kit.entry(starts, count), self.spare // 2 // 16
        if total <= most:
            yield 0, count, total
            return
        host, low = kit.to_numpy(starts), 0
        while low < count:
            high = int(np.searchsorted(host, host[low] + most, "right")) - 1
            if high == low:
                needed = 32 * int(host[low + 1] - host[low])
                raise self.too_little(f"{needed:,} for a row of many products")
            yield low, high, int(host[high] - host[low])
            low = high

    def sort(self, out: tuple[Any, ...], sums: Any) -> None:
        """Count the columns of short rows, or fill these rows in: with sums of this type."""
        if self.merged:
            self.run(made(merging, sums), EACH, *self.merged, self.A, self.B, *out)
        for most, schedule, *rows in self.short:
            given = *rows, self.A, self.B, self.first, self.steps, *out
            self.run(made(sorting, most), schedule, *given)

    def counts(self) -> Any:
        counts = kit.zeros(self.row_products, (self.rows,), np.int64)
        self.sort((counts, None, None, None), np.int32)
        for lot in self.lots:
            begins = self._count(lot, counts)
            self.begins = begins if len(self.lots) == 1 else None
        return counts

    def _count(self, lot: Any, counts: Any) -> Any:
        """Count the nonzeros of long rows, and return where each window of them begins among all."""
        inside = kit.empty(self.first, (lot.windows,), np.int32)
        given = lot.layout, lot.rows, lot.firsts, lot.starts
        more = self.A, self.B, self.first, self.steps, counts, inside
        self.run(count_long, LONG[0], *given, *more)
        return ev.prefix_sum(inside, include_initial=True, dtype=np.int64)

    def fill(self, offsets: Any, columns: Any, values: Any) -> None:
        out = offsets, columns, values
        self.sort((None, *out), sums_of(values))
        for lot in self.lots:
            begins = self.begins
            if begins is None:
                begins = self._count(lot, kit.zeros(self.first, (self.rows,), np.int64))
            self._fill(lot, begins, out)

    def _fill(self, lot: Any, begins: Any, out: tuple[Any, ...]) -> None:
        B, cuts = self.ascending(), None
        windows = -(-self.columns // WIDTH)
        dtype, shape = kit.index_type(B.num_atoms), (B.num_tiles, windows + 1)
        if dtype.itemsize * shape[0] * shape[1] <= self.spare // 2:
            cuts = kit.empty(self.first, shape, dtype)
            cut_rows[EVENLY].on(self.target)(B, windows, cuts)
        places = kit.empty(self.first, (lot.windows,), np.int32)
        owned = Rows(lot.starts, lot.windows)
        number_windows[EVENLY].on(self.target)(owned, places)
        given = Windows(lot.windows, WIDTH), places, lot.rows, lot.firsts, lot.starts
        kernel = made(filling_long, sums_of(out[2]))
        self.run(kernel, LONG[1], *given, self.A, B, cuts, begins, *out)
