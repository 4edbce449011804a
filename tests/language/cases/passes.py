"""Several passes over a tile, several loops over tiles, what lives from one to the next."""

import math

import numpy as np

import evenly as ev
from evenly.layouts.bcsr import bcsr
from evenly.layouts.ell import ell
from evenly.layouts.subset import subset

from .table import case, f32, f64, i32, out, rows, tiles

A3 = rows([1, 2, 3], [], [4])
SUBSET = subset(A3, i32(2, 0))
ELL = ell(
    (
        f32(1, 2, 3, math.nan, math.nan, math.nan, 4, math.nan, math.nan).reshape(3, 3),
        i32(0, 1, 2, -1, -1, -1, 0, -1, -1).reshape(3, 3),
    ),
    shape=(3, 3),
)


@case(A=rows([0, 0], [], [5, 5, 5, 5]), out_=out("float32", [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]))
def softmax(A, out_):
    for row in A.tiles():
        top = max((A.value(k) for k in A.atoms(row)), default=0.0)
        total = sum(math.exp(A.value(k) - top) for k in A.atoms(row))
        for k in A.atoms(row):
            out_[k] = math.exp(A.value(k) - top) / total


@case(A=A3, x=f32(2, 3, 4), y=out("float32", [6, 0, 4]), dot=out("float64", [28]))
def a_sum_over_the_grid(A, x, y, dot):
    total = 0.0
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))
        total += sum(A.value(k) for k in A.atoms(row)) * x[row]
    dot[0] = total


@case(A=A3, y=out("float32", [10]), n=out("int32", [4]), m=out("float32", [4]), c=out("int32", [3]))
def grid_accumulators_over_atoms_and_tiles(A, y, n, m, c):
    total = 0.0
    count = 0
    most = 0.0
    rounds = 0
    for row in A.tiles():
        rounds += 1
        for k in A.atoms(row):
            total += A.value(k)
            count += 1
            most = max(most, A.value(k))
    y[0] = total
    n[0] = count
    m[0] = most
    c[0] = rounds


@case(A=A3, y=out("float32", [6, 0, 4]), n=out("int32", [6]), c=out("int32", [8]))
def a_total_that_grows_around_passes(A, y, n, c):
    """Each contribution counts once, whichever phases it is between."""
    rounds = 0
    count = 0
    for row in A.tiles():
        rounds += 1
        for _ in A.atoms(row):
            count += 1
        y[row] = sum(A.value(k) for k in A.atoms(row))
        rounds += 1
        for _ in A.atoms(row):
            count += 1
    n[0] = rounds
    c[0] = count


@case(A=A3, x=f32(1, 5, 3), y=out("float32", [0.2, 1, 0.6]), z=out("float64", [float(f32(0.2)[0])]))
def a_loop_reads_what_the_one_before_accumulated(A, x, y, z):
    most = -math.inf
    for row in A.tiles():
        most = max(most, x[row])
    for row in A.tiles():
        y[row] = x[row] / most
    z[0] = 1 / most


@case(A=A3, y=out("float32", [6, 0, 4]), z=out("float32", [10, 0, 6]))
def a_loop_reads_what_the_one_before_stored(A, y, z):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))
    for row in A.tiles():
        z[row] = sum(y[A.column(k)] for k in A.atoms(row)) + 0 * y[row]


@case(A=A3, B=rows([1], [1, 1]), y=out("float32", [7, 1, 5]), z=out("float32", [7, 8]))
def loops_over_two_layouts(A, B, y, z):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row)) + 1
    for row in B.tiles():
        z[row] = sum(y[B.column(k)] for k in B.atoms(row))


@case(A=A3, out_=out("float32", [1, 2, 3, 4]), mean=out("float32", [2, -1, 4]))
def a_value_of_the_tile_in_the_next_pass(A, out_, mean):
    """What is computed before a pass, after one and under a condition is known in the next."""
    for row in A.tiles():
        n = A.end(row) - A.begin(row)
        total = sum(A.value(k) for k in A.atoms(row))
        average = -1.0
        if n > 0:
            average = total / n
        mean[row] = average
        for k in A.atoms(row):
            out_[k] = (A.value(k) - average) + average


@case(A=A3, x=f32(1, 0, -1), y=out("float32", [6, 9, -4]))
def an_if_around_passes(A, x, y):
    for row in A.tiles():
        if x[row] > 0:
            y[row] = sum(A.value(k) for k in A.atoms(row))
        elif x[row] < 0:
            total = 0.0
            for k in A.atoms(row):
                total -= A.value(k)
            y[row] = total
        else:
            y[row] = 9


