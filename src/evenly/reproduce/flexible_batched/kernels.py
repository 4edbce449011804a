"""The six kernels of the paper. Each is one function, under a schedule over a layout, and nothing else.

The paper gives an item (a matrix of the batch) to a block, with the item's part of x in shared memory. Its COO and
CSR-I add with float atomics; here the threads of a block join their sums in an order that is always the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import evenly as ev

CSR, ELL = "csr", "ell"


@ev.kernel
def product(B, x, y):
    """y = A x for each item of a batch."""
    for item in B.items():
        xs = ev.stage(x, B.columns(item))
        for row in B.tiles(item):
            y[row] = sum(B.value(k) * xs[B.column(k)] for k in B.atoms(row))


@ev.func
def mean_length(B, item):
    first, last = B.item_begin(item), B.item_end(item)
    return (B.end(last - 1) - B.begin(first)) // (last - first) if last > first else 1


SMART = ev.per_item(mean_length, items=1)


@dataclass(frozen=True, slots=True)
class Named:
    """One kernel of the paper. layout: "csr" (`ev.batch`) or "ell" (`EllBatch`). schedule: makes its schedule."""

    name: str
    layout: str
    schedule: Callable[[], Any]


# Sizes of blocks and numbers of loads at once are those that are best on most of the matrices, on an H200 or H100.
KERNELS = (
    Named("COO", CSR, lambda: ev.Nested(ev.BlockMapped(128), ev.NonzeroSplit(items=8))),
    Named("CSR-scalar", CSR, lambda: ev.Nested(ev.BlockMapped(256), ev.ThreadMapped(items=4))),
    Named("CSR-vector", CSR, lambda: ev.Nested(ev.BlockMapped(128), ev.GroupMapped(32, items=1))),
    Named("CSR-smart", CSR, lambda: ev.Nested(ev.BlockMapped(128), SMART)),
    Named("CSR-I", CSR, lambda: ev.Nested(ev.BlockMapped(128), ev.MergePath(items=4))),
    Named("ELL", ELL, lambda: ev.Nested(ev.BlockMapped(256), ev.ThreadMapped(items=4))),
)
