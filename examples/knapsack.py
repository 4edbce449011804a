"""Branch and bound: which items, of at most so much weight together, have the most value.

A task decides about one item, the most value for its weight first, and makes a task for each answer. It gives up where
even parts of the other items could not make up for what is known already: a shared bound, which all tasks read and
raise by one atomic. So how many tasks there are differs from run to run. The result does not, and neither do its items:
those that are as good as the bound are still followed, and of equal ones the greatest bits win. Source: Horowitz,
Sahni, "Computing Partitions with Applications to the Knapsack Problem" (Journal of the ACM, 1974).

Run it: python examples/knapsack.py
"""

from __future__ import annotations

import numpy as np
from place import best, get, put

import evenly as ev

BITS = 40  # the most items; the value is in the bits above them


@ev.kernel
def knapsack(T, values, weights, found):
    n = len(values)
    for t in T.tiles():
        value, room = T.value(t), T.room(t)
        known = ev.atomic_max(found, 0, (value << BITS) | T.taken(t)) >> BITS
        most, left, i = value, room, T.item(t)  # as if the first that does not fit could be divided
        while i < n and weights[i] <= left:
            most += values[i]
            left -= weights[i]
            i += 1
        if i < n:
            most += left * values[i] // weights[i]
        i = T.item(t)
        if i < n and most >= max(known, value):
            if weights[i] <= room:
                T.push(i + 1, value + values[i], room - weights[i], T.taken(t) | np.int64(1) << i)
            T.push(i + 1, value, room, T.taken(t))


def items(n, seed=0):
    """Values and weights (n,), the most value for its weight first, and the weight that is allowed."""
    random = np.random.default_rng(seed)
    weights = random.integers(100, 1000, n)
    values = weights + random.integers(-100, 100, n)
    order = np.argsort(-values / weights, kind="stable")
    return values[order], weights[order], int(weights.sum()) // 2


def by_hand(values, weights, room):
    """The most value, by dynamic programming."""
    most = np.zeros(room + 1, np.int64)
    for value, weight in zip(values, weights, strict=True):
        most[weight:] = np.maximum(most[weight:], most[:-weight] + value)
    return most[-1]


def main(schedule="auto", target=None, n=18, capacity=20_000):
    target = target or best()
    values, weights, room = items(n)
    types = {"item": np.int32, "value": np.int64, "room": np.int64, "taken": np.int64}
    T = ev.tasks(first=[(0, 0, room, 0)], capacity=capacity, **types)
    found = np.zeros(1, np.int64)
    T, there, heavy, found = put(target, T, values, weights, found)
    knapsack[schedule].on(target)(T, there, heavy, found)
    value, taken = divmod(int(get(found)[0]), 1 << BITS)
    chosen = (taken >> np.arange(n)) % 2 == 1
    assert value == values[chosen].sum() == by_hand(values, weights, room)
    assert weights[chosen].sum() <= room
    return value, taken, T.tasks_run


if __name__ == "__main__":
    value, taken, tasks = main(n=36, capacity=4_000_000)
    print(f"{taken.bit_count()} of 36 items on {best()} have a value of {value:,}: {tasks:,} tasks")
