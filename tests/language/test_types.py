"""Types: the promotion table is NumPy's (NEP 50), and the compiler gives each expression that type."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from evenly.language import ir
from evenly.language import types as T

from .building import lowered, made
from .cases.table import bf16, c64, c128, f16, f32, f64, i32, i64, tiles, truths

REAL = [*T.INTEGERS.values(), T.FLOAT32, T.FLOAT64]
COMPLEX = [T.COMPLEX64, T.COMPLEX128]
TYPED = [T.BOOL, *REAL, *COMPLEX]
WEAK = {T.WEAK_INT: 1, T.WEAK_FLOAT: 1.0, T.WEAK_COMPLEX: 1j}


@pytest.mark.parametrize(("a", "b"), list(itertools.product(TYPED, TYPED)), ids=str)
def test_two_typed_values(a: T.Scalar, b: T.Scalar) -> None:
    assert T.promote(a, b).dtype == np.result_type(a.dtype, b.dtype)
    assert not T.promote(a, b).weak


@pytest.mark.parametrize(("a", "b"), list(itertools.product(TYPED, WEAK)), ids=str)
def test_a_weak_value_beside_a_typed_one(a: T.Scalar, b: T.Scalar) -> None:
    value = (a.dtype.type(1) + WEAK[b]).dtype
    assert T.promote(a, b).dtype == T.promote(b, a).dtype == value
    assert not T.promote(a, b).weak


@pytest.mark.parametrize("a", TYPED, ids=str)
def test_positions_are_weak_integers(a: T.Scalar) -> None:
    assert T.promote(a, T.POS) == T.promote(a, T.WEAK_INT)
    assert T.promote(T.POS, T.WEAK_FLOAT) is T.WEAK_FLOAT
    assert T.promote(T.POS, T.WEAK_INT) is T.WEAK_INT


@pytest.mark.parametrize(("a", "b"), list(itertools.product([*TYPED, *WEAK], repeat=2)), ids=str)
def test_promotion_commutes(a: T.Scalar, b: T.Scalar) -> None:
    assert T.promote(a, b) == T.promote(b, a)


@pytest.mark.parametrize(("a", "b"), list(itertools.product([*REAL, *COMPLEX], repeat=2)), ids=str)
def test_quotients(a: T.Scalar, b: T.Scalar) -> None:
    assert T.quotient(a, b).dtype == (a.dtype.type(1) / b.dtype.type(1)).dtype


def test_quotients_of_weak_numbers() -> None:
    assert T.quotient(T.WEAK_INT, T.WEAK_INT) is T.WEAK_FLOAT
    assert T.quotient(T.INT32, T.WEAK_INT) is T.FLOAT64
    assert T.quotient(T.FLOAT32, T.WEAK_INT) is T.FLOAT32
    assert T.quotient(T.WEAK_INT, T.WEAK_COMPLEX) is T.WEAK_COMPLEX
    assert T.quotient(T.INT32, T.COMPLEX64) is T.COMPLEX128


@pytest.mark.parametrize("t", T.ARRAY_TYPES.values(), ids=str)
def test_dtypes_and_back(t: T.Scalar) -> None:
    assert T.from_dtype(t.dtype) is t


@pytest.mark.parametrize("name", ["longdouble", "clongdouble", "M8[s]", "S3"])
def test_types_that_the_language_does_not_have(name: str) -> None:
    assert T.from_dtype(name) is None


@pytest.mark.parametrize(
    ("t", "said"),
    [
        (T.INT32, "an int32"),
        (T.FLOAT32, "a float32"),
        (T.POS, "an int"),
        (T.BOOL, "a bool"),
        (T.UINT8, "a uint8"),
    ],
    ids=str,
)
def test_types_in_sentences(t: T.Scalar, said: str) -> None:
    assert t.spoken == said


ARGUMENTS = {
    "A": tiles(2), "i": i32(1, 2), "l": i64(1, 2), "f": f32(1, 2), "d": f64(1, 2), "b": truths(1, 0), "n": 3, "s": 0.5,
    "h": np.float32(2), "c": c64(1j, 2), "e": c128(1j, 2), "g": f16(1, 2), "p": bf16(1, 2), "u": np.float16(2), "j": 1j, "y": f64(0, 0), "z": i64(0, 0), "o": truths(0, 0),
}  # fmt: skip

EXPRESSIONS = {  # an expression -> the type of the variable that holds it
    "f[t] * 2": "float32", "f[t] * 0.5": "float32", "f[t] + t": "float32", "f[t] * n": "float32", "f[t] * s": "float32",
    "f[t] + d[t]": "float64", "f[t] + i[t]": "float64", "f[t] + h": "float32", "h * s": "float32",
    "i[t] + 1": "int32", "i[t] + t": "int32", "i[t] * 0.5": "float64", "i[t] + l[t]": "int64", "i[t] / 2": "float64",
    "i[t] // 2": "int32", "i[t] % l[t]": "int64", "i[t] ** 2": "int32", "f[t] ** 2": "float32", "f[t] ** i[t]": "float64",
    "i[t] << 2": "int32", "i[t] & l[t]": "int64", "b[t] & b[t]": "bool", "b[t] + 1": "int64", "b[t] * 0.5": "float64",
    "b[t] + f[t]": "float32", "t + 1": "int", "t * 0.5": "float", "t / 2": "float", "n + t": "int", "s + n": "float",
    "t < 3": "bool", "not i[t]": "bool", "-i[t]": "int32", "~l[t]": "int64",
    "i[t] if t > 0 else 0": "int32", "f[t] if t > 0 else 0": "float32", "i[t] if t > 0 else f[t]": "float64", "1 if t > 0 else 0.5": "float",
    "int(f[t])": "int", "float(f[t])": "float", "np.float32(d[t])": "float32", "np.int64(i[t])": "int64", "bool(i[t])": "bool",
    "math.sqrt(f[t])": "float32", "math.sqrt(i[t])": "float64", "math.sqrt(t)": "float", "math.floor(f[t])": "int",
    "math.atan2(f[t], 1)": "float32", "math.atan2(f[t], d[t])": "float64", "math.isnan(f[t])": "bool",
    "min(f[t], 0)": "float32", "max(i[t], 0.5)": "float64", "min(t, 3)": "int", "abs(i[t])": "int32", "len(f)": "int", "f.shape[0]": "int",
    "sum(f[j] for j in range(2))": "float32", "sum(i[j] for j in range(2))": "int32", "sum(b[j] for j in range(2))": "int64",
    "sum(1 for j in range(2))": "int", "sum((f[j] for j in range(2)), 0.0)": "float32",
    "c[t] * 2": "complex64", "c[t] + f[t]": "complex64", "c[t] + d[t]": "complex128", "c[t] + i[t]": "complex128", "c[t] * j": "complex64",
    "f[t] * 1j": "complex64", "i[t] * 1j": "complex128", "t * 1j": "complex", "t / 1j": "complex", "abs(c[t])": "float32", "abs(e[t])": "float64",
    "abs(t * 1j)": "float", "c[t].real": "float32", "e[t].imag": "float64", "(t * 1j).real": "float",
    "c[t].conjugate()": "complex64", "f[t].conjugate()": "float32", "complex(f[t])": "complex", "complex(f[t], 1)": "complex",
    "np.complex64(t)": "complex64", "np.complex128(d[t], 1)": "complex128", "c[t] == 1": "bool", "sum(c[k] for k in range(2))": "complex64",
    "g[t]": "float32", "g[t] * g[t]": "float32", "g[t] + p[t]": "float32", "g[t] * 2": "float32", "p[t] * d[t]": "float64", "g[t] + i[t]": "float64",
    "u * 2": "float32", "g[t] * 1j": "complex64", "max(g[t], p[t])": "float32", "sum(p[k] for k in range(2))": "float32",
    "max((i[j] for j in range(2)), default=0)": "int32", "max((i[j] for j in range(2)), default=0.5)": "float64",
}  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(expression: str) -> None:
    """The type of `held = expression`, read off the program."""
    text = f"def kernel({', '.join(ARGUMENTS)}):\n    for t in A.tiles():\n        held = {expression}\n        again = held\n        y[t] = again\n"
    output = {"bool": "o[t]", "complex": "e[t]", "complex64": "e[t]", "complex128": "e[t]"}
    text = text.replace("y[t]", output.get(EXPRESSIONS[expression], "y[t]"))
    program = lowered(made(text), ARGUMENTS, text)
    loop = program.steps[0]
    assert isinstance(loop, ir.TileLoop)
    (store,) = [s for s in loop.body if isinstance(s, ir.Store)]
    value = store.value.operand if isinstance(store.value, ir.Cast) else store.value
    assert str(value.type) == EXPRESSIONS[expression]


def test_ids_have_the_width_of_positions_and_their_arithmetic_64_bits() -> None:
    text = "def kernel(A, z):\n    for t in A.tiles():\n        z[t] = A.offsets[t] + 1\n"
    program = lowered(made(text), {"A": tiles(2), "z": i64(0, 0)}, text)
    loop = program.steps[0]
    assert isinstance(loop, ir.TileLoop)
    assert loop.tile.type is T.POS
    (store,) = loop.body
    assert isinstance(store, ir.Store)
    binary = store.value.operand if isinstance(store.value, ir.Cast) else store.value
    assert isinstance(binary, ir.Binary)
    assert binary.type is T.WEAK_INT
