"""An octree: space is divided where there are many particles, until 20 or fewer are in each part.

A task is an octant and its particles, a range of `order`. It counts those of its eight children, and moves them
together: stably, since a scan says which of them comes first. A child with particles becomes a task. What a task has
moved, the tasks that it makes find. A bound on the depth ends where many particles are at one point. Source: Cederman,
Tsigas, "On Dynamic Load Balancing on Graphics Processors" (Graphics Hardware 2008), section 5.

Then each of some particles counts those within a radius. Sorted by where their particles begin, the larger first, an
octant comes before all that are in it. So a walk goes to the next one, or to the next one outside of this.

Run it: python examples/octree.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev

LEAF, DEEPEST = 20, 30


@ev.func
def octant(T, t, x, y, z):
    return (1 if x >= T.x(t) else 0) + (2 if y >= T.y(t) else 0) + (4 if z >= T.z(t) else 0)


@ev.kernel
def octree(T, x, y, z, order, moved, octants):
    for t in T.tiles():
        octants.append(T.begin(t), T.end(t), T.depth(t), T.x(t), T.y(t), T.z(t), T.half(t))
        if T.end(t) - T.begin(t) > LEAF and T.depth(t) < DEEPEST:
            counts = ev.local(8, np.int32)
            for k in T.atoms(t):
                p = order[k]
                counts[octant(T, t, x[p], y[p], z[p])] += 1
            begins = ev.local(9, np.int32)
            begins[0] = T.begin(t)
            for o in range(8):
                begins[o + 1] = begins[o] + counts[o]
            for k in T.atoms(t):
                p = order[k]
                o = octant(T, t, x[p], y[p], z[p])
                mine, shift = np.uint64(1), np.uint64(o % 2 * 32)  # two counts in each number
                none, mine = np.uint64(0), mine << shift
                a = ev.scan(mine if o // 2 == 0 else none, exclusive=True)
                b = ev.scan(mine if o // 2 == 1 else none, exclusive=True)
                c = ev.scan(mine if o // 2 == 2 else none, exclusive=True)
                d = ev.scan(mine if o // 2 == 3 else none, exclusive=True)
                counted = (a if o < 2 else b) if o < 4 else (c if o < 6 else d)
                before = int(counted >> shift & np.uint64(0xFFFFFFFF))
                moved[begins[o] + before] = p
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


@ev.kernel
def count_near(Q, octants, centre, order, points, radius, counts):
    """octants: (n, 3), where each begins and ends, and the next one outside. centre: (n, 4), and half the width."""
    for q in Q.tiles():
        count, i = 0, 0
        while i < len(octants):
            apart = 0.0  # from the point to the octant, squared
            for axis in range(3):
                gap = max(abs(points[q, axis] - centre[i, axis]) - centre[i, 3], 0.0)
                apart += gap * gap
            outside = octants[i, 2]
            if apart > radius * radius:
                i = outside
            else:
                i += 1
                if i == outside:  # a leaf
                    for place in range(octants[i - 1, 0], octants[i - 1, 1]):
                        apart = 0.0
                        for axis in range(3):
                            gap = points[q, axis] - points[order[place], axis]
                            apart += gap * gap
                        count += 1 if apart <= radius * radius else 0
        counts[q] = count


def in_order(columns):
    """The octants as `count_near` takes them, of what `octree` has appended in any order."""
    begins, ends, depths, *centres = columns
    order = np.lexsort((depths, begins))
    begins, ends = begins[order], ends[order]
    outside = np.maximum(np.searchsorted(begins, ends), np.arange(len(begins)) + 1)
    octants = np.column_stack([begins, ends, outside]).astype(np.int32)
    return octants, np.column_stack(centres)[order], depths[order]


def root(n, capacity):
    """The tasks: the unit cube, with all particles."""
    types = {"begin": np.int32, "end": np.int32, "depth": np.int32}
    types |= dict.fromkeys(("x", "y", "z", "half"), np.float64)
    first = [(0, n, 0, 0.5, 0.5, 0.5, 0.5)]
    return ev.tasks(first=first, capacity=capacity, atoms=("begin", "end"), **types)


def by_hand(points):
    """The leaves of a sequential octree, as in `octree`: where each begins and ends, its depth, and its particles."""
    todo, leaves, order = [(np.arange(len(points)), 0, 0, np.full(3, 0.5), 0.5)], [], {}
    while todo:
        inside, begin, depth, centre, half = todo.pop()
        if len(inside) <= LEAF or depth == DEEPEST:
            leaves.append((begin, begin + len(inside), depth))
            order[begin] = inside
            continue
        octants = (points[inside] >= centre) @ np.array([1, 2, 4])
        for o in range(8):
            part = inside[octants == o]
            if len(part):
                signs = np.where(np.array([o & 1, o & 2, o & 4]) > 0, 1, -1)
                todo.append((part, begin, depth + 1, centre + signs * half / 2, half / 2))
            begin += len(part)
    return sorted(leaves), np.concatenate([order[begin] for begin in sorted(order)])


def tube(n, seed=0):
    """Particles in a cylinder's shell of radius 0.4 and thickness 0.05, upright in the unit cube: (n, 3) float64."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.375, 0.425, n)
    flat = 0.5 + radius * np.array([np.cos(angle), np.sin(angle)])
    return np.column_stack([*flat, rng.random(n)])


def main(schedule="auto", target=None, points=None, radius=0.1, queries=50):
    target = target or best()
    points = tube(1000) if points is None else points
    n = len(points)
    x, y, z = (np.ascontiguousarray(column) for column in points.T)
    order, moved = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    kinds = (np.int32,) * 3 + (np.float64,) * 4
    T, appended = root(n, 10_000), ev.output(kinds, capacity=10_000)
    T, x, y, z, order, moved, appended = put(target, T, x, y, z, order, moved, appended)
    octree[schedule].on(target)(T, x, y, z, order, moved, appended)
    octants, centres, depths = in_order([get(column) for column in appended.columns])
    is_leaf = octants[:, 2] == np.arange(len(octants)) + 1
    found = [(*octant[:2], depth) for octant, depth in zip(octants, depths, strict=True)]
    expected, particles = by_hand(points)
    assert [octant for octant, leaf in zip(found, is_leaf, strict=True) if leaf] == expected
    np.testing.assert_array_equal(get(order), particles)

    Q, counts = ev.ragged(np.arange(queries + 1)), np.zeros(queries, np.int64)
    Q, octants, centres, points, counts = put(target, Q, octants, centres, points, counts)
    count_near.on(target)(Q, octants, centres, order, points, radius, counts)
    near = np.linalg.norm(get(points)[:queries, None] - get(points), axis=2) <= radius
    np.testing.assert_array_equal(get(counts), near.sum(axis=1))


if __name__ == "__main__":
    main()
    print(f"an octree of 1,000 particles on {best()}, and neighbours: equal to those by hand")
