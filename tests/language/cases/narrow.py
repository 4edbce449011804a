"""Floats of 16 bits: read as float32, rounded where they are stored."""

import math

import numpy as np

from .table import bf16, case, f16, f32, f64, i64, out, rows, tiles

HALF = np.float16(0.1)  # a float32 of float16's nearest to 0.1
INF, NAN = math.inf, math.nan


@case(
    A=tiles(3),
    a=f16(60000, 0.1, 6e-8),
    y=out("float32", [120000, np.float32(np.float16(0.1)) * 2, np.float32(2.0**-23)]),
    z=out("float64", [60000.0**2, float(np.float32(np.float16(0.1))) * 3, 0]),
)
def elements_are_float32(A, a, y, z):
    for t in A.tiles():
        y[t] = a[t] + a[t]
        z[t] = a[t] * (a[t] if t == 0 else np.float64(3 if t == 1 else 0))


@case(
    A=tiles(8),
    x=f32(2049, 2051, 65519, 65520, 2.0**-24, 2.0**-25, 1e-45, NAN),
    d=f64(1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 65519.9, 65520, 2.0**-25 + 2.0**-60, -INF, -1e300, 1e-300),
    y=out("float16", [2048, 2052, 65504, INF, 2.0**-24, 0, 0, NAN]),
    z=out("float16", [1, 1 + 2.0**-10, 65504, INF, 2.0**-24, -INF, -INF, 0]),
)  # fmt: skip
def stores_round_once_to_float16(A, x, d, y, z):
    for t in A.tiles():
        y[t] = x[t]
        z[t] = d[t]


@case(
    A=tiles(6),
    x=f32(257, 259, 3.4e38, 1e-45, NAN, -INF),
    d=f64(1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-40, 1e300, -1e-300, 2.0**-133, NAN),
    y=out("bfloat16", [256, 260, INF, 0, NAN, -INF]),
    z=out("bfloat16", [1, 1 + 2.0**-7, INF, 0, 2.0**-133, NAN]),
)
def stores_round_once_to_bfloat16(A, x, d, y, z):
    for t in A.tiles():
        y[t] = x[t]
        z[t] = d[t]


@case(
    A=tiles(2),
    n=i64(2049, 70000),
    c=np.float16(0.5),
    y=out("float16", [2048, INF]),
    z=out("bfloat16", [2048, 70144]),
    w=out("float16", [np.float16(0.1), 1]),
)
def numbers_of_other_types(A, n, c, y, z, w):
    for t in A.tiles():
        y[t] = n[t]
        z[t] = n[t]
        w[t] = HALF if t == 0 else 0
        w[t] += c * 2 * t


@case(
    A=rows([1, 2, 4000], [], [0.5], dtype="float16"),
    x=bf16(1, 1.5, 16),
    y=out("float16", [64000 + 4, 0, 0.5]),
    z=out("bfloat16", [64004, 0, 0.5]),
    least=out("float32", [1, 7, 0.5]),
    total=out("float64", [64004.5]),
)
def sums_are_float32(A, x, y, z, least, total):
    whole = 0.0
    for t in A.tiles():
        here = sum(A.value(k) * x[A.column(k)] for k in A.atoms(t))
        y[t] = here
        z[t] = here
        least[t] = min((A.value(k) for k in A.atoms(t)), default=7)
        whole += here
    total[0] = whole


@case(
    A=rows([1, 2], [4], dtype="float16", columns=[[2, 0], [1]]),
    y=out("float16", [2, 4, 1]),
    z=out("bfloat16", [2, 4, 1]),
)
def atoms_store_where_they_like_in_16_bits(A, y, z):
    for t in A.tiles():
        for k in A.atoms(t):
            y[A.column(k)] = A.value(k)
            z[A.column(k)] = A.value(k)
