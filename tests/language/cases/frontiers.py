"""Frontiers: tiles that are pushed while others are walked."""

# ruff: noqa: B007

import evenly as ev

from .table import case, f32, i32, out, rows

# 0 -> 1, 2; 1 -> 3; 2 -> 3, 3; 3 -> 4; 4 -> 0; 5 -> 6; 6 -> nothing
GRAPH = rows(
    *[[1, 2], [3], [4, 5], [6], [7], [8], []], columns=[[1, 2], [3], [3, 3], [4], [0], [6], []]
)


@case(
    F=ev.frontier(GRAPH),
    level=out("int32", [0, 1, 1, 2, 3, -1, -1], -1),
    n=out("int32", [4]),
)
def breadth_first(F, level, n):
    level[0] = 0
    F.push(0)
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                v = F.column(e)
                if ev.atomic_cas(level, v, -1, depth) == -1:
                    F.push(v)
    n[0] = depth


@case(
    F=ev.frontier(GRAPH, unique=True),
    distance=out("float32", [0, 1, 2, 4, 10, 99, 99], [0, 99, 99, 99, 99, 99, 99]),
)
def shortest_paths_of_what_changed(F, distance):
    F.push(0)
    while len(F) > 0:
        for u in F.tiles():
            here = distance[u]
            for e in F.atoms(u):
                v = F.column(e)
                candidate = here + F.value(e)
                if candidate < ev.atomic_min(distance, v, candidate):
                    F.push(v)


@ev.func
def visit(F, level, v, depth):
    if ev.atomic_cas(level, v, -1, depth) == -1:
        F.push(v)


@case(F=ev.frontier(GRAPH), level=out("int32", [0, 1, 1, 2, 3, -1, -1], -1))
def functions_push(F, level):
    visit(F, level, 0, 0)
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                visit(F, level, F.column(e), depth)


@case(
    F=ev.frontier(GRAPH, capacity=20),
    count=out("int32", [0, 1, 1, 3, 0, 0, 0]),
    n=out("int32", [3]),
)
def duplicates_are_walked_as_often_as_they_are_pushed(F, count, n):
    F.push(0)
    for u in F.tiles():
        for e in F.atoms(u):
            F.push(F.column(e))
    for u in F.tiles():
        for e in F.atoms(u):
            F.push(F.column(e))
        ev.atomic_add(count, u, 1)
    n[0] = len(F)
    for u in F.tiles():
        ev.atomic_add(count, u, 1)


@case(
    F=ev.frontier(GRAPH, unique=True),
    count=out("int32", [1, 1, 1, 1, 0, 0, 0]),
    n=out("int32", [2, 1, 0]),
)
def duplicates_are_kept_out_of_one_list_at_a_time(F, count, n):
    F.push(0)
    F.push(0)
    for u in F.tiles():
        count[u] += 1
        for e in F.atoms(u):
            F.push(F.column(e))
    n[0] = len(F)
    for u in F.tiles():
        count[u] += 1
        for e in F.atoms(u):
            F.push(F.column(e))
    n[1] = len(F)
    for u in F.tiles():
        count[u] += 1
    n[2] = len(F)


@case(F=ev.frontier(GRAPH), y=out("float32", [4, 6, 14, 12, 14, -1, -1], -1))
def two_passes_over_lists_that_grow(F, y):
    F.push(0)
    turn = 0
    while len(F) > 0 and turn < 4:
        turn += 1
        for u in F.tiles():
            total = sum(F.value(k) for k in F.atoms(u))
            most = max((F.value(k) - total for k in F.atoms(u)), default=0.0)
            y[u] = total + total + most if u > 0 else total + 1
            for k in F.atoms(u):
                if ev.atomic_max(y, F.column(k), -0.5) == -1:
                    F.push(F.column(k))


@case(A=GRAPH, F=ev.frontier(GRAPH), keep=i32(1, 0, 1, 0, 0, 1, 1), n=out("int64", [4, 5, 18]))
def pushed_by_a_loop_over_another_layout(A, F, keep, n):
    for row in A.tiles():
        if keep[row] == 1:
            F.push(row)
    n[0] = len(F)
    atoms, ids = 0, 0
    for u in F.tiles():
        ids += u
        for k in F.atoms(u):
            atoms += 1
    n[1] = atoms
    n[2] = ids + (5 if len(F) == 0 else 0)


