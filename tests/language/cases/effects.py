"""Stores, updates and atomics."""

import math

import evenly as ev

from .table import case, f32, i32, out, rows, tiles

NAN = math.nan
GRAPH = rows([1, 1], [], [1, 1, 1], columns=[[0, 2], [], [2, 0, 2]])


@ev.func
def times(a, b):
    return a * b


@case(A=tiles(3), y=out("float32", [5, 10, 15], start=5), z=out("int32", [9, 2, 4], start=7))
def updates_of_the_tiles_own_element(A, y, z):
    for t in A.tiles():
        y[t] *= t + 1
        z[t] -= 5 - t
        z[t] //= 2
        z[t] %= 3
        z[t] = z[t] * 2 + (t == 0) * 7


@case(
    A=tiles(2),
    m=out("float32", [[1, 2, 3], [2, 3, 4]]),
    d=out("float32", [[3, 0], [0, 4]], start=0),
)
def two_axes(A, m, d):
    for t in A.tiles():
        for j in range(m.shape[1]):
            m[t, j] = t + j + 1
        at = (t, t)
        d[at] = 3
        d[at] += t


@case(A=GRAPH, degree=out("int32", [2, 0, 3]), weight=out("float32", [2, 0, 3]))
def a_histogram(A, degree, weight):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(degree, A.column(k), 1)
            ev.atomic_add(weight, A.column(k), A.value(k))


@case(
    A=tiles(2),
    x=i32(10, 20),
    y=out("int32", [13, 19]),
    old=out("int32", [10, 20]),
    start=out("int32", [13, 19]),
)
def atomics_return_what_was_there(A, x, y, old, start):
    for t in A.tiles():
        y[t] = x[t]
        old[t] = ev.atomic_add(y, t, 3 - 4 * t)
        start[t] = ev.atomic_add(y, t, 0)


@case(
    A=tiles(2),
    y=out("int64", [2, 2], start=1),
    z=out("int64", [1, 1]),
    b=out("int64", [6, 6], start=1),
)
def reads_come_before_atomics_to_their_right(A, y, z, b):
    for t in A.tiles():
        y[t] += ev.atomic_add(y, t, 4)
        z[ev.atomic_add(b, t, 5) - 1 + t] = b[t]


@case(
    A=tiles(3),
    lo=out("float32", [1, 2, NAN], start=2),
    hi=out("int32", [5, 5, 6], start=5),
    x=f32(1, 3, NAN),
)
def atomic_minima_and_maxima(A, x, lo, hi):
    for t in A.tiles():
        ev.atomic_min(lo, t, x[t])
        ev.atomic_max(hi, t, 4 + t)


@case(
    A=tiles(2),
    y=out("int32", [7, 1], start=1),
    was=out("int32", [1, 1]),
    z=out("int32", [3, 4], start=9),
    old=out("int32", [9, 9]),
)
def compare_and_swap_and_exchange(A, y, was, z, old):
    for t in A.tiles():
        was[t] = ev.atomic_cas(y, t, 1 + t, 7)
        old[t] = ev.atomic_exch(z, t, 3 + t)


@case(A=tiles(3), m=out("int32", [[3, 0], [0, 3]]), n=out("int64", [6]))
def atomics_on_two_axes_and_constants(A, m, n):
    for t in A.tiles():
        ev.atomic_add(m, (0, 0), 1)
        ev.atomic_add(m, (1, 1), 1)
        ev.atomic_add(n, 0, t + 1)


@case(
    A=GRAPH,
    distance=f32(0, 9, 5),
    new=out("float32", [0, 9, 1], start=9),
    changed=out("int32", [1, 0, 1]),
)
def relaxation(A, distance, new, changed):
    """Listing 5 of the paper: the old value tells who lowered a distance."""
    for v in A.tiles():
        for k in A.atoms(v):
            through = distance[v] + A.value(k)
            if v == A.column(k):
                through = distance[v]
            old = ev.atomic_min(new, A.column(k), through)
            if through < old:
                ev.atomic_max(changed, A.column(k), 1)


@case(A=tiles(2), n=out("int32", [4]), y=out("int32", [0, 0], start=5))
def an_atomic_in_an_expression_is_read_in_order(A, n, y):
    """`n[0]` would be another value after the atomic: both reads stand where they are written."""
    for t in A.tiles():
        before = y[t]
        y[t] = before - y[t] + 0 * ev.atomic_add(n, 0, 2)


@case(
    A=GRAPH,
    n=out("int32", [5, 5, 5, 2, 5]),
    total=out("int32", [2, 0, 3]),
    least=out("int32", [1, 9, 1]),
    where=out("int32", [0, -1, 2]),
    product=out("int32", [1, 1, 1]),
)
def reductions_evaluate_every_atom_once(A, n, total, least, where, product):
    for row in A.tiles():
        total[row] = sum(1 + 0 * ev.atomic_add(n, 0, 1) for k in A.atoms(row))
        least[row] = min((1 + 0 * ev.atomic_add(n, 1, 1) for k in A.atoms(row)), default=9)
        where[row] = ev.argmax((0 * ev.atomic_add(n, 2, 1) for k in A.atoms(row)), default=-1)
        if total[row] == 2:
            unused = sum(0 * ev.atomic_add(n, 3, 1) for k in A.atoms(row))  # noqa: F841
        product[row] = ev.reduce(times, (1 + 0 * ev.atomic_add(n, 4, 1) for k in A.atoms(row)), 1)


@case(A=GRAPH, y=out("int32", [0, 1, 2, 3, 4]), z=out("float32", [0, 0, 2, 2, 2]))
def stores_by_atom(A, y, z):
    for row in A.tiles():
        for k in A.atoms(row):
            y[k] = k
            z[k] += row


@case(A=tiles(3), next_=i32(2, 0, 1), y=out("int32", [1, 2, 0]))
def stores_through_a_permutation(A, next_, y):
    for t in A.tiles():
        y[next_[t]] = t
