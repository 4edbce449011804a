"""sum, min, max, any, all, ev.argmin, ev.argmax, ev.first, ev.reduce, over atoms and over ranges."""

import math

import numpy as np

import evenly as ev

from .table import case, f32, i32, out, rows, tiles, truths

NAN, INF = math.nan, math.inf
ROWS = rows([1, 2, 3], [], [4], [5, -6], dtype="float32")
INTS = rows([1, 2, 3], [], [4], [5, -6], dtype="int32")


@case(A=ROWS, x=f32(1, 10, 100, 0), y=out("float32", [321, 0, 4, -55]))
def sum_of_products(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@case(A=ROWS, y=out("float32", [6, 0, 4, 5]), n=out("int32", [3, 0, 1, 1]))
def sums_with_conditions(A, y, n):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row) if A.value(k) > 0)
        n[row] = sum(1 for k in A.atoms(row) if A.value(k) > 0 if k != 5)


@case(A=ROWS, y=out("float32", [16, 10, 14, 9]), z=out("float32", [7, 1, 5, 0]))
def sums_with_a_start(A, y, z):
    for row in A.tiles():
        y[row] = sum((A.value(k) for k in A.atoms(row)), 10)
        z[row] = sum((A.value(k) for k in A.atoms(row)), start=1.0)


@case(A=INTS, y=out("int64", [2, 0, 1, 1]), z=out("float64", [0.2, 0.0, 0.1, 0.1]))
def sums_of_truth_values_are_int64(A, y, z):
    for row in A.tiles():
        y[row] = sum(A.value(k) > 1 for k in A.atoms(row))
        z[row] = sum(A.value(k) > 1 for k in A.atoms(row)) * 0.1


@case(A=rows([2147483647, 1], [7], dtype="int32"), y=out("int64", [-2147483648, 7]))
def sums_of_int32_wrap(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))


@case(A=rows([0.1], [0.25, 0.5]), y=out("float64", [float(np.float32(0.1)), 0.75]))
def sums_of_float32_are_float32(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))


@case(
    A=rows([3, 1, 2], [], [NAN, 1], [2, NAN, -INF]),
    lo=out("float32", [1, 9, NAN, NAN]),
    hi=out("float32", [3, -INF, NAN, NAN]),
)
def min_and_max_propagate_nan(A, lo, hi):
    for row in A.tiles():
        lo[row] = min((A.value(k) for k in A.atoms(row)), default=9)
        hi[row] = max((A.value(k) for k in A.atoms(row)), default=-math.inf)


@case(A=INTS, lo=out("int32", [1, 100, 4, -6]), hi=out("float64", [3, 0.5, 4, 5]))
def min_and_max_of_integers(A, lo, hi):
    for row in A.tiles():
        lo[row] = min((A.value(k) for k in A.atoms(row)), default=100)
        hi[row] = max((A.value(k) for k in A.atoms(row)), default=0.5)


@case(A=rows([1, 2], [], [-3]), y=out("int32", [1, -1, 0]), z=out("int32", [0, 7, 2]))
def min_and_max_of_ids(A, y, z):
    for row in A.tiles():
        y[row] = max((A.column(k) for k in A.atoms(row)), default=-1)
        z[row] = min((k for k in A.atoms(row)), default=7)


@case(
    A=rows([1, 2], [], [-3]),
    y=out("bool", [False, False, True]),
    z=out("bool", [True, True, False]),
    w=out("bool", [True, False, True]),
)
def any_and_all(A, y, z, w):
    for row in A.tiles():
        y[row] = any(A.value(k) < 0 for k in A.atoms(row))
        z[row] = all(A.value(k) > 0 for k in A.atoms(row))
        w[row] = any(A.value(k) for k in A.atoms(row))


@case(
    A=rows([2, 7, 7, 1], [], [3], [NAN, 5, NAN], [5, NAN], [-INF, -INF]),
    lo=out("int32", [3, -1, 4, 5, 9, 10]),
    hi=out("int32", [1, -1, 4, 5, 9, 10]),
)
def ties_go_to_the_lowest_atom_and_nan_wins(A, lo, hi):
    for row in A.tiles():
        lo[row] = ev.argmin((A.value(k) for k in A.atoms(row)), default=-1)
        hi[row] = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)


@case(
    A=rows(
        [1, 7, 3] * 30,
        [2] * 40 + [NAN] + [9] * 40 + [NAN] * 9,
        [-INF] * 90,
        [INF] * 90,
        [5],
        [-INF] * 33 + [NAN] + [INF] * 33,
    ),
    lo=out("int32", [0, 130, 180, 270, 360, 394]),
    hi=out("int32", [1, 130, 180, 270, 360, 394]),
)
def ties_and_nan_in_tiles_longer_than_a_group(A, lo, hi):
    for row in A.tiles():
        lo[row] = ev.argmin((A.value(k) for k in A.atoms(row)), default=-1)
        hi[row] = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)


@case(A=rows([2, 7, 1], [], [3]), c=out("int32", [1, -1, 0]), v=out("float32", [7, 0, 3]))
def argmax_gives_an_atom(A, c, v):
    for row in A.tiles():
        best = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)
        c[row] = A.column(best) if best >= 0 else -1
        if best >= 0:
            v[row] = A.value(best)


@case(A=rows([1, 5, 6], [], [2]), y=out("int32", [1, -1, -1]), z=out("int32", [0, 99, 3]))
def first_is_the_lowest_atom_that_holds(A, y, z):
    for row in A.tiles():
        y[row] = ev.first((A.value(k) > 4 for k in A.atoms(row)), default=-1)
        z[row] = ev.first((A.value(k) < 4 for k in A.atoms(row)), default=99)


