"""Complex numbers: operators, parts, conversions, accumulation."""

import math

import numpy as np

import evenly.language.names as ev
from evenly.language.func import func

from .table import c64, c128, case, f32, f64, i32, out, rows, tiles

TURN = 1j
TYPED = np.complex64(2 - 1j)
INF, NAN = math.inf, math.nan
HUGE = 1e300


@case(
    A=tiles(2),
    a=c64(1 + 2j, -3),
    b=c64(3 - 1j, 2j),
    y=out("complex64", [(1 + 2j) * (3 - 1j) + 1j, -3 * 2j + 3 + 2j]),
    z=out("complex64", [-(1 + 2j) - 2, 1]),
)
def sums_and_products(A, a, b, y, z):
    for t in A.tiles():
        y[t] = a[t] * b[t] - a[t] + b[t] + TURN * (t * 0 + 1) - (2 - 3j if t == 0 else 1j)
        if t == 0:
            y[t] += a[t] - b[t] + (2 - 3j)
            z[t] = -a[t] - 2
        else:
            y[t] += a[t] - b[t] + 3 + 2j
            z[t] = +a[t] + 4


@case(
    A=tiles(4),
    f=f32(2, 2, 2, 2),
    d=f64(2, 2, 2, 2),
    i=i32(2, 2, 2, 2),
    c=c64(1j, 1j, 1j, 1j),
    s=1 - 1j,
    h=np.complex64(1j),
    y=out("complex128", [2j, 2j, 2j, 2 - 2j]),
    z=out("complex64", [2j, 4 - 2j, 2j, 2]),
)
def beside_other_types(A, f, d, i, c, s, h, y, z):
    for t in A.tiles():
        y[t] = d[t] * c[t] if t == 0 else i[t] * c[t] if t == 1 else f[t] * c[t]
        z[t] = f[t] * 1j if t == 0 else f[t] * TYPED if t == 1 else h * f[t]
        if t == 3:
            y[t] = s * i[t]
            z[t] = (s + h) * f[t]


@case(
    A=tiles(7),
    a=c128(1 + 2j, 1 + 2j, 1, complex(1e300, 1e300), 3 + 4j, complex(INF, 1), 0),
    b=c128(3 - 4j, -4 + 3j, 0, complex(2e300, 2e300), 2, 2, 0),
    tolerance=1e-15,
    y=out("complex128", [-0.2 + 0.4j, 0.08 - 0.44j, complex(INF, NAN), 0.5, 1.5 + 2j, complex(INF, NAN), complex(NAN, NAN)]),
)  # fmt: skip
def division(A, a, b, y):
    for t in A.tiles():
        y[t] = a[t] / b[t]


@case(
    A=tiles(5),
    a=c128(3 + 4j, complex(HUGE, HUGE), complex(-INF, NAN), -0.5, 2j),
    x=c64(3 - 4j, 0, 1e-30j, complex(3e38, 0), complex(0, NAN)),
    y=out("float64", [5, HUGE * math.sqrt(2), INF, 0.5, 2]),
    z=out("float32", [5, 0, 1e-30, 3e38, NAN]),
    tolerance=1e-7,
)
def magnitudes(A, a, x, y, z):
    for t in A.tiles():
        y[t] = abs(a[t])
        z[t] = abs(x[t])


@case(
    A=tiles(2),
    a=c64(1 + 2j, -3 - 0.5j),
    f=f32(7, 8),
    y=out("float32", [1 + 2 + 7 + 0 + 5, -3 - 0.5 + 8 + 0 + 5]),
    z=out("complex64", [1 - 2j + 7, -3 + 0.5j + 8]),
    n=out("int64", [5, 5]),
)
def parts_and_conjugates(A, a, f, y, z, n):
    for t in A.tiles():
        y[t] = a[t].real + a[t].imag + f[t].real + f[t].imag + (3 + 5j).imag
        z[t] = a[t].conjugate() + f[t].conjugate()
        n[t] = t.real + t.imag + (5 if t == 0 else 4)


@case(
    A=tiles(2),
    x=f32(1.5, -2),
    c=c64(1 + 1j, 2),
    y=out("complex128", [1.5 + 2j + 1 + 1j, -2 + 2j + 2]),
    z=out("complex64", [complex(1.5, 0.1), complex(-2, 0.1)]),
    w=out("complex64", [1 + 1j, 2]),
)
def conversions(A, x, c, y, z, w):
    for t in A.tiles():
        y[t] = complex(x[t], 2) + complex(c[t])
        z[t] = np.complex64(complex(x[t], 0.1))
        w[t] = np.complex64(np.complex128(c[t]))


@case(
    A=tiles(4),
    a=c64(1 + 2j, 1, 0, complex(NAN, 0)),
    y=out("int64", [1, 11, 0, 1]),
)
def comparisons_and_conditions(A, a, y):
    for t in A.tiles():
        y[t] = 1 if a[t] else 0
        if a[t] == 1:
            y[t] += 10
        if a[t] != a[t]:
            y[t] = y[t] * bool(a[t])


@case(
    A=rows([1 + 1j, 2, -1j], [], [3j], dtype="complex64"),
    y=out("complex64", [3, 0, 3j]),
    z=out("complex64", [2 - 2j, 1, 3j]),
    w=out("complex64", [10 + 0j, 10, 10 + 3j]),
    total=out("complex128", [3 + 3j]),
)
def accumulation(A, y, z, w, total):
    whole = 0
    for t in A.tiles():
        y[t] = sum(A.value(k) for k in A.atoms(t))
        p = 1
        s = 10.0
        for k in A.atoms(t):
            p *= A.value(k)
            s += A.value(k) - A.value(k).real
        z[t] = p
        w[t] = s
        whole += y[t]
    total[0] = whole


@func
def longer(a, b):
    return a if abs(a) >= abs(b) else b


@case(
    A=rows([1 + 1j, 2, -3j], [], [1], dtype="complex128"),
    y=out("complex128", [-3j, 0, 1]),
    far=out("int64", [2, -1, 0]),
)
def reduction_by_a_function(A, y, far):
    for t in A.tiles():
        y[t] = ev.reduce(longer, (A.value(k) for k in A.atoms(t)), 0j)
        best = ev.argmax((abs(A.value(k)) for k in A.atoms(t)), default=-1)
        far[t] = A.column(best) if best >= 0 else -1


@case(
    A=rows([1 + 1j, 2, -3j], [4], dtype="complex64", columns=[[0, 1, 0], [1]]),
    y=out("complex64", [1 - 2j, 6]),
    z=out("complex128", [5 - 2j]),
)
def atomic_additions(A, y, z):
    for t in A.tiles():
        for k in A.atoms(t):
            ev.atomic_add(y, A.column(k), A.value(k))
            if A.column(k) == 0 or A.value(k) == 4:
                ev.atomic_add(z, 0, A.value(k))


@case(
    A=rows([1 + 1j, 2], [4], dtype="complex64", columns=[[2, 0], [1]]),
    y=out("complex64", [2, 4, 1 + 1j]),
)
def atoms_store_where_they_like(A, y):
    for t in A.tiles():
        for k in A.atoms(t):
            y[A.column(k)] = A.value(k)


@case(
    A=rows([1, 2], [], [3]),
    y=out("complex128", [2j, 0, 1j]),
    z=out("complex64", [4.5 - 2j, 0.5, 2.5 - 1j]),
)
def sums_of_one_number(A, y, z):
    for t in A.tiles():
        y[t] = sum(TURN for k in A.atoms(t))
        z[t] = sum((TYPED for k in A.atoms(t)), 0.5)
