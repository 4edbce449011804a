"""A product on the CPU: rows as bit maps; those whose columns lie far apart by sorting, as on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit

from .bit_maps import count_map, filling_map
from .buckets import counting, filling
from .products import Rows
from .work import EACH, Work, made, sums_of


class OnHost(Work):
    """Rows as bit maps; those whose columns lie far apart by sorting, as on a GPU."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.maps = self.spans(EACH)
        products, _, words = self.maps
        offsets = ev.prefix_sum(products, include_initial=True)
        self.products = kit.entry(offsets, self.rows)
        self.P = ev.ragged(offsets, num_atoms=self.products, check=False)
        is_wide = kit.to_numpy(words) > 32 * kit.to_numpy(products) + 64
        wide, narrow = (kit.from_numpy(np.flatnonzero(x), products) for x in (is_wide, ~is_wide))
        self.narrow = ev.subset(self.P, narrow) if len(wide) else self.P
        self.wide: Any = None
        if len(wide):
            self.first, self.steps = self.numbered()
            offsets = ev.prefix_sum(kit.take(products, wide), include_initial=True)
            self.wide = Rows(offsets, kit.entry(offsets, len(wide))), wide

    def bytes_for(self, nonzeros: int, rows: int, depth: int) -> int:
        return 12 * nonzeros + 64 * rows + 8 * depth

    def counts(self) -> Any:
        counts = kit.zeros(self.A.offsets, (self.rows,), np.int64)
        given = self.narrow, self.A, self.B, *self.maps[1:], counts
        self.run(count_map, EACH, *given)
        if self.wide:
            given = *self.wide, self.A, self.B, self.first, self.steps, counts
            self.run(made(counting, 0), EACH, *given)
        return counts

    def fill(self, offsets: Any, columns: Any, values: Any) -> None:
        out = offsets, columns, values
        given = self.narrow, self.A, self.B, *self.maps, *out
        self.run(made(filling_map, sums_of(values)), EACH, *given)
        if self.wide:
            given = *self.wide, self.A, self.B, self.first, self.steps, *out
            self.run(made(filling, 0), EACH, *given)
