"""`while` around loops over tiles."""

# ruff: noqa: B007

import evenly as ev

from .table import case, f32, i32, out, rows

# A path 0 - 1 - 2 - 3, and 4 alone: edges in both directions.
PATH = rows(*[[1, 1], [1, 1], [1, 1], [1], []], columns=[[1, 1], [0, 2], [1, 3], [2], []])


@case(A=rows([1, 2], [], [3]), y=out("float32", [12, 0, 12]), n=out("int32", [2]))
def until_a_sum_is_large(A, y, n):
    total, rounds = 0.0, 0
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row))
        total += sum(A.value(k) for k in A.atoms(row))
    while total < 20:
        total = 0.0
        rounds += 1
        for row in A.tiles():
            y[row] *= 2
            total += y[row]
    n[0] = rounds


@case(A=rows([1, 2], [], [3]), y=out("float32", [5, 5, 5], 5), n=out("int32", [0], 7))
def no_round_at_all(A, y, n):
    rounds = 0
    while rounds > 0:
        rounds += 1
        for row in A.tiles():
            y[row] = 0.0
    n[0] = rounds


@case(A=PATH, label=out("int32", [0, 0, 0, 0, 4]), n=out("int32", [1]))
def the_least_label_of_a_component(A, label, n):
    for v in A.tiles():
        label[v] = v
    rounds = 0
    changed = True
    while changed:
        changed = False
        rounds += 1
        for v in A.tiles():
            for k in A.atoms(v):
                u = A.column(k)
                changed = changed or label[u] < label[v]
        for v in A.tiles():
            mine = label[v]
            for k in A.atoms(v):
                ev.atomic_min(label, A.column(k), mine)
    n[0] = 1 if rounds >= 2 else 0


@case(A=rows([1], [2], [4]), flag=out("int32", [0], 3), y=out("float32", [3, 6, 12]))
def the_condition_reads_an_array(A, flag, y):
    while flag[0] > 0:
        for row in A.tiles():
            y[row] += sum(A.value(k) for k in A.atoms(row))
        flag[0] -= 1


@case(
    A=rows([1], [2], [4]),
    a=out("int64", [5]),
    b=out("int64", [8]),
    y=out("float32", [5, 10, 20]),
)
def names_pass_from_round_to_round(A, a, b, y):
    p, q, n = 0, 1, 0
    while n < 5:
        p, q = q, p + q
        n += 1
        for row in A.tiles():
            y[row] = p * sum(A.value(k) for k in A.atoms(row))
    a[0] = p
    b[0] = q


@case(A=rows([1], [2], [4]), x=f32(1, 2, 3), y=out("float32", [2, 8, 24]), n=out("int32", [14]))
def values_of_before_the_loop(A, x, y, n):
    first = x[0] + 1
    i = 0
    last = 0
    while i < len(x):
        again = first * x[i]
        for row in A.tiles():
            y[row] = again * sum(A.value(k) for k in A.atoms(row)) if i < 3 else 0.0
        last += i + int(again)
        i += 1
    for row in A.tiles():
        y[row] = first * x[row] * sum(A.value(k) for k in A.atoms(row))
    n[0] = last + int(first) - 3


@case(A=rows([1], [2], [4]), y=out("int32", [6, 6, 6]), n=out("int32", [6]))
def a_while_in_a_while(A, y, n):
    outer = 0
    all_rounds = 0
    while outer < 3:
        inner = 0
        while inner < 2:
            for row in A.tiles():
                y[row] += 1
            inner += 1
            all_rounds += 1
        outer += 1
    n[0] = all_rounds


@case(A=rows([1], [2], [4]), flag=out("int32", [4], 0), y=out("int32", [4, 4, 4]))
def an_atomic_in_the_condition(A, flag, y):
    n = 0
    while ev.atomic_add(flag, 0, 1) < 3:
        n = n + 1
        for row in A.tiles():
            y[row] = n + 1


@case(A=rows([1, 2], [], [3]), y=out("float32", [8, 0, 8]), kind=out("float64", [0.5]))
def a_name_becomes_a_float_in_a_round(A, y, kind):
    step = 1
    more = True
    while more:
        total = 0.0
        for row in A.tiles():
            y[row] = y[row] + sum(A.value(k) for k in A.atoms(row)) + step - 0.5
            total += y[row]
        for row in A.tiles():
            y[row] = y[row] if len(y) > 5 else (8.0 if A.begin(row) < A.end(row) else 0.0)
        step = step / 2
        more = step > 0.5
    kind[0] = step


