"""Functions that the refused kernels call."""

# ruff: noqa: B007

import evenly as ev


@ev.func
def square(v):
    return v * v


@ev.func
def both(a, b):
    return a + b


@ev.func
def pair(a, b):
    return a + b, a - b


@ev.func
def counted(v):
    return ev.rank(v > 0)


@ev.func
def nothing(v):
    v = v + 1


@ev.func
def stores(y):
    y[0] = 1.0
    return 0


@ev.func
def pushes(F):
    F.push(0)
    return 0


@ev.func
def appends(out):
    out.append(0, 1.0)
    return 0


@ev.func
def adds(y):
    return ev.atomic_add(y, 0, 1.0)


@ev.func
def endless(v):
    return endless(v)


@ev.func
def ping(v):
    return pong(v)


@ev.func
def pong(v):
    return ping(v)


@ev.func
def returns_in_a_loop(v):
    for i in range(3):
        if i > v:
            return i
    return 0


@ev.func
def sometimes_a_pair(v):
    if v > 0:
        return 1, 2
    return 3


@ev.func
def sometimes_nothing(v):
    if v > 0:
        return 1


@ev.func
def loops_over_tiles(A):
    for r in A.tiles():
        pass
    return 0


@ev.func
def makes_scratch(A, y):
    h = ev.scratch(8, float)
    y[0] = h[0]


@ev.func
def stores_locally(h):
    h[0] = 1.0


@ev.func
def walks_tiles(A):
    for r in A.tiles():
        pass


@ev.func
def starred(*v):
    return 1


@ev.func
def words(v):
    return "text"


def plain(v):
    return v
