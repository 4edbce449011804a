"""The paper's octree as a kernel, and what it has to give: the same by sorting.

Space is divided where there are many particles, until 20 or fewer are in each part. A task is an octant of more, and
its particles, a range of `order`. It counts those of its eight children, and moves them together. Children of more
than 20 become tasks. (Section 5 of the paper.)

examples/octree.py, a user's whole program, has the same kernel, and begins with more tasks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import evenly as ev

LEAF, DEEPEST = 20, 20  # particles in a leaf; a bound on the depth ends equal points
FIELDS: dict[str, Any] = {
    "begin": np.int32, "end": np.int32, "depth": np.int32,
    "x": np.float32, "y": np.float32, "z": np.float32, "half": np.float32,
}  # fmt: skip


@ev.func
def octant_of(x, y, z, cx, cy, cz):
    """Which of the eight children of the octant with this centre has a point."""
    return (1 if x >= cx else 0) + (2 if y >= cy else 0) + (4 if z >= cz else 0)


@ev.func
def added(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@ev.kernel
def octree(T, x, y, z, order, moved, octants):
    for t in T.tiles():
        counts = ev.local(8, np.int32)
        for k in T.atoms(t):
            p = order[k]
            counts[octant_of(x[p], y[p], z[p], T.x(t), T.y(t), T.z(t))] += 1
        begins = ev.local(9, np.int32)
        begins[0] = T.begin(t)
        for o in range(8):
            begins[o + 1] = begins[o] + counts[o]
        for k in T.atoms(t):
            p = order[k]
            o = octant_of(x[p], y[p], z[p], T.x(t), T.y(t), T.z(t))
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
        for k in T.atoms(t):  # the threads of the first eight particles make a child each
            o = k - T.begin(t)
            if o < 8 and counts[min(o, 7)] > 0:
                begin, end, depth = begins[o], begins[o + 1], T.depth(t) + 1
                cx = T.x(t) + (half if o & 1 else -half)
                cy = T.y(t) + (half if o & 2 else -half)
                cz = T.z(t) + (half if o & 4 else -half)
                octants.append(begin, end, depth, cx, cy, cz, half)
                if end - begin > LEAF and depth < DEEPEST:
                    T.push(begin, end, depth, cx, cy, cz, half)


def root(n, capacity, like):
    """Return the tasks: the unit cube with n particles, with room for `capacity` tasks at a time beside `like`."""
    cube = np.array([(0, n, 0, 0.5, 0.5, 0.5, 0.5)], list(FIELDS.items()))
    return ev.tasks(
        first=cube, capacity=capacity, spill=0, atoms=("begin", "end"), like=like, **FIELDS
    )


class Tree(NamedTuple):
    """What has to be found. leaf_of: (particles,), the number of each particle's leaf. rounds: one a level of tasks."""

    leaf_of: Any
    tasks: int
    leaves: int
    rounds: int


def tree(points: Any) -> Tree:
    """Return the octree of points in the unit cube, (n, 3) float32, by sorting the cells in which they lie."""
    cells = np.minimum((points.astype(np.float64) * 2**DEEPEST).astype(np.int64), 2**DEEPEST - 1)
    x, y, z = (spread(column) for column in cells.T)
    keys = x | y << 1 | z << 2
    order = np.argsort(keys)
    keys, leaf = keys[order], np.zeros(len(points), bool)
    left = np.arange(len(points))
    tasks = rounds = 0
    for depth in range(DEEPEST + 1):
        here = keys[left] >> 3 * (DEEPEST - depth)
        starts = np.flatnonzero(np.diff(here, prepend=-1))
        sizes = np.diff(starts, append=len(here))
        ends = np.full(len(starts), True) if depth == DEEPEST else sizes <= LEAF
        leaf[left[starts[ends]]] = True
        left = left[~np.repeat(ends, sizes)]
        if not len(left):
            break
        tasks, rounds = tasks + int((~ends).sum()), depth + 1
    numbers = np.empty(len(points), np.int32)
    numbers[order] = np.cumsum(leaf) - 1
    return Tree(numbers, tasks, int(leaf.sum()), rounds)


def spread(v: Any) -> Any:
    """Return integers of 21 bits with two zeros after each bit (G. M. Morton's order)."""
    for shift, kept in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        v = (v | v << shift) & kept
    return v
