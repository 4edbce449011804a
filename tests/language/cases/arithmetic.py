"""Operators, types, conversions, mathematics."""

import math

import numpy as np

from .table import case, f32, f64, i32, i64, out, rows, tiles, truths

SEVEN = 7
HALF = 0.5
TYPED = np.float64(0.1)
PAIR = (3, 0.25)
FLAG = True
NAN, INF = math.nan, math.inf


# ---- integers ------------------------------------------------------------------------------------
@case(
    A=tiles(6),
    a=i32(7, -7, 7, -7, 6, 0),
    b=i32(2, 2, -2, -2, -3, 5),
    q=out("int32", [3, -4, -4, 3, -2, 0]),
    r=out("int32", [1, 1, -1, -1, 0, 0]),
)
def integer_division_rounds_down(A, a, b, q, r):
    for t in A.tiles():
        q[t] = a[t] // b[t]
        r[t] = a[t] % b[t]


@case(A=tiles(4), q=out("int64", [-3, -3, -3, -1]), r=out("int64", [0, 1, 2, 0]))
def integer_division_of_ids(A, q, r):
    for t in A.tiles():
        q[t] = (t - 9) // 3 + (t == 3)
        r[t] = (t - 9) % 3 * (t != 3)


@case(
    A=tiles(2),
    a=i32(2147483647, -2147483648),
    y=out("int32", [-2147483648, 2147483647]),
    z=out("int64", [-2, 0]),
)
def int32_wraps(A, a, y, z):
    for t in A.tiles():
        y[t] = a[t] + 1 if t == 0 else a[t] - 1
        z[t] = a[t] * 2


@case(
    A=tiles(2),
    a=i64(9223372036854775807, -9223372036854775808),
    y=out("int64", [-9223372036854775808, 9223372036854775807]),
)
def int64_wraps(A, a, y):
    for t in A.tiles():
        y[t] = a[t] + (1 - 2 * t)


@case(
    A=tiles(2),
    a=i64(9223372036854775807, 3037000500),
    more=out("bool", [True, False]),
    negative=out("bool", [False, True]),
    shifted=out("int64", [0, -1152921504588662702]),
    power=out("int64", [9223372036854775807, -101661170420648]),
    least=out("int64", [-9223372036854775808, -9223372036854775808]),
)
def what_wraps_may_be_asked_for(A, a, more, negative, shifted, power, least):
    for t in A.tiles():
        more[t] = a[t] + 1 < a[t]
        negative[t] = a[t] * a[t] < 0
        shifted[t] = (a[t] ** 2) >> 3
        power[t] = a[t] ** 5 >> (0 if t == 0 else 16)
        least[t] = (np.int64(-9223372036854775807) - 1) // -1


@case(A=tiles(1), y=out("int64", [9223372036854775805]), z=out("int64", [-2147483648]))
def typed_constants_wrap(A, y, z):
    for t in A.tiles():
        y[t] = np.int64(9223372036854775807) * 3
        z[t] = -np.int32(-2147483648)


@case(
    A=tiles(6),
    x=f64(27, -343, 0.0, -0.0, 1000, math.inf),
    y=out("float64", [3, -7, math.inf, -math.inf, 10, math.inf]),
)
def cube_roots_of_cubes_are_whole(A, x, y):
    for t in A.tiles():
        root = math.cbrt(x[t])
        y[t] = root if root != 0.0 else 1 / root


@case(
    A=tiles(6),
    a=f32(0.0, -0.0, 0.0, -0.0, -0.0, -0.0),
    b=f32(0.0, 0.0, -0.0, -0.0, -1.0, 1.0),
    least=out("float32", [1, -1, -1, -1, -1, -1]),
    greatest=out("float32", [1, 1, 1, -1, -1, 1]),
)
def of_two_zeros_the_negative_one_is_less(A, a, b, least, greatest):
    for t in A.tiles():
        least[t] = math.copysign(1.0, min(a[t], b[t]))
        greatest[t] = math.copysign(1.0, max(a[t], b[t]))


@case(
    A=tiles(1),
    y=out("float64", [-0.10000000149011612, 16777216.0, 9007200328482816.0]),
    same=out("bool", [True, False]),
)
def typed_constants_are_rounded(A, y, same):
    for t in A.tiles():
        y[t] = -np.float32(0.1)
        y[t + 1] = np.float32(16777217)
        y[t + 2] = np.float32(np.int64(9007199791611905))
        same[t] = np.float32(0.1) == 0.1
        same[t + 1] = np.float32(0.1) == np.float64(0.1)


@case(A=tiles(1), a=i32(2147483647), b=i64(1), y=out("int64", [2147483648]))
def int32_beside_int64_is_int64(A, a, b, y):
    for t in A.tiles():
        y[t] = a[t] + b[t]


