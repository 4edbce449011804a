"""Local arrays: `ev.local`, in loops over atoms and beside them."""

import numpy as np

import evenly as ev

from .table import c64, case, f32, f64, i32, i64, out, rows, tiles, truths

A3 = rows([1, 2, 3], [], [4])
FOUR = 4


@case(A=A3, y=out("int32", [[2, 1], [0, 0], [1, 0]], start=9))
def a_histogram_of_each_row(A, y):
    for row in A.tiles():
        h = ev.local(2, np.int32)
        for k in A.atoms(row):
            h[A.column(k) % 2] += 1
        for i in range(2):
            y[row, i] = h[i]


@case(
    A=rows([1, 2, 3, 4], [], [5]),
    y=out("float32", [[4, 6], [0, 0], [5, 0]]),
    z=out("float64", [[3, 8], [1, 1], [5, 1]]),
    lo=out("int32", [[1, 2], [9, 9], [5, 9]]),
    hi=out("float32", [[3, 4], [-1, -1], [5, -1]]),
)
def one_operation_each(A, y, z, lo, hi):
    for row in A.tiles():
        sums = ev.local(2, np.float32)
        products = ev.local(2, float)
        least = ev.local(2, np.int32)
        greatest = ev.local(2, np.float32)
        for i in range(2):
            products[i] = 1
            least[i] = 9
            greatest[i] = -1.0
        for k in A.atoms(row):
            i = A.column(k) % 2
            sums[i] += A.value(k)
            products[i] = products[i] * A.value(k)
            least[i] = min(least[i], np.int32(A.value(k)))
            greatest[i] = max(A.value(k), greatest[i])
        for i in range(2):
            y[row, i] = sums[i]
            z[row, i] = products[i]
            lo[row, i] = least[i]
            hi[row, i] = greatest[i]


@case(
    A=A3,
    bits=i32(6, 3, 5),
    y=out("int32", [[6 & 5, 3], [7, 7], [6, 7]]),
    z=out("int64", [[7, 3], [0, 0], [6, 0]]),
    w=out("int32", [[3, 3], [0, 0], [6, 0]]),
    b=out("bool", [[1, 0], [0, 0], [1, 0]]),
    c=out("bool", [[0, 1], [1, 1], [1, 1]]),
)
def bits_and_truth_values(A, bits, y, z, w, b, c):
    for row in A.tiles():
        both = ev.local(2, np.int32)
        either = ev.local(2, np.int64)
        odd = ev.local(2, np.int32)
        some = ev.local(2, bool)
        every = ev.local(2, np.bool_)
        for i in range(2):
            both[i] = 7
            every[i] = True
        for k in A.atoms(row):
            i = A.column(k) % 2
            both[i] &= bits[A.column(k)]
            either[i] |= bits[A.column(k)]
            odd[i] ^= bits[A.column(k)]
            some[i] = some[i] or bits[A.column(k)] == 6
            every[i] &= bits[A.column(k)] != 5
        for i in range(2):
            y[row, i] = both[i]
            z[row, i] = either[i]
            w[row, i] = odd[i]
            b[row, i] = some[i]
            c[row, i] = every[i]


@case(A=A3, y=out("float32", [1 - 6, 1, 1 - 4]), z=out("float32", [-6, 0, -4]))
def what_it_holds_before_the_loop_enters_once(A, y, z):
    for row in A.tiles():
        h = ev.local(3, np.float32)
        h[1] = 1
        for k in A.atoms(row):
            h[1] -= A.value(k)
            h[A.column(k) * 0 + 2] -= A.value(k)
        y[row] = h[1] + h[0]
        z[row] = h[2]


@case(A=A3, y=out("int32", [33, 0, 11]))
def several_contributions_of_an_atom(A, y):
    for row in A.tiles():
        h = ev.local(2, np.int32)
        for k in A.atoms(row):
            h[0] += 1
            for i in range(2):
                h[i] += 5
            if A.column(k) < 10:
                h[1] += 0
        y[row] = h[0] + h[1]


@case(A=A3, y=out("float32", [6, 0, 4]), z=out("float32", [14, 0, 16]))
def later_passes_read_it(A, y, z):
    for row in A.tiles():
        h = ev.local(4, np.float32)
        for k in A.atoms(row):
            h[A.column(k)] += A.value(k)
        y[row] = sum(h[A.column(k)] for k in A.atoms(row))
        g = ev.local(4, np.float32)
        for k in A.atoms(row):
            g[3 - A.column(k)] += A.value(k) * h[A.column(k)]
        z[row] = g[1] + g[2] + g[3]


@case(A=A3, y=out("float32", [12, 0, 8]))
def a_loop_accumulates_on(A, y):
    for row in A.tiles():
        h = ev.local(3, np.float32)
        for k in A.atoms(row):
            h[A.column(k)] += A.value(k)
        for k in A.atoms(row):
            h[A.column(k)] += A.value(k)
        y[row] = h[0] + h[1] + h[2]


@case(A=A3, x=f32(2, 3, 4), y=out("float32", [2, 3, 4]), z=out("float32", [6, 0, 4]))
def it_is_kept_from_one_pass_to_the_next(A, x, y, z):
    """What x held is no longer there when the second pass has ended."""
    for row in A.tiles():
        h = ev.local(2, np.float32)
        h[0] = x[row]
        x[row] = 0.0
        total = 0.0
        for k in A.atoms(row):
            total += A.value(k)
        z[row] = total
        y[row] = h[0]
        x[row] = h[0]


