"""Branches, serial loops, logic, tuples, names."""

# ruff: noqa: B007

import evenly as ev

from .table import case, f32, f64, i32, out, rows, tiles, truths

NAME = 5
LIMIT = 3


# ---- branches ------------------------------------------------------------------------------------
@case(A=tiles(4), x=f32(-1, 0, 2, 9), y=out("int32", [-1, 0, 1, 2]))
def if_elif_else(A, x, y):
    for t in A.tiles():
        if x[t] < 0:
            kind = -1
        elif x[t] == 0:
            kind = 0
        elif x[t] < 5:
            kind = 1
        else:
            kind = 2
        y[t] = kind


@case(A=tiles(3), x=f32(0, 2, 5), y=out("float32", [1, 2, 5]), z=out("float64", [0.25, 0, 0]))
def paths_meet_in_their_common_type(A, x, y, z):
    for t in A.tiles():
        v = x[t]
        if v == 0:
            v = 1
        y[t] = v
        w = 0
        if t == 0:
            w = 0.25
        z[t] = w


@case(A=tiles(3), x=f32(-2, 0, 3), y=out("float32", [2, 0, 3]), z=out("int32", [1, 2, 2]))
def conditional_expressions(A, x, y, z):
    for t in A.tiles():
        y[t] = x[t] if x[t] >= 0 else -x[t]
        z[t] = 1 if x[t] < 0 else 2


@case(A=tiles(3), x=f32(1, 2), y=out("float32", [1, 2, -1]))
def only_the_chosen_side_is_evaluated(A, x, y):
    for t in A.tiles():
        y[t] = x[t] if t < len(x) else -1.0


@case(A=tiles(4), y=out("int32", [0, 11, 0, 13]))
def continue_in_the_loop_over_tiles(A, y):
    for t in A.tiles():
        if t % 2 == 0:
            continue
        y[t] = t + 10


# ---- logic ---------------------------------------------------------------------------------------
@case(
    A=tiles(4),
    x=f32(1, 2),
    y=out("bool", [False, True, False, False]),
    z=out("bool", [True, True, False, False]),
)
def and_or_stop_early(A, x, y, z):
    for t in A.tiles():
        y[t] = t < len(x) and x[t] > 1
        z[t] = not (t >= len(x) or x[t] < 1)


@case(A=tiles(4), hits=out("int32", [2]), y=out("bool", [False, False, True, True]))
def short_circuits_guard_effects(A, hits, y):
    """The atomic happens only where the left side leaves the answer open."""
    for t in A.tiles():
        y[t] = t >= LIMIT - 1 and ev.atomic_add(hits, 0, 1) >= 0


@case(
    A=tiles(5),
    y=out("bool", [False, True, True, False, False]),
    z=out("int32", [0, 1, 1, 1, 1]),
    w=out("int32", [0, 0, 0, 1, 1]),
)
def chained_comparisons(A, y, z, w):
    """The middle is evaluated once; what stands after a comparison that fails, not at all."""
    for t in A.tiles():
        y[t] = 0 < t < 3
        if 0 < t + ev.atomic_add(z, t, 1 if t > 0 else 0) < 10 != 5:
            pass
        if 2 < t < 3 + t + ev.atomic_add(w, t, 1):
            pass


@case(
    A=tiles(2),
    b=truths(1, 0),
    y=out("bool", [False, True]),
    z=out("bool", [True, False]),
    w=out("bool", [True, True]),
)
def truth_values(A, b, y, z, w):
    for t in A.tiles():
        y[t] = not b[t]
        z[t] = b[t] & True | (b[t] ^ b[t])
        w[t] = b[t] == (t == 0)


@case(
    A=tiles(3),
    x=f32(0, 2, float("nan")),
    a=i32(0, 3, 0),
    y=out("int32", [0, 1, 1]),
    z=out("int32", [0, 1, 0]),
)
def numbers_are_true_unless_zero(A, x, a, y, z):
    for t in A.tiles():
        if x[t]:
            y[t] = 1
        z[t] = 1 if a[t] else 0


# ---- serial loops --------------------------------------------------------------------------------
@case(A=tiles(4), y=out("int32", [0, 1, 3, 6]), z=out("int32", [9, 6, 3, 0]))
def range_loops(A, y, z):
    for t in A.tiles():
        total = 0
        for i in range(t + 1):
            total += i
        y[t] = total
        down = 0
        for i in range(9, 3 * t, -3):
            down += 3
        z[t] = down


@case(A=tiles(3), y=out("int32", [4, 4, 4]))
def a_loop_variable_may_be_assigned(A, y):
    """The number of rounds does not change."""
    for t in A.tiles():
        rounds = 0
        for i in range(4):
            rounds += 1
            i = i + 10
        y[t] = rounds


@case(A=tiles(4), y=out("int32", [0, 1, 7, 2]))
def while_loops(A, y):
    """Collatz: the steps from 1, 2, 3, 4 down to 1."""
    for t in A.tiles():
        n = t + 1
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        y[t] = steps


@case(A=tiles(3), x=f32(3, 8, 100), y=out("float32", [3, 8, 100]), m=out("int32", [[0, 1]] * 3))
def an_index_that_a_loop_counts(A, x, y, m):
    """It is another one for each tile, or lane: the loop's condition says so, and its `break`."""
    for t in A.tiles():
        i = 0
        while i < t:
            i += 1
        y[i] = x[t]
        for j in ev.lanes(2):
            n = 0
            while True:
                if n >= j:
                    break
                n += 1
            m[t, n] = n


