"""The paper's octree as a kernel, and what it has to give: the same by sorting.

Space is divided where there are many particles, until 20 or fewer are in each part. A task is an octant and its
particles, a range of `order`. It counts those of its eight children, and moves them together. (Section 5 of the paper.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import evenly as ev

LEAF, DEEPEST = 20, 20  # particles in a leaf; a bound on the depth ends equal points


@ev.func
def octant_of(T, t, x, y, z):
    return (1 if x >= T.x(t) else 0) + (2 if y >= T.y(t) else 0) + (4 if z >= T.z(t) else 0)


@ev.func
def added(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@ev.kernel
def octree(T, x, y, z, order, moved, totals):
    tasks, leaves, inside, deepest = 0, 0, 0, 0
    for t in T.tiles():
        n = T.end(t) - T.begin(t)
        is_leaf = n <= LEAF or T.depth(t) == DEEPEST
        tasks += 1
        leaves += 1 if is_leaf else 0
        inside += n if is_leaf else 0
        deepest = max(deepest, T.depth(t))
        if not is_leaf:
            counts = ev.local(8, np.int32)
            for k in T.atoms(t):
                p = order[k]
                counts[octant_of(T, t, x[p], y[p], z[p])] += 1
            begins = ev.local(9, np.int32)
            begins[0] = T.begin(t)
            for o in range(8):
                begins[o + 1] = begins[o] + counts[o]
            for k in T.atoms(t):
                p = order[k]
                o = octant_of(T, t, x[p], y[p], z[p])
                one = np.uint64(1) << np.uint64(o % 2 * 32)  # two counts in each number
                none = np.uint64(0)
                own = (
                    one if o // 2 == 0 else none,
                    one if o // 2 == 1 else none,
                    one if o // 2 == 2 else none,
                    one if o // 2 == 3 else none,
                )
                a, b, c, d = ev.scan(own, added, (none, none, none, none))
                through = (a if o < 2 else b) if o < 4 else (c if o < 6 else d)
                place = int(through >> np.uint64(o % 2 * 32) & np.uint64(0xFFFFFFFF)) - 1
                moved[begins[o] + place] = p
            for k in T.atoms(t):
                order[k] = moved[k]
            half = T.half(t) / 2
            for o in range(8):
                if counts[o] > 0:
                    T.push(
                        begins[o],
                        begins[o + 1],
                        T.depth(t) + 1,
                        T.x(t) + (half if o & 1 else -half),
                        T.y(t) + (half if o & 2 else -half),
                        T.z(t) + (half if o & 4 else -half),
                        half,
                    )
    totals[0] = tasks
    totals[1] = leaves
    totals[2] = inside
    totals[3] = deepest


def root(n: int, like: Any) -> Any:
    """Return the tasks: the unit cube, with n particles."""
    types: dict[str, Any] = {"begin": np.int32, "end": np.int32, "depth": np.int32}
    types |= dict.fromkeys(("x", "y", "z", "half"), np.float32)
    first = [(0, n, 0, 0.5, 0.5, 0.5, 0.5)]
    capacity = 8 * n // (LEAF + 1) + 1024  # the children of tasks that are no leaves
    return ev.tasks(first=first, capacity=capacity, atoms=("begin", "end"), like=like, **types)


class Tree(NamedTuple):
    """What has to be found. leaf_of: (particles,), the number of each particle's leaf. rounds: as many as levels."""

    leaf_of: Any
    tasks: int
    leaves: int
    rounds: int


def tree(points: Any) -> Tree:
    """Return the octree of points in the unit cube, (n, 3) float32, by sorting the cells in which they lie."""
    cells = np.minimum((points.astype(np.float64) * 2**DEEPEST).astype(np.int64), 2**DEEPEST - 1)
    keys = np.zeros(len(points), np.int64)
    for bit in range(DEEPEST):
        for axis in range(3):
            keys |= (cells[:, axis] >> bit & 1) << (3 * bit + axis)
    order = np.argsort(keys, kind="stable")
    keys, leaf = keys[order], np.zeros(len(points), bool)
    left = np.arange(len(points))
    tasks = rounds = 0
    for depth in range(DEEPEST + 1):
        here = keys[left] >> 3 * (DEEPEST - depth)
        starts = np.flatnonzero(np.diff(here, prepend=-1))
        sizes = np.diff(starts, append=len(here))
        tasks, rounds = tasks + len(starts), depth + 1
        ends = np.full(len(starts), True) if depth == DEEPEST else sizes <= LEAF
        leaf[left[starts[ends]]] = True
        left = left[~np.repeat(ends, sizes)]
        if not len(left):
            break
    numbers = np.empty(len(points), np.int32)
    numbers[order] = np.cumsum(leaf) - 1
    return Tree(numbers, tasks, int(leaf.sum()), rounds)