@case(
    A=rows([1, 2], [], [3]),
    B=rows([1], [1, 1]),
    y=out("float32", [3, 0, 3]),
    z=out("int32", [3, 6]),
)
def two_layouts_in_a_round(A, B, y, z):
    i = 0
    while i < 3:
        many = 0
        for row in A.tiles():
            y[row] = sum(A.value(k) for k in A.atoms(row))
        for row in B.tiles():
            for k in B.atoms(row):
                many += 1
        for row in B.tiles():
            z[row] += sum(1 for k in B.atoms(row)) + (many - 3)
        i += 1


@case(A=rows([1, 2], [], [3]), limit=i32(2), y=out("int32", [2, 2, 2]))
def a_serial_while_beside_it(A, limit, y):
    n = 0
    while n < 4:
        n += 2
        if n > 100:
            break
    i = n
    while i > limit[0]:
        i -= 1
        for row in A.tiles():
            if row > 5:
                continue
            j = 0
            while True:
                j += 1
                if j > 2:
                    break
            y[row] += j - 2


@case(A=rows([1], [2], [4]), y=out("int32", [3, 3, 3]), n=out("int32", [3, 4]))
def at_most_so_many_rounds(A, y, n):
    changed = True
    rounds = 0
    while changed and rounds < 3:
        rounds += 1
        changed = False
        for row in A.tiles():
            y[row] += 1
            changed = changed or y[row] < 9
    n[0] = rounds
    turn = 0
    while turn < 4 and (changed or turn < 9):
        turn += 1
        for row in A.tiles():
            changed = changed or row > 5
    n[1] = turn


@case(
    A=rows([1, 2], [], [3]),
    flag=out("int32", [3], 0),
    y=out("float32", [9, 0, 9]),
    n=out("float64", [3, 7.5, 2]),
)
def a_break_after_the_loops_of_a_round(A, flag, y, n):
    left, step, odd = 5, 0, 0
    more = 1
    while True:
        step += 1
        for row in A.tiles():
            y[row] += sum(A.value(k) for k in A.atoms(row))
        if step == 3:
            left = left * 1.5
            if step > 2 or left > 100:
                break
            more = 2
        else:
            odd += 1
        if step > 100:
            odd = 100
            break
        more = more + 1
    for row in A.tiles():
        if row == 0:
            ev.atomic_max(flag, 0, step)
    n[0] = more
    n[1] = left
    n[2] = odd


@case(A=rows([1], [2], [4]), flag=out("int32", [5], 0), y=out("int32", [2, 2, 2]))
def no_condition_is_tested_after_a_break(A, flag, y):
    """In the condition an atomic counts how often it is tested."""
    n = 0
    while ev.atomic_add(flag, 0, 2) < 100:
        n += 1
        for row in A.tiles():
            y[row] += 1
        if n == 2:
            flag[0] += 1
            break


@case(A=rows([1], [2], [4]), y=out("int32", [4, 4, 4]), n=out("int32", [4, 2, 3]))
def breaks_and_continues_of_nested_rounds(A, y, n):
    outer, inner, skipped = 0, 0, 0
    while outer < 10:
        inner = 0
        while inner < 10:
            inner += 1
            for row in A.tiles():
                y[row] += 1
            if inner == 2:
                break
        outer += 1
        n[0] += inner
        if outer == 2:
            break
        if n[0] > 0:
            skipped += 1
            continue
        skipped += 100
    while skipped < 3:
        skipped += 1
        for row in A.tiles():
            y[row] += 0
        if skipped < 100:
            continue
        skipped = 500
    n[1] = outer
    n[2] = skipped


@case(A=rows([1], [2], [4]), y=out("int32", [4, 4, 4]), n=out("int32", [4]))
def the_condition_reads_what_an_array_was_before(A, y, n):
    """It is not read anew at the end of each round."""
    stop = y[0] > 0
    rounds = 0
    while rounds < 4 and not stop:
        rounds += 1
        for row in A.tiles():
            y[row] += 1
    n[0] = rounds