@case(A=tiles(3), x=f32(3, 8, 100), y=out("int32", [2, 3, 5]), z=out("int32", [7, 7, 7]))
def break_and_continue(A, x, y, z):
    for t in A.tiles():
        steps = 0
        bound = 1.0
        while True:
            if bound >= x[t] or steps == 5:
                break
            steps += 1
            bound = bound * 2
        y[t] = steps
        odd = 0
        for i in range(10):
            if i % 2 == 0:
                continue
            if i > 6:
                break
            odd += i - i // 3
        z[t] = odd


@case(
    A=tiles(3), x=f32(3, 8, 100), y=out("float64", [3, 8, 12.5]), z=out("int32", [10, 1, 2]),
    total=out("float64", [23.5]),
)  # fmt: skip
def what_a_break_brings_along(A, x, y, z, total):
    """Assigned anew on the way to a `break`, in another type, and again on the way round."""
    whole = 0.0
    for t in A.tiles():
        last = t + 0.5
        seen = t
        for i in range(3):
            last = x[t]
            seen = i + 10
            if last < 50:
                seen = 10 if t == 0 else 1
                break
            if i == 1:
                seen = 2
                last = 12.5
                break
            last = last * 2
            seen = i
        y[t] = last
        z[t] = seen
        whole += last
    total[0] = whole


@case(A=tiles(2), y=out("int32", [3, 6]))
def nested_loops_and_break(A, y):
    """`break` leaves the inner loop only."""
    for t in A.tiles():
        count = 0
        for i in range(3):
            for j in range(5):
                if j > t:
                    break
                count += 1
        y[t] = count


@case(
    A=tiles(2),
    x=f32(0.1, 0.1),
    y=out("float64", [float(f32(0.1)[0]) + 0.0, float(f32(0.1)[0] + f32(0.1)[0])]),
)
def loop_carried_types(A, x, y):
    """`acc` starts as a weak float and is a float32 all the way."""
    for t in A.tiles():
        acc = 0.0
        for i in range(t + 1):
            acc = acc + x[i]
        y[t] = acc


@case(A=tiles(1), y=out("float64", [2.5]), z=out("int64", [1]))
def a_loop_turns_an_integer_into_a_float(A, y, z):
    for t in A.tiles():
        v = 0
        for i in range(5):
            v = v + 0.5
        y[t] = v
        w = 7
        for i in range(2):
            w = w // 2
        z[t] = w


@case(A=tiles(2), y=out("int64", [13, 21]), z=out("int64", [21, 34]))
def loops_carry_tuples(A, y, z):
    for t in A.tiles():
        pair = (0, 1)
        for i in range(7 + t):
            pair = (pair[1], pair[0] + pair[1])
        y[t], z[t] = pair


@case(A=tiles(2), n=2, y=out("int32", [2, 2]))
def a_loop_that_may_not_run(A, n, y):
    for t in A.tiles():
        last = n
        for i in range(5, 5 - t):
            last = i
        y[t] = last


# ---- names and tuples ----------------------------------------------------------------------------
@case(A=tiles(2), y=out("int32", [105, 106]))
def names_shadow_what_is_outside(A, y):
    for t in A.tiles():
        NAME = 100 + t
        y[t] = NAME + 5


@case(A=tiles(2), x=f32(3, 4), y=out("float32", [9, 16]), z=out("int32", [1, 2]))
def a_name_may_change_its_type(A, x, y, z):
    for t in A.tiles():
        v = t + 1
        z[t] = v
        v = x[t]
        y[t] = v * v


@case(
    A=tiles(2),
    x=f32(1, 2),
    y=out("float32", [2, 1]),
    a=out("int32", [7, 7]),
    b=out("int32", [6, 7]),
)
def swaps_and_unpacking(A, x, y, a, b):
    for t in A.tiles():
        p, q = x[t], x[1 - t]
        p, q = q, p
        y[t] = p
        (i, j), k = (6, t), 7
        i, j, k = k, i + j, i
        a[t], b[t] = i, j
        m = n = i + 1
        m += n


@case(A=tiles(3), y=out("int32", [1, 2, 3]), z=out("float32", [0.5, 1.5, 2.5]))
def tuples_in_conditions(A, y, z):
    for t in A.tiles():
        pair = (t + 1, t + 0.5)
        if t > 1:
            pair = (3, 2.5)
        n, v = pair if t >= 0 else (0, 0.0)
        y[t] = n
        z[t] = v


@case(A=tiles(1), m=f64(0, 0, 0, 0, 0, 0).reshape(2, 3), y=out("int32", [6]))
def nested_range_over_an_array(A, m, y):
    for t in A.tiles():
        count = 0
        for i in range(m.shape[0]):
            for j in range(len(m) + 1):
                if m[i, j] == 0:
                    count += 1
        y[t] = count


@case(A=rows([5, 6], [], [7]), y=out("float32", [5, 0, 7]), z=out("int32", [0, 2, 2]))
def layout_fields_are_readable(A, y, z):
    for t in A.tiles():
        first = A.offsets[t]
        z[t] = first
        if A.end(t) > A.begin(t):
            y[t] = A.values[first]
