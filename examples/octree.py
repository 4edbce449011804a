"""An octree: space is divided where there are many particles, until 20 or fewer are in each part.

A task is an octant of more than 20, and its particles, a range of `order`. It counts those of its eight children, and
moves them together: stably, since a scan says which of them comes first. Children of more than 20 become tasks. What a
task has moved, the tasks that it makes find. A bound on the depth ends where many particles are at one point. Source:
Cederman, Tsigas, "On Dynamic Load Balancing on Graphics Processors" (Graphics Hardware 2008), section 5. The kernel
`octree` is that of the paper's experiment (src/evenly/reproduce/dynamic_load_balancing/octree.py).

One task is one block's. So where there are many particles, all threads do the first levels: `find_cells` says in which
of the 8**levels octants each particle is, `ev.group_by` sorts by that, and the tasks begin with these octants. Sorted,
the particles of a task lie near each other in memory, too.

Then each of some particles counts those within a radius. Sorted by where their particles begin, the larger first, an
octant comes before all that are in it. So a walk goes to the next one, or to the next one outside of this.

Run it: python examples/octree.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev
from evenly import kit
from evenly.reproduce.dynamic_load_balancing.octree import DEEPEST, FIELDS, LEAF, octant_of, octree


@ev.kernel
def find_cells(E, x, y, z, levels, cells):
    """The octant of each particle that is `levels` deep: three bits a level."""
    for i in E.tiles():
        cell, level, half = 0, 0, 0.5
        cx, cy, cz = 0.5, 0.5, 0.5
        while level < levels:
            o = octant_of(x[i], y[i], z[i], cx, cy, cz)
            cell, level, half = 8 * cell + o, level + 1, half / 2
            cx += half if o & 1 else -half
            cy += half if o & 2 else -half
            cz += half if o & 4 else -half
        cells[i] = cell


def sorted_by_cell(x, y, z, levels):
    """Sort particles by the octants that are `levels` deep.

    Return the columns, where the particles were before, and where each octant begins: (8**levels + 1,).
    """
    cells = kit.empty(x, (len(x),), np.int32)
    find_cells(kit.each(len(x)), x, y, z, levels, cells)
    groups = ev.group_by(cells, 8**levels, check=False)
    columns = (kit.take(column, groups.order) for column in (x, y, z))
    return *columns, groups.order, kit.to_numpy(groups.offsets)


def octants_above(begins, levels):
    """Return the octants of `levels` levels and more, and which of them are tasks: those so deep that are no leaves.

    begins: (8**levels + 1,), where the particles of the deepest ones begin, which are sorted.
    """
    octants, are_tasks, reached = [], [], np.array([True])
    centres, half = np.full((1, 3), 0.5), 0.5
    for depth in range(levels + 1):
        step = 8 ** (levels - depth)
        begin, end = begins[:-1:step], begins[step::step]
        here, divided = reached & (end > begin), reached & (end - begin > LEAF)
        about = begin, end, np.full(8**depth, depth), *centres.T, np.full(8**depth, half)
        octants.append(np.column_stack(about)[here])
        are_tasks.append((divided & (depth == levels))[here])
        reached, half = np.repeat(divided, 8), half / 2
        signs = np.where(np.arange(8)[:, None] & [1, 2, 4], 1, -1)
        centres = (centres[:, None] + signs * half).reshape(-1, 3)
    return np.concatenate(octants), np.concatenate(are_tasks)


def tasks_of(octants, capacity, like):
    """Return the tasks: octants as `octants_above` returns them, with room for `capacity` at a time beside `like`."""
    first = np.empty(len(octants), list(FIELDS.items()))
    for name, column in zip(FIELDS, octants.T, strict=True):
        first[name] = column
    return ev.tasks(
        first=first, capacity=capacity, spill=0, atoms=("begin", "end"), like=like, **FIELDS
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


def in_order(octants):
    """The octants as `count_near` takes them, of rows with FIELDS in any order."""
    begins, ends, depths = octants[:, :3].astype(np.int32).T
    order = np.lexsort((depths, begins))
    begins, ends = begins[order], ends[order]
    outside = np.maximum(np.searchsorted(begins, ends), np.arange(len(begins)) + 1)
    walked, centres = np.column_stack([begins, ends, outside]).astype(np.int32), octants[:, 3:]
    return walked, centres[order], depths[order]


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


def in_leaves(order, leaves):
    """Sort the particles of each leaf: one that the tasks begin below has them by octant."""
    begins = [begin for begin, *_ in leaves]
    return order[np.lexsort((order, np.searchsorted(begins, np.arange(len(order)), "right")))]


def tube(n, seed=0):
    """Particles in a cylinder's shell of radius 0.4 and thickness 0.05, upright in the unit cube: (n, 3) float32."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.375, 0.425, n)
    flat = 0.5 + radius * np.array([np.cos(angle), np.sin(angle)])
    return np.column_stack([*flat, rng.random(n)]).astype(np.float32)


def build(x, y, z, levels=3, schedule="auto", target="auto"):
    """Make the octree of points in the unit cube, whose first levels are a sort of all particles.

    Return the octants of these levels, rows with FIELDS; an output with those that tasks have made, in any order; and
    the particles in the order of their leaves.
    """
    n = len(x)
    x, y, z, cells, begins = sorted_by_cell(x, y, z, levels)
    above, are_tasks = octants_above(begins, levels)
    most = n // (LEAF + 1) + 1  # more octants that are no leaves there cannot be
    T = tasks_of(above[are_tasks], most, x)
    order, moved = kit.positions(x, n), kit.empty(x, (n,), np.int32)
    below = ev.output(tuple(FIELDS.values()), capacity=n + 1000, like=x)
    octree[schedule].on(target)(T, x, y, z, order, moved, below)
    return above, below, kit.take(cells, order)


def main(schedule="auto", target=None, points=None, radius=0.1, queries=50, levels=1):
    target = target or best()
    points = tube(1000) if points is None else points
    x, y, z = (put(target, np.ascontiguousarray(column)) for column in points.T)
    above, below, order = build(x, y, z, levels, schedule, target)
    found = np.column_stack([get(column) for column in below.columns])
    octants, centres, depths = in_order(np.concatenate([above, found]))
    is_leaf = octants[:, 2] == np.arange(len(octants)) + 1
    found = [(*octant[:2], depth) for octant, depth in zip(octants, depths, strict=True)]
    expected, particles = by_hand(points)
    assert [octant for octant, leaf in zip(found, is_leaf, strict=True) if leaf] == expected
    np.testing.assert_array_equal(in_leaves(get(order), expected), in_leaves(particles, expected))

    Q, counts = ev.ragged(np.arange(queries + 1)), np.zeros(queries, np.int64)
    Q, octants, centres, places, counts = put(target, Q, octants, centres, points, counts)
    count_near.on(target)(Q, octants, centres, order, places, radius, counts)
    points = points.astype(np.float64)
    near = np.linalg.norm(points[:queries, None] - points, axis=2) <= radius
    np.testing.assert_array_equal(get(counts), near.sum(axis=1))


if __name__ == "__main__":
    main()
    print(f"an octree of 1,000 particles on {best()}, and neighbours: equal to those by hand")