@case(
    A=GRAPH, F=ev.frontier(GRAPH), y=out("int32", [1, 0, 0, 1, 0, 0, 1]), x=f32(1, 0, 0, 1, 0, 0, 1)
)
def a_push_of_a_tile_after_its_pass(A, F, x, y):
    for row in A.tiles():
        many = sum(1 for k in A.atoms(row))
        if x[row] > many - 5:
            many += 1
            if x[row] > 0:
                F.push(row)
    for u in F.tiles():
        y[u] = 1


@case(F=ev.frontier(GRAPH), G=ev.frontier(GRAPH), y=out("int32", [1, 2, 2, 1, 0, 0, 0]))
def two_frontiers(F, G, y):
    F.push(0)
    F.push(3)
    for u in F.tiles():
        y[u] = 1
        for k in F.atoms(u):
            if F.column(k) < 3:
                G.push(F.column(k))
    while len(G) > 0:
        for v in G.tiles():
            y[v] = 2


@case(F=ev.frontier(GRAPH), y=out("int32", [0, 0, 0, 0, 0, 0, 0]), n=out("int32", [0]))
def nothing_is_pushed(F, y, n):
    for u in F.tiles():
        y[u] = 1
    n[0] = len(F) + F.num_tiles + F.num_atoms


@case(
    F=ev.frontier(GRAPH), level=out("int32", [0, 1, 1, 2, -1, -1, -1], -1), n=out("int32", [2, 1])
)
def at_most_so_many_levels(F, level, n):
    level[0] = 0
    F.push(0)
    depth = 0
    while len(F) > 0 and depth < 2:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                if ev.atomic_cas(level, F.column(e), -1, depth) == -1:
                    F.push(F.column(e))
    n[0] = depth
    n[1] = len(F)


@case(F=ev.frontier(GRAPH), level=out("int32", [0, 1, 1, 2, 3, -1, -1], -1), n=out("int32", [4]))
def until_nothing_is_left(F, level, n):
    level[0] = 0
    F.push(0)
    depth = 0
    while True:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                if ev.atomic_cas(level, F.column(e), -1, depth) == -1:
                    F.push(F.column(e))
        if len(F) == 0:
            break
    n[0] = depth


@case(
    F=ev.frontier(GRAPH, check=False),
    y=out("int32", [1, 1, 1, 1, 0, 0, 0]),
    n=out("int64", [2, 3, 2, 0]),
)
def the_atoms_that_wait(F, y, n):
    F.push(0)
    n[0] = F.waiting_atoms
    for u in F.tiles():
        y[u] = 1
        for k in F.atoms(u):
            F.push(F.column(k))
    while F.waiting_atoms > 2:
        n[1] = F.waiting_atoms
        for u in F.tiles():
            y[u] = 1
            F.push(3)
    n[2] = len(F)
    for u in F.tiles():
        y[u] = 1
    n[3] = F.waiting_atoms


TWICE, NEVER = True, None


@case(F=ev.frontier(GRAPH), A=GRAPH, y=out("int32", [2, 1, 1, 1, 1, 1, 1]), n=out("int32", [2]))
def loops_under_an_if_that_is_decided_early(F, A, y, n):
    if TWICE:
        rounds = 0
        while rounds < 2:
            rounds += 1
            if NEVER is None:
                F.push(0)
                for u in F.tiles():
                    y[u] += 1
        n[0] = rounds
    if NEVER is not None:
        for v in A.tiles():
            y[v] = 9
    else:
        for v in A.tiles():
            y[v] = max(y[v], 1)


@case(F=ev.frontier(GRAPH), level=out("int32", [0, 1, 1, 2, 3, -1, -1], -1), n=out("int64", [5, 7]))
def what_is_counted_at_the_head_of_a_round(F, level, n):
    level[0] = 0
    F.push(0)
    tiles, atoms, depth = 0, 0, 0
    while len(F) > 0:
        depth += 1
        tiles += len(F)
        atoms += F.waiting_atoms
        for u in F.tiles():
            for e in F.atoms(u):
                if ev.atomic_cas(level, F.column(e), -1, depth) == -1:
                    F.push(F.column(e))
    n[0] = tiles
    n[1] = atoms