@case(A=A3, y=out("float32", [3, 0, 4]), z=out("float32", [2, 0, 0]))
def the_greatest_two_by_insertion(A, y, z):
    for row in A.tiles():
        best = ev.local(2, np.float32)
        for k in range(A.begin(row), A.end(row)):
            v = A.value(k)
            if v > best[0]:
                best[1] = best[0]
                best[0] = v
            elif v > best[1]:
                best[1] = v
        y[row], z[row] = best[0], best[1]


@case(A=tiles(2), x=f32(3, 1, 2), y=out("float32", [1, 1]), z=out("float32", [3, 3]))
def swaps_and_loops(A, x, y, z):
    for t in A.tiles():
        h = ev.local(3, np.float32)
        for i in range(len(h)):
            h[i] = x[i]
        i = 0
        while i < h.size - 1:
            if h[i] > h[i + 1]:
                h[i], h[i + 1] = h[i + 1], h[i]
                i = 0
            else:
                i += 1
        y[t] = h[0]
        z[t] = h[h.shape[0] - 1]


@case(A=tiles(2), y=out("int32", [5, 5]), n=3)
def an_element_is_read_where_it_stands(A, y, n):
    """The bound of a range is not read again, and neither is what an expression has read before a store."""
    for t in A.tiles():
        h = ev.local(2, np.int32)
        h[0] = n
        for i in range(h[0]):
            h[0] += i
        old = h[0]
        h[0] = 1
        y[t] = old - h[0]


@case(A=tiles(3), y=out("int32", [0, 1, 2]))
def each_tile_and_each_time_anew(A, y):
    for t in A.tiles():
        for i in range(3):
            h = ev.local(2, np.int32)
            h[i % 2] += t
            y[t] = h[0] + h[1]
        h = ev.local(2, np.int32)
        y[t] += h[0] + h[1]


@case(A=tiles(2), y=out("complex64", [6j, 6j]), z=out("int64", [0, 1]))
def any_type_and_a_captured_length(A, y, z):
    for t in A.tiles():
        h = ev.local(FOUR, np.complex64)
        g = ev.local(FOUR - 1, int)
        for i in range(FOUR):
            h[i] += 1j * i
        g[t] = t
        y[t] = h[1] + h[2] + h[3] + h[0]
        z[t] = g[t]


@case(
    A=rows([1j, 2], [], [3], dtype="complex64"),
    v=c64(1j, 2, 3),
    y=out("complex64", [[-1, 4], [0, 0], [3j, 0]]),
)
def complex_elements(A, v, y):
    for row in A.tiles():
        h = ev.local(2, np.complex64)
        for k in A.atoms(row):
            h[A.column(k)] += A.value(k) * v[A.column(k)]
        for i in range(2):
            y[row, i] = h[i]


@case(A=A3, x=f64(1, 2, 3), y=out("float32", [[6, 12, 18], [0, 0, 0], [4, 8, 12]]))
def lanes_with_arrays_of_their_own(A, x, y):
    for row in A.tiles():
        for j in ev.lanes(len(x)):
            h = ev.local(2, np.float32)
            for k in A.atoms(row):
                h[A.column(k) % 2] += A.value(k) * np.float32(x[j])
            y[row, j] = h[0] + h[1]


@case(A=A3, y=out("float32", [[1, 2], [0, 0], [4, 0]]))
def lanes_accumulate_in_a_pass(A, y):
    for row in A.tiles():
        h = ev.local(2, np.float32)
        for k in A.atoms(row):
            for j in ev.lanes(2):
                h[j] += A.value(k) if A.column(k) == j else 0.0
        for j in ev.lanes(2):
            y[row, j] = h[j]


@ev.func
def middle(h, i):
    return (h[i] + h[i + 1]) / 2


@case(A=tiles(2), y=out("float32", [0.5, 1.5]))
def functions_read_it(A, y):
    for t in A.tiles():
        h = ev.local(3, np.float32)
        for i in range(3):
            h[i] = i
        y[t] = middle(h, t)


@case(A=tiles(2), flags=truths(1, 0), y=out("int32", [7, 1]))
def under_conditions(A, flags, y):
    for t in A.tiles():
        h = ev.local(2, np.int32)
        if flags[t]:
            h[0] = 7
        else:
            h[1] = 1
        y[t] = h[0] if flags[t] else h[1]


@case(A=tiles(2), z=i64(0, 0), y=out("int64", [1, 1]), seen=out("int32", [2]))
def an_atomic_as_an_index_is_evaluated_once(A, z, y, seen):
    for t in A.tiles():
        h = ev.local(2, np.int64)
        h[ev.atomic_add(seen, 0, 1) % 1] += z[t] + 1
        y[t] = h[0]


@case(A=A3, total=out("float32", [10]), most=out("int32", [3]))
def totals_over_tiles(A, total, most):
    all_ = 0.0
    longest = 0
    for row in A.tiles():
        h = ev.local(2, np.float32)
        for k in A.atoms(row):
            h[A.column(k) % 2] += A.value(k)
            longest = max(longest, np.int32(A.column(k)) + 1)
        all_ += h[0] + h[1]
    total[0] = all_
    most[0] = longest


@case(owned_only=True, A=A3, y=out("int32", [[3, 0, 0], [0, 0, 0], [1, 0, 0]]))
def a_large_one(A, y):
    for row in A.tiles():
        h = ev.local(17, np.int32)
        for k in A.atoms(row):
            h[16 - A.column(k) // 8] += 1
        for i in range(3):
            y[row, i] = h[16 - i]


@case(owned_only=True, A=A3, y=out("float32", [18, 0, 12]))
def a_pass_in_a_serial_loop(A, y):
    for row in A.tiles():
        h = ev.local(2, np.float32)
        for _ in range(3):
            for k in A.atoms(row):
                h[A.column(k) % 2] += A.value(k)
        y[row] = h[0] + h[1]
