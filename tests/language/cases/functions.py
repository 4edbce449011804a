"""@ev.func: inlined with the types of each call."""

import math

import numpy as np

import evenly as ev

from .table import case, f32, i32, out, rows, tiles

FACTOR = 3
SHIFT = np.float32(0.5)


def _closure():
    inside = 10

    @ev.func
    def scaled(v, by=2, plus=0):
        return v * by + plus + inside

    return scaled


scaled = _closure()


@ev.func
def square(v):
    return v * v


@ev.func
def norm(a, b):
    return math.sqrt(square(a) + square(b))


@ev.func
def clamp(v, low, high):
    """Early returns."""
    if v < low:
        return low
    if v > high:
        return high
    return v


@ev.func
def divided(a, b):
    return a // b, a % b


@ev.func
def order(pair):
    a, b = pair
    if a <= b:
        return a, b
    else:
        return b, a


@ev.func
def steps(n):
    """A loop, and a variable that it carries."""
    count = 0
    while n > 1:
        n = n // 2
        count += 1
    return count


@ev.func
def dot(A, tile, x):
    """Layouts and arrays as parameters, and a pass inside a function."""
    total = 0.0
    for k in A.atoms(tile):
        total += A.value(k) * x[A.column(k)]
    return total


@ev.func
def weighed(A, k, x):
    return A.value(k) * x[A.column(k)]


@ev.func
def global_names(v):
    return v * FACTOR + SHIFT


@case(
    A=tiles(3),
    x=f32(3, -2, 0),
    y=out("float32", [9, 4, 0]),
    n=out("int32", [0, 1, 4]),
    h=out("float32", [5, math.sqrt(20), 4]),
    tolerance=1e-6,
)
def functions_take_the_types_of_each_call(A, x, y, n, h):
    for t in A.tiles():
        y[t] = square(x[t])
        n[t] = square(t)
        h[t] = norm(x[t], 4)


@case(A=tiles(3), x=f32(-1, 0.5, 7), y=out("float32", [0, 0.5, 2]), z=out("int32", [5, 5, 5]))
def functions_return_early(A, x, y, z):
    for t in A.tiles():
        y[t] = clamp(x[t], 0, 2.0)
        z[t] = clamp(t, high=9, low=5)


@case(
    A=tiles(2),
    a=i32(7, -7),
    q=out("int32", [3, -4]),
    r=out("int32", [1, 1]),
    lo=out("int32", [3, -4]),
    hi=out("int32", [7, 1]),
)
def functions_give_and_take_tuples(A, a, q, r, lo, hi):
    for t in A.tiles():
        quotient, rest = divided(a[t], 2)
        q[t] = quotient
        r[t] = rest
        pair = order((a[t] if t == 0 else rest, quotient))
        lo[t] = pair[0]
        hi[t] = pair[1]


@case(A=tiles(4), y=out("int32", [0, 1, 2, 3]))
def functions_have_loops(A, y):
    for t in A.tiles():
        y[t] = steps(2**3 if t == 3 else t * 2)


@case(A=tiles(2), y=out("int32", [10, 12]), z=out("int32", [14, 17]), w=out("float32", [0.5, 3.5]))
def functions_have_closures_and_defaults(A, y, z, w):
    for t in A.tiles():
        y[t] = scaled(t)
        z[t] = scaled(t, 3, plus=4)
        w[t] = global_names(t)


@case(
    A=rows([1, 2], [], [3]),
    x=f32(10, 100, 1000),
    y=out("float32", [210, 0, 30]),
    z=out("float32", [210, 0, 30]),
)
def functions_take_layouts_and_arrays(A, x, y, z):
    for row in A.tiles():
        y[row] = dot(A, row, x)
        z[row] = sum(weighed(A, k, x) for k in A.atoms(row))


@ev.func
def store_twice(y, i, v):
    """Called as a statement, a function may have effects, and return early."""
    if v < 0:
        y[i, 0] = -v
        return
    y[i, 0] = v
    y[i, 1] += square(v)


@ev.func
def store_powers(y, i, v, n):
    for j in range(n):
        store_twice(y, i + j, v)
        v = v * 2


@case(
    A=tiles(2),
    x=f32(3, -2),
    y=out("float32", [[3, 9], [6, 36], [2, 0], [4, 0]], start=0),
)
def functions_called_as_statements_store(A, x, y):
    for t in A.tiles():
        if t < 5:
            store_powers(y, 2 * t, x[t], 2)


@ev.func
def note(y, n, row, k, v):
    y[k] = v
    ev.atomic_add(n, row, 1)


@case(A=rows([1, 2], [], [3]), y=out("float32", [2, 4, 6]), n=out("int32", [2, 0, 1], start=0))
def functions_store_for_atoms(A, y, n):
    for row in A.tiles():
        for k in A.atoms(row):
            note(y, n, row, k, 2 * A.value(k))


@ev.func
def store_backwards(y, t, x):
    """A local array of the function's own, where the kernel has one of the same name."""
    h = ev.local(3, np.float32)
    for i in range(3):
        h[i] = x[t, i]
    for i in range(3):
        y[t, i] = h[2 - i]


@case(A=tiles(2), x=f32([1, 2, 3], [4, 5, 6]), y=out("float32", [[3, 2, 1], [7, 5, 4]]))
def functions_have_local_arrays(A, x, y):
    for t in A.tiles():
        h = ev.local(3, np.float32)
        h[0] = x[t, 0]
        store_backwards(y, t, x)
        if t == 1:
            y[t, 0] = h[0] + 3


@ev.func
def count_columns(A, row, counts, ends, last):
    """Passes in a function, which leaves what it finds in arrays."""
    begin = A.begin(row)
    for k in A.atoms(row):
        ev.atomic_add(counts, A.column(k), 1)
    for k in A.atoms(row):
        ends[k - begin] = ev.scan(A.column(k) + 1)
    last[row] = sum(ends[k - begin] for k in A.atoms(row))


@case(
    owned_only=True,
    A=rows([1, 1, 1], [], [3], columns=[[2, 0, 2], [], [1]]),
    y=out("int32", [[1, 0, 2], [0, 0, 0], [0, 1, 0]]),
    z=out("int32", [3, 4, 7, 2]),
    last=out("int32", [14, 0, 2]),
)
def functions_have_passes_that_store(A, y, z, last):
    for row in A.tiles():
        counts = ev.scratch(3, np.int32)
        ends = ev.scratch(A.end(row) - A.begin(row), np.int32)
        count_columns(A, row, counts, ends, last)
        for j in ev.lanes(3):
            y[row, j] = counts[j]
        for k in A.atoms(row):
            z[k] = ends[k - A.begin(row)]


@ev.func
def walk_again(A, row, y, turns):
    turns[0] += 1
    for k in A.atoms(row):
        y[k] = A.value(k) * turns[0]


@case(owned_only=True, A=rows([1, 2], [3]), y=out("float32", [2, 4, 3]), n=i32(2, 1))
def functions_in_serial_loops(A, y, n):
    for row in A.tiles():
        turns = ev.scratch(1, np.int32)
        for _ in range(n[row]):
            walk_again(A, row, y, turns)


@ev.func
def add(a, b):
    return a + b


@case(A=rows([1, 2], [], [3]), y=out("float32", [3, 0, 3]), m=out("float32", [3, 0, 3]))
def functions_in_reductions(A, y, m):
    for row in A.tiles():
        y[row] = ev.reduce(add, (A.value(k) for k in A.atoms(row)), 0.0)
        m[row] = math.sqrt(sum(square(A.value(k)) for k in A.atoms(row)) + (row == 0) * 4)