@case(
    A=A3,
    z=i32(-(2**31), 2, 3),
    wide=out("int64", [3 * 2**31, 0, -3]),
    mixed=out("int64", [3 * 2**31 - 3, 0, -4]),
    real=out("float64", [3 * 2**31, 0, -3]),
)
def differences_are_as_wide_as_their_sum(A, z, wide, mixed, real):
    """The least int32 has no negative in int32."""
    for row in A.tiles():
        a, b, c = np.int64(0), z[row] * 0, 0.0
        for _ in A.atoms(row):
            a -= z[row]
            b -= z[row]
            b -= np.int64(1)
            c = c - z[row]
        wide[row], mixed[row], real[row] = a, b, c


@case(A=A3, x=f32(3, 0, 2), y=out("float32", [36, 7, 17]), z=out("bool", [True, False, False]))
def a_value_under_the_condition_of_a_pass(A, x, y, z):
    """Where the condition does not hold, there is no such value."""
    for row in A.tiles():
        y[row] = 7
        if x[row] > 0:
            scale = x[row] * 2
            far = x[row] > 2
            y[row] = sum(A.value(k) * scale if far else A.value(k) for k in A.atoms(row))
            z[row] = far
            if not far:
                more = scale + 9
                y[row] += sum(more if A.value(k) > 3 else 0 for k in A.atoms(row))


@case(A=A3, x=f32(1, 0, -1), y=out("float32", [12, 0, 4]))
def an_if_whose_branch_changes_its_condition(A, x, y):
    for row in A.tiles():
        c = x[row]
        v = 0.0
        if c > 0:
            c = -1.0
            v = sum(A.value(k) for k in A.atoms(row))
        if c < 0:
            v += sum(A.value(k) for k in A.atoms(row))
        y[row] = v


@case(A=A3, y=out("float32", [36, 0, 16]), z=out("float32", [12, 0, 16]))
def a_loop_left_on_what_a_pass_gave(A, y, z):
    """What the loops count is as little known beforehand as the sum that they look at."""
    for row in A.tiles():
        total = sum(A.value(k) for k in A.atoms(row))
        up = 0
        while True:
            if up >= total:
                break
            up += 1
        left = 0
        for i in range(8):
            if i < 8:
                if i < total:
                    continue
                left += 1
        y[row] = sum(A.value(k) * up for k in A.atoms(row))
        z[row] = sum(A.value(k) * left for k in A.atoms(row))


@case(owned_only=True, A=A3, y=out("float32", [24, 0, 32]), n=out("int32", [2, 5, 3]))
def a_while_around_passes(A, y, n):
    """Doubles until the sum is 20 or the rounds are used up."""
    for row in A.tiles():
        scale = 1.0
        rounds = 0
        total = sum(A.value(k) for k in A.atoms(row))
        while total < 20 and rounds < 5:
            scale = scale * 2
            total = 0.0
            for k in A.atoms(row):
                total += A.value(k) * scale
            rounds += 1
        y[row] = total
        n[row] = rounds


@case(owned_only=True, A=A3, y=out("float32", [36, 0, 24]))
def a_range_around_passes(A, y):
    for row in A.tiles():
        v = 0.0
        for i in range(1, 4):
            v += sum(A.value(k) * i for k in A.atoms(row))
        y[row] = v


@case(A=A3, x=f64(1, 2, 3, 10, 20, 30).reshape(3, 2), y=out("float64", [[67, 112], [0, 0], [4, 8]]))
def lanes_outside(A, x, y):
    for row in A.tiles():
        for j in ev.lanes(y.shape[1]):
            y[row, j] = sum(A.value(k) * x[A.column(k), j] for k in A.atoms(row))


@case(
    A=A3,
    x=f64(1, 2, 3, 10, 20, 30).reshape(3, 2),
    s=f32(1, 2, -3),
    y=out("float64", [[67, 112], [0, 0], [9, 9]], start=9),
)
def lanes_that_only_some_tiles_have(A, x, s, y):
    for row in A.tiles():
        if s[row] < 0:
            continue
        for j in ev.lanes(y.shape[1]):
            y[row, j] = sum(A.value(k) * x[A.column(k), j] for k in A.atoms(row))


@case(A=A3, n=5, y=out("int64", [[3, 4], [0, 1], [1, 2]]))
def lanes_of_an_expression_of_arguments(A, n, y):
    for row in A.tiles():
        half = n // 2
        for j in ev.lanes(min(half, 7) if n > 0 else -n):
            y[row, j] = sum(1 for k in A.atoms(row)) + j


@case(A=A3, n=-1, y=out("int64", [[7], [7], [7]], start=7))
def lanes_of_which_there_are_none(A, n, y):
    for row in A.tiles():
        for j in ev.lanes(n):
            y[row, j] = sum(1 for k in A.atoms(row))


@case(A=A3, y=out("int64", [[3, 3, 3], [9, 9, 9], [1, 9, 9]], start=9), owned_only=True)
def lanes_that_a_pass_counts(A, y):
    for row in A.tiles():
        length = sum(1 for k in A.atoms(row))
        for j in ev.lanes(length):
            y[row, j] = sum(1 for k in A.atoms(row))