@ev.func
def longer(a, b):
    if b[0] > a[0] or (b[0] == a[0] and b[1] < a[1]):
        return b
    return a


@ev.func
def larger(a, b):
    return b if abs(b) > abs(a) else a


@case(
    A=rows([1, 2, 3], [], [4], dtype="float32"),
    y=out("float64", [3.5, 0.5, 1.5]),
    z=out("float64", [2.0**25 + 6, 2.0**25, 2.0**25 + 4]),
)
def a_sum_has_the_type_of_its_start_too(A, y, z):
    for row in A.tiles():
        y[row] = sum((1 for k in A.atoms(row)), start=0.5)
        z[row] = sum((A.value(k) for k in A.atoms(row)), np.float64(33554432))


@case(
    A=rows([1, -5, 5], [], [2]),
    y=out("float32", [5, 0, 2]),
    z=out("int32", [1, 1000, 0]),
    w=out("float32", [-5, 0, 2]),
)
def reductions_of_the_users_own(A, y, z, w):
    for row in A.tiles():
        size, at = ev.reduce(
            longer, ((abs(A.value(k)), A.column(k)) for k in A.atoms(row)), (0.0, 1000)
        )
        y[row] = size
        z[row] = at
        w[row] = ev.reduce(larger, (A.value(k) for k in A.atoms(row) if A.value(k) != 5), 0.0)


@case(
    A=tiles(3),
    x=f32(1, 2, 3),
    y=out("float32", [0, 1, 3]),
    m=out("float32", [-1, 1, 2]),
    b=out("bool", [True, True, False]),
)
def reductions_over_ranges(A, x, y, m, b):
    for t in A.tiles():
        y[t] = sum(x[i] for i in range(t))
        m[t] = max((x[i] for i in range(t)), default=-1.0)
        b[t] = all(x[i] < 2 for i in range(t))


@case(A=rows([1, 2], [3]), x=f32(1, 10), y=out("float32", [33, 33]))
def reductions_in_reductions(A, x, y):
    for row in A.tiles():
        y[row] = sum(sum(x[i] for i in range(2)) for k in range(3))


@case(A=rows([3, 4], [], [1]), y=out("float32", [0.75, -1, 1]))
def reductions_in_expressions(A, y):
    """Two passes in one expression, and one under a condition."""
    for row in A.tiles():
        n = sum(1 for k in A.atoms(row))
        low, high = (
            min((A.value(k) for k in A.atoms(row)), default=0),
            max((A.value(k) for k in A.atoms(row)), default=1),
        )
        y[row] = low / high if n > 0 else -1


@case(
    A=rows([2, 3], [], [4]),
    y=out("float32", [6, 1, 4]),
    z=out("int32", [2, -1, 4]),
    b=out("bool", [True, False, True]),
)
def loops_that_accumulate(A, y, z, b):
    """A product, a bitwise and, an `or`, each from its own start; all in one loop."""
    for row in A.tiles():
        product = 1.0
        bits = -1
        found = False
        for k in A.atoms(row):
            product *= A.value(k)
            bits &= int(A.value(k)) * 2
            found = found or A.value(k) > 2
        y[row] = product
        z[row] = bits // 2
        b[row] = found


@case(
    A=rows([2, 3], [], [4]),
    x=f32(10, 20, 30),
    y=out("float32", [15, 20, 34]),
    lo=out("float32", [-3, 0, -4]),
    hi=out("float32", [3, 0.5, 4]),
)
def accumulators_start_with_their_value(A, x, y, lo, hi):
    for row in A.tiles():
        total = x[row]
        least = 0.0
        most = 0.5
        for k in A.atoms(row):
            total = A.value(k) + total
            least = min(least, -A.value(k))
            most = max(A.value(k), most, A.value(k) - 1)
        y[row] = total
        lo[row] = least
        hi[row] = most


@case(
    A=rows([2, 3, -1], [], [4]),
    y=out("float32", [-4, 0, -3.5]),
    n=out("int32", [2, 0, 1]),
    x=out("int32", [1, 0, 0]),
)
def conditional_contributions(A, y, n, x):
    for row in A.tiles():
        total = 0.0
        count = 0
        parity = 0
        for k in A.atoms(row):
            v = A.value(k)
            if v < 0:
                continue
            total -= v
            if v > 1:
                total += 0.5
                count += 1
            else:
                count += 100
            parity ^= A.column(k)
        y[row] = total
        n[row] = count
        x[row] = parity


@case(
    A=rows([1, 1, 1], [], [1]),
    b=truths(1, 0, 1),
    y=out("int64", [2, 0, 1]),
    s=out("int64", [-2, 0, -1]),
)
def counting_truth_values(A, b, y, s):
    for row in A.tiles():
        count = 0
        less = 0
        for k in A.atoms(row):
            count += b[A.column(k)]
            less -= b[A.column(k)]
        y[row] = count
        s[row] = less


@case(A=rows([1, 2], [3]), x=i32(5, 6), y=out("int64", [11, 5]), z=out("float64", [1.0, 0.5]))
def accumulators_take_the_type_of_their_contributions(A, x, y, z):
    for row in A.tiles():
        a = 0
        b = 0
        for k in A.atoms(row):
            a += x[A.column(k)]
            b += 0.5
        y[row] = a
        z[row] = b


@case(A=rows([1, 2], [], [3]), y=out("float32", [4, -1, 4]))
def a_reduction_in_a_branch(A, y):
    for row in A.tiles():
        if A.begin(row) < A.end(row):
            y[row] = sum(A.value(k) for k in A.atoms(row)) + 1
        else:
            y[row] = -1
