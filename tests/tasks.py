"""Kernels with loops over tasks, each with what it has to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import evenly as ev
from evenly.interop.transfer import to_numpy as host

Make = Callable[..., Any]
Run = Callable[..., None]


@ev.kernel
def halves(T, leaves, count):
    total = 0
    for t in T.tiles():
        total += 1
        middle = (T.begin(t) + T.end(t)) // 2
        if T.end(t) - T.begin(t) > 20:
            T.push(T.begin(t), middle)
            T.push(middle, T.end(t))
        else:
            leaves.append(T.begin(t), T.end(t))
    count[0] = total


def runs_halves(make: Make, run: Run) -> None:
    """Halve ranges until they are short. make: makes arguments. run: runs a kernel on them."""
    for first in ([(0, 1000)], [(0, 7), (7, 700), (700, 5000)], [(3, 3)], [(0, 21)] * 40, []):
        T = make(ev.tasks, begin=np.int32, end=np.int32, first=first, capacity=600)
        leaves = make(ev.output, (np.int32, np.int32), capacity=600)
        count = make(np.zeros, 1, np.int64)
        run(halves, T, leaves, count)
        tasks, expected = 0, []
        todo = list(first)
        while todo:
            begin, end = todo.pop()
            tasks += 1
            middle = (begin + end) // 2
            if end - begin > 20:
                todo += [(begin, middle), (middle, end)]
            else:
                expected.append((begin, end))
        found = [host(c).tolist() for c in leaves.columns]
        assert sorted(zip(*found, strict=True)) == sorted(expected)
        assert host(count)[0] == tasks == T.tasks_run
        assert len(T.remaining) == 0


@ev.kernel
def thirds(T, x, out, total, most, visits):
    longest = 0
    for t in T.tiles():
        size = T.end(t) - T.begin(t)
        longest = max(longest, size)
        here = sum(x[k] for k in T.atoms(t))
        largest = max((x[k] for k in T.atoms(t)), default=-1)
        for k in T.atoms(t):
            ev.atomic_add(visits, k, 1)
        if size > 5:
            for i in range(3):
                T.push(T.begin(t) + size * (i + 1) // 3, T.begin(t) + size * i // 3)
        else:
            ev.atomic_add(total, 0, here)
            ev.atomic_max(total, 1, largest)
        out[T.begin(t)] = here
    most[0] = longest


def runs_thirds(make: Make, run: Run) -> None:
    """Tasks with atoms: two passes that reduce and one that does not, then tasks that are made in a loop."""
    n = 600
    x = np.random.default_rng(1).integers(0, 100, n)
    T = make(ev.tasks, end=np.int64, begin=np.int32, atoms=("begin", "end"), first=[(n, 0)], capacity=n)  # fmt: skip
    out, visits = make(np.zeros, n + 1, np.int64), make(np.zeros, n, np.int32)
    total, most = make(np.zeros, 2, np.int64), make(np.zeros, 1, np.int64)
    run(thirds, T, make(np.array, x), out, total, most, visits)
    seen, depth = np.zeros(n, np.int32), {}
    rounds = [(0, n)]
    while rounds:
        after = []
        for begin, end in rounds:
            seen[begin:end] += 1
            size = end - begin
            depth.setdefault(begin, set()).add(x[begin:end].sum())
            if size > 5:
                after += [(begin + size * i // 3, begin + size * (i + 1) // 3) for i in range(3)]
        rounds = after
    np.testing.assert_array_equal(host(visits), seen)
    for begin, value in enumerate(host(out)):
        assert value in depth.get(begin, {0})
    assert host(total).tolist() == [x.sum(), x.max()]
    assert host(most)[0] == n


@ev.kernel
def grown(T, made, widths):
    n, odd, all_short = 0, 0, True
    for t in T.tiles():
        n += 1
        odd ^= T.x(t)
        all_short = all_short and T.width(t) < 3.0
        i = 0
        while i < T.depth(t):
            if (T.x(t) + i) % 3 > 0:
                T.push(T.depth(t) - 1 - i % 2, T.x(t) * 3 + i, T.width(t) + 0.5)
            i += 1
        if T.depth(t) == 0:
            ev.atomic_add(widths, int(T.width(t) * 2), 1)
    made[0] = n
    made[1] = odd
    made[2] = 1 if all_short else 0


def runs_grown(make: Make, run: Run) -> None:
    """Pushes in a while, under conditions, of three types; reductions of integers and truth values."""
    first = [(5, 1, 0.0), (3, 2, 1.0)]
    T = make(ev.tasks, depth=np.int8, x=np.uint64, width=np.float32, first=first, capacity=4000)
    made, widths = make(np.zeros, 3, np.uint64), make(np.zeros, 20, np.int32)
    run(grown, T, made, widths)
    n, odd, short, expected = 0, 0, True, np.zeros(20, np.int32)
    todo = list(first)
    while todo:
        depth, x, width = todo.pop()
        n, odd, short = n + 1, odd ^ x, short and width < 3
        todo += [(depth - 1 - i % 2, x * 3 + i, width + 0.5) for i in range(depth) if (x + i) % 3 > 0]  # fmt: skip
        if depth == 0:
            expected[int(width * 2)] += 1
    assert host(made).tolist() == [n, odd, short]
    np.testing.assert_array_equal(host(widths), expected)


@ev.kernel
def together(A, T, U, x, out):
    for row in A.tiles():
        x[row] = sum(k for k in A.atoms(row))
    turns = 0
    while turns < 2:
        turns += 1
        for t in T.tiles():
            ev.atomic_add(out, 0, x[T.row(t)])
            if T.row(t) + 2 < A.num_tiles:
                T.push(T.row(t) + 2)
    n = 0
    for u in U.tiles():
        n += u_of(U.a(u), U.b(u))
        if U.a(u) > 0:
            U.push(U.b(u), U.a(u) - 1)
            U.push(0, U.b(u))
    out[1] = n


@ev.func
def u_of(a, b):
    return a * b + 1


def runs_together(make: Make, run: Run) -> None:
    """Beside a loop over another layout, in a while, and two task sets."""
    A = make(ev.ragged, np.array([0, 2, 2, 5, 6, 8]))
    T = make(ev.tasks, row=np.int32, first=[0, 1], capacity=2)
    U = make(ev.tasks, a=np.int16, b=np.int64, first=[(4, 3)], capacity=100)
    x, out = make(np.zeros, 5, np.int64), make(np.zeros, 2, np.int64)
    run(together, A, T, U, x, out)
    n, todo = 0, [(4, 3)]
    while todo:
        a, b = todo.pop()
        n += a * b + 1
        todo += [(b, a - 1), (0, b)] if a > 0 else []
    assert host(out).tolist() == [2 * (0 + 1 + 0 + 2 + 3 + 4 + 5 + 6 + 7), n]


@ev.kernel
def fans(T, width, marks):
    for t in T.tiles():
        ev.atomic_add(marks, T.number(t), 1)
        if T.depth(t) > 0:
            for i in range(width):
                T.push(T.number(t) * width + i + 1, T.depth(t) - 1)


def runs_fans(make: Make, run: Run, width: int, depth: int, capacity: int) -> tuple[int, int]:
    """Tasks that push many: where they have no room, another call goes on. Return the calls, and the tasks."""
    tasks = sum(width**d for d in range(depth + 1))
    marks = make(np.zeros, tasks, np.int32)
    first: Any = [(0, depth)]
    calls = ran = 0
    while len(first):
        T = make(ev.tasks, number=np.int32, depth=np.int8, first=first, capacity=capacity, spill=10**6)  # fmt: skip
        calls += 1
        try:
            run(fans, T, width, marks)
        except ev.InputError:
            capacity = max(2 * capacity, len(T.remaining))
        ran += T.tasks_run
        first = T.remaining
    np.testing.assert_array_equal(host(marks), 1)
    assert ran == tasks
    return calls, tasks


CASES = {"halves": runs_halves, "thirds": runs_thirds, "grown": runs_grown, "together": runs_together}  # fmt: skip