@case(A=A3, y=out("int64", [[9, 9], [0, 9], [1, 1]], start=9), owned_only=True)
def lanes_by_the_tile(A, y):
    for row in A.tiles():
        for j in ev.lanes(row):
            y[row, j] = sum(1 for k in A.atoms(row))


@case(
    A=A3,
    u=f32(1, 2, 3, 4, 5, 6).reshape(3, 2),
    v=f32(1, 1, 0, 2, 3, 0).reshape(3, 2),
    out_=out("float32", [3, 8, 9, 44]),
)
def lanes_inside(A, u, v, out_):
    for row in A.tiles():
        for k in A.atoms(row):
            dot = 0.0
            for j in ev.lanes(2):
                dot += u[row, j] * v[A.column(k), j]
            out_[k] = A.value(k) * dot


@case(
    A=A3,
    x=f32(1, 2, 3, 4, 5, 6).reshape(3, 2),
    y=out("float32", [[1, 4], [3, 8], [5, 12]]),
    s=out("float32", [3, 7, 11]),
)
def lanes_without_atoms(A, x, y, s):
    for row in A.tiles():
        total = 0.0
        for j in ev.lanes(2):
            y[row, j] = x[row, j] * (j + 1)
            total += x[row, j]
        s[row] = total


@case(A=rows([1, 2], [1], columns=[[1, 0], [0]]), y=out("int32", [4, 2]))
def walks_over_another_tile(A, y):
    """Two steps along the graph: the sizes of the neighbours' lists, walked one by one."""
    for v in A.tiles():
        count = 0
        for k in A.atoms(v):
            for j in A.atoms(A.column(k)):
                count += 1 + 0 * A.column(j)
        y[v] = count + (v == 0)


@case(S=SUBSET, y=out("float32", [6, 9, 4], start=9), n=out("int32", [1, 1, 1, 1], start=0))
def a_subset_gives_the_ids_of_its_base(S, y, n):
    for v in S.tiles():
        y[v] = sum(S.value(k) for k in S.atoms(v))
        for k in S.atoms(v):
            n[k] += 1


@case(S=SUBSET, y=out("int32", [2, 9, 3], start=9), f=out("int32", [0, 9, 3], start=9))
def argmax_over_a_subset_gives_an_atom_of_the_base(S, y, f):
    for v in S.tiles():
        y[v] = ev.argmax((S.value(k) for k in S.atoms(v)), default=-1)
        f[v] = ev.first((S.value(k) > 0 for k in S.atoms(v)), default=-1)


@case(
    E=ELL,
    x=f32(1, 1, math.inf),
    y=out("float32", [math.inf, 0, 4]),
    n=out("int32", [3, 0, 1]),
    seen=out("int32", [1, 1, 1, 0, 0, 0, 1, 0, 0]),
)
def padding_is_never_visited(E, x, y, n, seen):
    """Not multiplied (NaN stands in the padding), not counted, not stored to."""
    for row in E.tiles():
        y[row] = sum(E.value(k) * x[E.column(k)] for k in E.atoms(row))
        n[row] = sum(1 for k in E.atoms(row))
        for k in E.atoms(row):
            seen[k] = 1


@case(
    B=bcsr((f32(1, 2, 3, 4).reshape(1, 2, 2), i32(0), i32(0, 1)), shape=(2, 2)),
    x=f32(1, 10),
    y=out("float32", [21, 43]),
)
def accessors_get_the_tile_themselves(B, x, y):
    for row in B.tiles():
        y[row] = sum(B.value(k) * x[B.column(k)] for k in B.atoms(row))


@case(A=tiles(0), y=out("float32", [5]))
def no_tiles_at_all(A, y):
    total = 5.0
    for row in A.tiles():
        total += sum(A.value(k) for k in A.atoms(row))
    y[0] = total


@case(A=tiles(2), x=f32(1, 2), y=out("float32", [0, 0]), s=out("float32", [3, 0.5, 7]))
def statements_outside_all_loops(A, x, y, s):
    first = x[0] + x[1]
    s[0] = first
    for row in A.tiles():
        y[row] = first * 0
    half = 0.5
    s[1] = half
    for i in range(2, len(s)):
        s[i] = 7


@case(
    S=subset(subset(rows([1, 2], [], [3], [4, 5, 6]), i32(0, 2, 3)), i32(2, 0)),
    y=out("float32", [3, 0, 0, 15]),
    seen=out("int32", [1, 1, 0, 1, 1, 1]),
)
def a_subset_of_a_subset(S, y, seen):
    for row in S.tiles():
        y[row] = sum(S.value(k) for k in S.atoms(row))
        for k in S.atoms(row):
            seen[k] = 1