@case(A=tiles(3), big=i32(2000000000), y=out("int64", [2000000000, 4000000000, 6000000000]))
def arithmetic_on_ids_is_64_bits_wide(A, big, y):
    for t in A.tiles():
        y[t] = (t + 1) * int(big[0])


@case(
    A=tiles(4),
    a=i32(6, 5, -1, 0),
    b=i32(3, 3, 1, 0),
    y=out("int32", [2, 1, 1, 0]),
    o=out("int32", [7, 7, -1, 0]),
    x=out("int32", [5, 6, -2, 0]),
    n=out("int32", [-7, -6, 0, -1]),
)
def bits(A, a, b, y, o, x, n):
    for t in A.tiles():
        y[t] = a[t] & b[t]
        o[t] = a[t] | b[t]
        x[t] = a[t] ^ b[t]
        n[t] = ~a[t]


@case(
    A=tiles(4),
    a=i32(1, -8, 5, 1),
    s=i32(3, 1, 0, 31),
    l=out("int32", [8, -16, 5, -2147483648]),
    r=out("int32", [0, -4, 5, 0]),
)
def shifts(A, a, s, l, r):  # noqa: E741
    for t in A.tiles():
        l[t] = a[t] << s[t]
        r[t] = a[t] >> s[t]


@case(
    A=tiles(3),
    a=i32(-3, 2, 0),
    y=out("int32", [-27, 8, 0]),
    o=out("int32", [1, 1, 1]),
    w=out("int32", [129140163, -129140163, 0]),
)
def integer_powers(A, a, y, o, w):
    for t in A.tiles():
        y[t] = a[t] ** 3
        o[t] = a[t] ** 0
        w[t] = (3 * (a[t] // -3)) ** 17


@case(A=tiles(3), a=i32(-3, 0, -2147483648), y=out("int32", [3, 0, -2147483648]))
def absolute_value_of_integers(A, a, y):
    for t in A.tiles():
        y[t] = abs(a[t])


@case(A=tiles(3), a=i32(-3, 0, -2147483648), y=out("int32", [3, 0, -2147483648]))
def negation_of_integers(A, a, y):
    for t in A.tiles():
        y[t] = -a[t]


# ---- floats --------------------------------------------------------------------------------------
@case(
    A=tiles(6),
    a=f32(7, -7, 7, -7, 1, -1),
    b=f32(2, 2, -2, -2, 0, 0),
    d=out("float32", [3.5, -3.5, -3.5, 3.5, INF, -INF]),
    q=out("float32", [3, -4, -4, 3, INF, -INF]),
    r=out("float32", [1, 1, -1, -1, NAN, NAN]),
)
def float_division(A, a, b, d, q, r):
    for t in A.tiles():
        d[t] = a[t] / b[t]
        q[t] = a[t] // b[t]
        r[t] = a[t] % b[t]


@case(A=tiles(3), y=out("float64", [INF, NAN, -INF]), z=out("float64", [-INF, -1, -0.5]))
def weak_numbers_divide_by_zero_as_floats_do(A, y, z):
    for t in A.tiles():
        y[t] = (1 - t) / (0 * t)
        z[t] = -1.0 / t


@case(A=tiles(1), a=i32(7), b=i32(2), y=out("float64", [3.5]), z=out("float64", [1 / 3]))
def true_division_of_integers_is_float64(A, a, b, y, z):
    for t in A.tiles():
        y[t] = a[t] / b[t]
        z[t] = (b[t] - 1) / 3


@case(
    A=tiles(3),
    a=f32(2, -8, 4),
    tolerance=2e-7,
    y=out("float32", [4, 64, 16]),
    z=out("float32", [np.float32(2) ** np.float32(0.5), NAN, 2]),
    w=out("float32", [0.5, -0.125, 0.25]),
)
def float_powers(A, a, y, z, w):
    for t in A.tiles():
        y[t] = a[t] ** 2
        z[t] = a[t] ** 0.5
        w[t] = a[t] ** -1


@case(A=tiles(2), n=3, y=out("float64", [8, 0.125]))
def power_of_weak_numbers(A, n, y):
    for t in A.tiles():
        y[t] = 2.0 ** (n * (1 - 2 * t))


# ---- types ---------------------------------------------------------------------------------------
@case(A=tiles(1), y=out("float64", [INF]), z=out("float64", [INF]))
def powers_of_literals_beyond_the_floats(A, y, z):
    for t in A.tiles():
        y[t] = 2.0**10000
        z[t] = 10**400.0


@case(
    A=tiles(1),
    x=f32(0.1),
    y=out("float64", [float(np.float32(0.1) * np.float32(0.1))]),
    z=out("float64", [np.float64(np.float32(0.1)) * 0.1]),
)
def literals_are_weak(A, x, y, z):
    for t in A.tiles():
        y[t] = x[t] * 0.1
        z[t] = x[t] * np.float64(0.1)


@case(
    A=tiles(1),
    x=f32(0.1),
    y=out("float64", [float(np.float32(0.1) * np.float32(0.5) + np.float32(7))]),
    z=out("float64", [float(np.float32(0.1)) * 0.1]),
)
def captured_constants_are_weak_unless_typed(A, x, y, z):
    for t in A.tiles():
        y[t] = x[t] * HALF + SEVEN
        z[t] = x[t] * TYPED


@case(
    A=tiles(2),
    x=f32(0.1, 0.2),
    y=out(
        "float64", [float(np.float32(0.1) / np.float32(1)), float(np.float32(0.2) / np.float32(2))]
    ),
)
def ids_are_weak(A, x, y):
    for t in A.tiles():
        y[t] = x[t] / (t + 1)


@case(A=tiles(1), a=i32(16777217), x=f32(1), y=out("float64", [16777218]))
def int32_beside_float32_is_float64(A, a, x, y):
    for t in A.tiles():
        y[t] = a[t] + x[t]


@case(A=tiles(1), a=i32(3), y=out("float64", [0.30000000000000004]))
def int32_beside_a_float_literal_is_float64(A, a, y):
    for t in A.tiles():
        y[t] = a[t] * 0.1


@case(
    A=tiles(2),
    b=truths(1, 0),
    y=out("int64", [2, 0]),
    z=out("float64", [float(np.float64(0.1) * 3), 0.0]),
    w=out("int64", [1, 1]),
)
def truth_values_count_as_integers(A, b, y, z, w):
    for t in A.tiles():
        y[t] = b[t] * 2
        z[t] = (b[t] * 3) * 0.1
        w[t] = (t == 0) + int(b[1 - t])


@case(
    A=tiles(1),
    n=3,
    s=0.1,
    k=np.int32(2147483647),
    y=out("float64", [float(np.float32(0.3) * np.float32(0.1) * np.float32(3))]),
    z=out("int32", [-2147483648]),
    x=f32(0.3),
)
def scalar_arguments(A, n, s, k, x, y, z):
    for t in A.tiles():
        y[t] = x[t] * s * n
        z[t] = k + 1


@case(A=tiles(2), on=True, off=np.bool_(False), y=out("int32", [1, 1]))
def truth_values_as_arguments(A, on, off, y):
    for t in A.tiles():
        if on and not off:
            y[t] = 1


@case(A=tiles(2), bias=None, scale=f32(2, 3), y=out("float32", [2, 3]))
def none_as_an_argument(A, bias, scale, y):
    for t in A.tiles():
        v = 1.0
        if bias is not None:
            v += bias[t]
        y[t] = v * scale[t] if scale is not None else v


@case(
    A=tiles(3),
    x=f64(2.9, -2.9, 0),
    y=out("int32", [2, -2, 0]),
    z=out("int32", [2, -3, 0]),
    u=out("int32", [3, -2, 0]),
    v=out("int32", [2, -2, 0]),
)
def floats_to_integers(A, x, y, z, u, v):
    for t in A.tiles():
        y[t] = int(x[t])
        z[t] = math.floor(x[t])
        u[t] = math.ceil(x[t])
        v[t] = math.trunc(x[t])


@case(
    A=tiles(1),
    x=f32(0.1),
    a=i64(4294967299),
    y=out("float64", [float(np.float32(0.1)) * 3]),
    z=out("int64", [3]),
    w=out("float32", [0.25]),
    c=out("int64", [1]),
)
def conversions(A, x, a, y, z, w, c):
    for t in A.tiles():
        y[t] = np.float64(x[t]) * 3
        z[t] = np.int32(a[t])
        w[t] = np.float32(float(a[t]) - 4294967298.75)
        c[t] = bool(a[t]) + np.int64(0)


@case(
    A=tiles(2),
    a=i64(4294967298, -1),
    y=out("int32", [2, -1]),
    z=out("float32", [4294967296, -1]),
    w=out("float32", [1, 0]),
    b=truths(1, 0),
)
def stores_convert(A, a, b, y, z, w):
    for t in A.tiles():
        y[t] = a[t]
        z[t] = a[t]
        w[t] = b[t]


@case(A=tiles(2), x=f32(0.1, 1), y=out("bool", [True, False]), z=out("bool", [False, False]))
def comparisons_follow_the_types(A, x, y, z):
    for t in A.tiles():
        y[t] = x[t] == 0.1
        z[t] = np.float64(x[t]) == 0.1


@case(A=tiles(1), a=i32(-1), b=i64(4294967295), y=out("bool", [False]), z=out("bool", [True]))
def integers_compare_exactly(A, a, b, y, z):
    for t in A.tiles():
        y[t] = a[t] == b[t]
        z[t] = a[t] < 4294967296


# ---- minima, mathematics -------------------------------------------------------------------------
@case(
    A=tiles(4),
    x=f32(1, NAN, 3, -2),
    lo=out("float32", [1, NAN, 2, -2]),
    hi=out("float32", [2, NAN, 3, 2]),
    c=out("float32", [1, NAN, 2, 0]),
)
def min_and_max_of_numbers(A, x, lo, hi, c):
    for t in A.tiles():
        lo[t] = min(x[t], 2)
        hi[t] = max(2.0, x[t])
        c[t] = max(0.0, min(x[t], 2.0, 5))


@case(A=tiles(2), a=i32(3, -3), y=out("float64", [2.5, -3.0]), z=out("int32", [3, 0]))
def min_and_max_of_mixed_numbers(A, a, y, z):
    for t in A.tiles():
        y[t] = min(a[t], 2.5)
        z[t] = max(a[t], 0)


@case(
    A=tiles(2),
    a=i32(3, 7),
    b=i64(5, -5),
    x=f32(0.25, 0.05),
    d=f64(-1, -2),
    y=out("int64", [2**40, 2**40]),
    z=out("int64", [3, -5]),
    w=out("float64", [0.25, 0.1]),
)
def weak_numbers_have_the_common_type_of_all(A, a, b, x, d, y, z, w):
    """Not that of the first two: an int32 would keep their low bits, and a float32 round them."""
    for t in A.tiles():
        y[t] = max(a[t], 2**40, b[t])
        z[t] = min(a[t], 2**40 + t, b[t])
        w[t] = max(x[t], 0.1, d[t])


@case(
    A=tiles(3),
    x=f32(0.5, 2, 10),
    tolerance=3e-6,
    y=out("float32", [math.sqrt(v) + math.exp(v / 10) + math.log(v) for v in (0.5, 2, 10)]),
    z=out("float32", [math.sin(v) * math.cos(v) + math.tanh(v) for v in (0.5, 2, 10)]),
    w=out(
        "float32", [math.hypot(v, 1) + math.atan2(v, 2) + math.pow(v, 1.5) for v in (0.5, 2, 10)]
    ),
    e=out("float32", [math.erf(v / 4) + math.lgamma(v + 1) + math.log1p(v) for v in (0.5, 2, 10)]),
)
def mathematics(A, x, y, z, w, e):
    for t in A.tiles():
        v = x[t]
        y[t] = math.sqrt(v) + math.exp(v / 10) + math.log(v)
        z[t] = math.sin(v) * math.cos(v) + math.tanh(v)
        w[t] = math.hypot(v, 1) + math.atan2(v, 2) + math.pow(v, 1.5)
        e[t] = math.erf(v / 4) + math.lgamma(v + 1) + math.log1p(v)


@case(
    A=tiles(3),
    x=f32(-1, 0, INF),
    y=out("float32", [NAN, 0, INF]),
    z=out("float32", [NAN, -INF, INF]),
    w=out("bool", [True, False, False]),
    v=out("bool", [False, True, True]),
)
def mathematics_outside_its_range(A, x, y, z, w, v):
    for t in A.tiles():
        y[t] = math.sqrt(x[t])
        z[t] = math.log(x[t])
        w[t] = math.isnan(math.sqrt(x[t]))
        v[t] = math.isinf(x[t]) or (not math.isfinite(math.log(x[t])) and x[t] == 0)


@case(
    A=tiles(1),
    a=i32(2),
    tolerance=1e-15,
    y=out("float64", [math.sqrt(2)]),
    z=out("float64", [math.pi / 4]),
)
def mathematics_of_integers_is_float64(A, a, y, z):
    for t in A.tiles():
        y[t] = math.sqrt(a[t])
        z[t] = math.atan(1) * 1.0


@case(A=tiles(2), y=out("float64", [3.25, 4.25]), f=out("int32", [1, 1]))
def captured_tuples_and_flags(A, y, f):
    for t in A.tiles():
        n, step = PAIR
        y[t] = n + step + t
        f[t] = 1 if FLAG else 2


@case(
    A=rows([1, 2], [3]),
    y=out("int32", [3, 3]),
    n=out("int32", [3, 3]),
    m=out("int64", [6, 6]),
    w=np.zeros((2, 3), np.float32),
)
def lengths_and_shapes(A, w, y, n, m):
    for t in A.tiles():
        y[t] = len(A.values)
        n[t] = w.shape[1]
        m[t] = w.shape[0] * w.shape[1]
