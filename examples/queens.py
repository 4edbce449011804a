"""N-Queens: in how many ways n queens stand on a board so that none attacks another.

A task is a board whose first rows have a queen each. Down to the row `split`, at most n, it makes a task for each free
square of the next row. From there on a thread counts alone: it goes down and comes back by bits, without recursion.
Source: the tasks and their cutoff are as in the Barcelona OpenMP Tasks Suite (Duran et al., ICPP 2009).

Run it: python examples/queens.py
"""

from __future__ import annotations

import numpy as np
from place import best, put

import evenly as ev

MOST = 20  # rows
SOLUTIONS = {1: 1, 4: 2, 5: 10, 6: 4, 8: 92, 9: 352, 10: 724, 12: 14_200, 16: 14_772_512}


@ev.kernel
def queens(T, n, split, solutions):
    found = 0
    full = (np.uint32(1) << np.uint32(n)) - np.uint32(1)
    for t in T.tiles():
        columns, left, right = T.columns(t), T.left(t), T.right(t)  # that are attacked in this row
        free = full & ~(columns | left | right)
        if T.row(t) < split:
            while free != 0:
                queen = free & (~free + np.uint32(1))
                free ^= queen
                T.push(T.row(t) + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1)
        else:
            untried = ev.local(MOST, np.uint32)
            lefts = ev.local(MOST, np.uint32)
            rights = ev.local(MOST, np.uint32)
            taken = ev.local(MOST, np.uint32)
            depth = 0
            count = np.int64(0)
            if columns == full:
                count += 1
            untried[0] = free
            lefts[0] = left
            rights[0] = right
            taken[0] = columns
            while depth >= 0:
                rest = untried[depth]
                if rest == 0:
                    depth -= 1
                else:
                    queen = rest & (~rest + np.uint32(1))
                    untried[depth] = rest ^ queen
                    columns = taken[depth] | queen
                    if columns == full:
                        count += 1
                    else:
                        left = (lefts[depth] | queen) << 1
                        right = (rights[depth] | queen) >> 1
                        depth += 1
                        untried[depth] = full & ~(columns | left | right)
                        lefts[depth] = left
                        rights[depth] = right
                        taken[depth] = columns
            found += count
    solutions[0] = found


def boards(capacity):
    """The tasks: an empty board."""
    fields = {"row": np.int32, "columns": np.uint32, "left": np.uint32, "right": np.uint32}
    return ev.tasks(first=[(0, 0, 0, 0)], capacity=capacity, **fields)


def main(schedule="auto", target=None, n=8, split=3):
    target = target or best()
    solutions, T = put(target, np.zeros(1, np.int64), boards(10_000))
    queens[schedule].on(target)(T, n, min(split, n), solutions)
    assert int(solutions[0]) == SOLUTIONS[n]


if __name__ == "__main__":
    main(n=10)
    print(f"10 queens on {best()}: {SOLUTIONS[10]} solutions")
