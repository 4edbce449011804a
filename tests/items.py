"""Kernels with loops over items, and the schedules that run them. The tests of several targets share them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import evenly as ev
from evenly.schedules.nested import levels

Nested, Block, Group = ev.Nested, ev.BlockMapped, ev.GroupMapped
BINS = ev.Lrb(
    64, lanes=4, thread=8, group=32, warp=128
)  # some of the items below go to teams of each size


@ev.schedule
class EveryOther:
    """A thread takes every n-th tile of its owner's, the last ones first."""

    block: int = 64
    owner = "thread"

    def launch(self, layout):
        return max(1, -(-layout.num_tiles // 64)), 64

    def tiles(self, layout):
        tile = layout.num_tiles - 1 - ev.thread_index()
        while tile >= 0:
            yield tile
            tile -= ev.thread_count()

    def atoms(self, layout, tile):
        yield from range(layout.begin(tile), layout.end(tile))


@ev.schedule
class Shares:
    """A thread has an equal share of the atoms, and looks for its tiles from the first one on."""

    block: int = 64
    owner = "share"

    def launch(self, layout):
        return max(1, -(-layout.num_atoms // 128)), 64

    def setup(self, layout):
        share = -(-layout.num_atoms // ev.thread_count())
        start = min(ev.thread_index() * share, layout.num_atoms)
        return layout, start, min(start + share, layout.num_atoms)

    def tiles(self, state):
        layout, start, stop = state
        tile = 0
        while tile < layout.num_tiles:
            begin, end = layout.begin(tile), layout.end(tile)
            own = begin < stop and end > start
            if begin == end:
                own = begin <= stop and (begin > start or ev.thread_index() == 0)
            if own:
                yield tile
            tile += 1

    def atoms(self, state, tile):
        layout, start, stop = state
        return range(max(layout.begin(tile), start), min(layout.end(tile), stop))


@ev.func
def eight(B, item):
    return 8


SCHEDULES = {
    "a thread an item": ev.ThreadMapped(64),
    "a group an item": Group(8, 64),
    "a block an item": Block(64),
    "tiles to groups of a block": Nested(Block(64), Group(8)),
    "tiles to groups of several warps": Nested(Block(128), Group(64)),
    "tiles to groups that do not fill warps": Nested(Block(64), Group(5)),
    "tiles to groups of a warp": Nested(ev.WarpMapped(64), Group(4)),
    "runs": Nested(Block(64), Group(4, items=8, run=4)),
    "a schedule of one's own inside": Nested(Block(64), EveryOther()),
    "a schedule of one's own outside": Nested(EveryOther(), ev.ThreadMapped()),
    "groups by item": Nested(Block(64), ev.per_item()),
    "groups by item in a warp": Nested(Group(8, 64), ev.per_item(items=1)),
    "groups that end within a warp": Nested(Group(40, 128), Group(8)),
    "groups by item where few sizes fit": Nested(Group(12, 64), ev.per_item(eight, items=1)),
    "room for three numbers": Nested(Block(64), Group(2), stage=24),
    "atoms to the threads of a block": Nested(Block(64), ev.NonzeroSplit(items=2)),
    "tiles and atoms to the threads of a block": Nested(Block(96), ev.MergePath(items=3)),
    "a share a thread of a block": Nested(Block(64), ev.WorkOriented(items=1)),
    "shares of one's own": Nested(Block(64), Shares()),
    "items by work": BINS,
    "items by work, tiles to groups": Nested(BINS, Group(8)),
    "items by work, tiles to groups of several warps": Nested(BINS, Group(64, 64, items=8, run=4)),
    "items by work, groups by item": Nested(BINS, ev.per_item(items=1)),
    "items by work, a schedule of one's own inside": Nested(BINS, EveryOther()),
    "items as threads become free": ev.DynamicChunks(2, size=1, block=64),
    "three blocks an item": Nested(ev.TeamMapped(3, 64), Group(8)),
    "all blocks an item": ev.TeamMapped(1024, 64),
    "two blocks an item, groups by item": Nested(ev.TeamMapped(2, 64), ev.per_item()),
    "four blocks an item, a schedule of one's own inside": Nested(
        ev.TeamMapped(4, 32), EveryOther()
    ),
    "items by work, the largest by all blocks": Nested(
        ev.Lrb(64, lanes=4, thread=8, group=32, warp=128, grid=256), ev.per_item(items=1)
    ),
    "items as warps become free": Nested(ev.DynamicChunks(1, size=32, block=64), Group(4)),
    "items as blocks become free": Nested(ev.DynamicChunks(1, size=64, block=64), ev.per_item()),
}
SPLIT = {name for name, schedule in SCHEDULES.items() if not levels(schedule)[1].owns_tiles}


def batches(dtype: Any = np.float64) -> dict[str, list[Any]]:
    """Lists of square matrices whose elements are small integers, so that sums are exact."""
    rng = np.random.default_rng(5)

    def square(n: int, density: float) -> Any:
        m = sp.random_array((n, n), density=density, rng=rng, format="csr")
        m.data = rng.integers(-3, 4, m.nnz).astype(dtype)
        return m

    return {
        "no items": [],
        "one item": [square(7, 0.4)],
        "items without rows": [square(0, 0.0), square(3, 0.5), square(0, 0.0), square(0, 0.0)],
        "items without nonzeros": [square(5, 0.0), square(1, 1.0), square(66, 0.0)],
        "of all sizes": [square(n, min(1.0, 4 / n)) for n in (1, 2, 31, 70, 5, 130, 8, 8, 8)],
        "a dense one among small ones": [square(4, 0.3) for _ in range(9)] + [square(60, 1.0)],
    }


# ---- kernels -------------------------------------------------------------------------------------
@ev.kernel
def residuals(B, x, b, r, norm):
    for item in B.items():
        xs = ev.stage(x, B.columns(item))
        s = 0.0
        for row in B.tiles(item):
            d = b[row] - sum(B.value(k) * xs[B.column(k)] for k in B.atoms(row))
            r[row] = d
            s += d * d
        norm[item] = s


@ev.kernel
def counts(B, x, most, atoms, long, whole):
    """Reductions over items, tiles and atoms; those of atoms into all three."""
    total = 0.0
    count = 0
    for item in B.items():
        most[item] = max((abs(x[row]) for row in B.tiles(item)), default=-1.0)
        n = 0
        m = 0
        for row in B.tiles(item):
            for k in B.atoms(row):
                n += 1
                total += B.value(k)
            m += int(B.end(row) - B.begin(row) > 3)
            count += 1
        atoms[item] = n
        long[item] = m
    whole[0] = total
    whole[1] = count


@ev.kernel
def halves(B, x, y, limit, rounds):
    """Each item goes on until it has converged: y = (x + A x / 8) / 2, again and again."""
    for item in B.items():
        change = limit[0] + 1.0
        n = 0
        while change > limit[0] and n < 6:
            for row in B.tiles(item):
                y[row] = 0.5 * x[row] + 0.0625 * sum(
                    B.value(k) * x[B.column(k)] for k in B.atoms(row)
                )
            change = 0.0
            for row in B.tiles(item):
                change = max(change, abs(y[row] - x[row]))
                x[row] = y[row]
            n += 1
        rounds[item] = n


@ev.kernel
def in_place(B, y, rounds):
    """Code of an item reads what its rows store, before and after."""
    for item in B.items():
        first = B.item_begin(item)
        n = 0
        if first < B.item_end(item):
            while y[first] < 2 and n < 7:
                a = abs(y[first]) + 1
                for row in B.tiles(item):
                    y[row] += a
                n += 1
        rounds[item] = n


@ev.kernel
def running(B, before, histogram):
    """Scans and local arrays of rows, in an item's rows."""
    for item in B.items():
        for row in B.tiles(item):
            h = ev.local(4, np.int32)
            for k in B.atoms(row):
                before[k] = ev.scan(B.value(k), exclusive=True)
                h[B.column(k) % 4] += 1
            for i in range(4):
                histogram[row, i] = h[i]


@ev.kernel
def by_column(B, sums, counts):
    """Arrays of an item, to which rows and atoms contribute; one of a row, which its item reads."""
    for item in B.items():
        h = ev.local(4, np.float64)
        n = ev.local(40, np.int64)
        for row in B.tiles(item):
            g = ev.local(4, np.float64)
            for k in B.atoms(row):
                g[B.column(k) % 4] += B.value(k)
                n[B.column(k) % 40] += 1
            for i in range(4):
                h[i] = max(h[i], g[i])
        for i in range(4):
            sums[item, i] = h[i]
        for i in range(40):
            counts[item, i] = n[i]


@ev.kernel
def in_scratch(B, x, y, met):
    """Scratch arrays of an item: its rows fill one, read it at other places, change it; atoms add to the other."""
    for item in B.items():
        first = B.item_begin(item)
        h = ev.scratch(B.item_end(item) - first, np.float64)
        g = ev.scratch(3, np.int64)
        for row in B.tiles(item):
            h[row - first] = x[row]
        for row in B.tiles(item):
            y[row] = sum(B.value(k) * h[B.local_column(item, k)] for k in B.atoms(row))
        n = 0
        while n < 2:
            for row in B.tiles(item):
                i = row - first
                h[i] = 0.5 * h[i] + y[row]
            n += 1
        for row in B.tiles(item):
            y[row] = h[row - first]
            for k in B.atoms(row):
                ev.atomic_add(g, B.local_column(item, k) % 3, 1)
        for i in range(3):
            met[item, i] = g[i]


@ev.kernel
def weighed(B, x, y):
    """Local arrays of rows, whose atoms read one of their item."""
    for item in B.items():
        w = ev.local(3, np.float64)
        w[0] = item % 4
        w[2] = 2.0
        for row in B.tiles(item):
            h = ev.local(2, np.float64)
            for k in B.atoms(row):
                h[B.column(k) % 2] += w[0] + w[B.column(k) % 3] * B.value(k)
            y[row] = h[0] - h[1] + w[2] * x[row]


@ev.kernel
def lengths(B, x, y, longest, total):
    """Rows of an item mark the same places of a scratch array, and have effects before and after those of their atoms."""
    for item in B.items():
        h = ev.scratch(200, np.int8)
        n = ev.scratch(1, np.int64)
        for row in B.tiles(item):
            y[row] = 2.0 * x[row]
            ev.atomic_add(n, 0, 1)
            begin = B.begin(row)
            for k in B.atoms(row):
                h[k - begin] = 1
                ev.atomic_add(n, 0, 1)
            ev.atomic_add(n, 0, 2)
        most = 0
        for i in range(len(h)):
            most += h[i]
        longest[item] = most
        total[item] = n[0]


@ev.kernel
def largest(B, x, where, what):
    for item in B.items():
        at = ev.argmax((x[row] for row in B.tiles(item)), default=-1)
        positive = ev.first((x[row] > 0 for row in B.tiles(item)), default=-1)
        where[item] = at + 1000 * positive
        if at >= 0:
            what[item] = x[at]


@ev.kernel
def capped(B, y):
    """Whether an item stores depends on a reduction, over an array that it stores into."""
    for item in B.items():
        s = 0.0
        for row in B.tiles(item):
            s += abs(y[row])
        while s > 3.0:
            y[B.item_begin(item)] = s
            s -= 2.0


@ev.kernel
def handed_over(B, y, u):
    """Rows store over what other rows read, and over what another loop or the item's own code stored."""
    for item in B.items():
        if B.item_begin(item) < B.item_end(item):
            u[B.item_end(item) - 1] = 7.0
        s = 0.0
        for row in B.tiles(item):
            d = sum(y[B.column(k)] for k in B.atoms(row))
            u[row] = d
            s += d
        for row in B.tiles(item):
            y[row] = s
            u[row] = s + 1.0


@ev.kernel
def doubled(B, x, y):
    """One loop over tiles, and no loop over atoms."""
    for item in B.items():
        for row in B.tiles(item):
            y[row] = 2.0 * x[row]


@ev.kernel
def named(B, size):
    """A loop over items without tiles."""
    for item in B.items():
        size[item] = B.item_end(item) - B.item_begin(item)


WHOLE = running, by_column  # of these an item's tiles cannot be split


def runs(kernel: Any, schedule: str) -> bool:
    return not (schedule in SPLIT and kernel in WHOLE)


def arguments(kernel: Any, B: Any, dtype: Any = np.float64) -> dict[str, np.ndarray]:
    """Arguments for one of the kernels above, after the batch, all in CPU memory."""
    rng = np.random.default_rng(9)
    rows, items = int(B.num_tiles), int(B.num_items)

    def vector() -> np.ndarray:
        return rng.integers(-4, 5, rows).astype(dtype)

    def blank(n: int, kind: Any = dtype) -> np.ndarray:
        return np.full(n, -7, kind)

    return {
        "residuals": lambda: {"x": vector(), "b": vector(), "r": blank(rows), "norm": blank(items)},
        "counts": lambda: {
            "x": vector(),
            "most": blank(items),
            "atoms": blank(items, np.int64),
            "long": blank(items, np.int64),
            "whole": blank(2),
        },
        "halves": lambda: {
            "x": vector(),
            "y": blank(rows),
            "limit": np.array([0.5], dtype),
            "rounds": blank(items, np.int32),
        },
        "in_place": lambda: {"y": vector(), "rounds": blank(items, np.int32)},
        "by_column": lambda: {
            "sums": np.full((items, 4), -7, dtype),
            "counts": np.full((items, 40), -7, np.int64),
        },
        "largest": lambda: {"x": vector(), "where": blank(items, np.int64), "what": blank(items)},
        "capped": lambda: {"y": vector()},
        "in_scratch": lambda: {
            "x": vector(),
            "y": blank(rows),
            "met": np.full((items, 3), -7, np.int64),
        },
        "lengths": lambda: {
            "x": vector(),
            "y": blank(rows),
            "longest": blank(items, np.int64),
            "total": blank(items, np.int64),
        },
        "handed_over": lambda: {"y": vector(), "u": blank(rows)},
        "running": lambda: {
            "before": blank(int(B.num_atoms)),
            "histogram": np.full((rows, 4), -7, np.int32),
        },
        "weighed": lambda: {"x": vector(), "y": blank(rows)},
        "doubled": lambda: {"x": vector(), "y": blank(rows)},
        "named": lambda: {"size": blank(items, np.int64)},
    }[kernel.name]()


KERNELS = (
    residuals,
    counts,
    halves,
    in_place,
    running,
    by_column,
    in_scratch,
    weighed,
    lengths,
    largest,
    capped,
    handed_over,
    doubled,
    named,
)
