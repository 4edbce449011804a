"""The reference's numbers have the types of the language, whatever Python would make of them."""

from __future__ import annotations

import enum
import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language import types as T
from evenly.targets.python import BadValue, functions, operators
from evenly.targets.python.typed import is_weak, type_of

NUMBERS: list[Any] = [
    np.bool_(True), 3, np.int32(3), np.int64(3), 1.5, np.float32(1.5), np.float64(1.5),
    1.5j, np.complex64(1.5j), np.complex128(1.5j),
]  # fmt: skip
PAIRS = list(itertools.product(NUMBERS, repeat=2))
ARITHMETIC = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}


def _type(x: Any) -> T.Scalar:
    return type_of(type(x))


def _is_real(*numbers: Any) -> bool:
    return not any(_type(x).is_complex for x in numbers)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_is_typed(name: str) -> None:
    for a, b in PAIRS:
        if isinstance(a, np.bool_) and isinstance(b, np.bool_):
            continue  # refused
        got = getattr(operators, name)(a, b)
        assert _type(got) == T.promote(_type(a), _type(b)), (a, b)
        assert got == ARITHMETIC[name](complex(a), complex(b))


def test_quotients_and_powers_are_typed() -> None:
    for a, b in PAIRS:
        assert _type(operators.divide(a, b)) == T.quotient(_type(a), _type(b)), (a, b)
        if _is_real(a, b) and not isinstance(a, np.bool_):
            for name in ("floor_divide", "remainder", "power"):
                got = getattr(operators, name)(a, b)
                assert _type(got) == T.promote(_type(a), _type(b)), (name, a, b)


def test_comparisons_are_truth_values() -> None:
    for a, b in PAIRS:
        names = ["equal", "not_equal"]
        if _is_real(a, b):
            names += ["less", "less_equal", "greater", "greater_equal"]
        for name in names:
            assert type(getattr(operators, name)(a, b)) is np.bool_


def test_functions_are_typed() -> None:
    table = functions.BUILTINS
    math_ = functions.ModuleProxy(math, functions.replacement)
    for a in NUMBERS:
        assert _type(table["abs"](a)) == T.real_of(_type(a))
        assert _type(table["complex"](a)) == T.WEAK_COMPLEX
        assert type(table["bool"](a)) is np.bool_
        assert _type(table["sum"]([a])) == T.promote(T.WEAK_INT, _type(a))
        if not _is_real(a):
            continue
        assert _type(table["int"](a)) == T.WEAK_INT
        assert _type(table["float"](a)) == T.WEAK_FLOAT
        assert _type(math_.floor(a)) == T.WEAK_INT
        float_ = T.quotient(_type(a), _type(a))
        assert _type(math_.sqrt(a)) == float_
        for b in NUMBERS:
            if _is_real(b):
                both = T.promote(_type(a), _type(b))
                assert _type(table["min"](a, b)) == _type(table["max"](a, b)) == both
                assert _type(table["max"]([a], default=b)) == both


@pytest.mark.parametrize(
    ("make", "gives"),
    [
        (np.int32, T.INT32), (np.int64, T.INT64), (np.float32, T.FLOAT32), (np.float64, T.FLOAT64),
        (np.complex64, T.COMPLEX64), (np.complex128, T.COMPLEX128),
    ],
)  # fmt: skip
def test_conversions_are_typed(make: type, gives: T.Scalar) -> None:
    convert = functions.replacement(make)
    for a in NUMBERS:
        if gives.is_complex or _is_real(a):
            assert _type(convert(a)) == gives
    if gives.is_complex:
        assert convert(1, np.float64(2)) == 1 + 2j
        assert _type(convert(True, 2)) == gives


def test_integers_become_floats_in_one_step() -> None:
    """np.float32 of a Python int goes by way of a float64: rounded twice."""
    n = 2**60 + 2**36 + 1
    assert functions.replacement(np.float32)(n) == np.float32(np.int64(n)) != np.float32(n)
    assert operators.add(n, np.float32(0)) == np.float32(np.int64(n))


@np.errstate(all="ignore")  # as a run has it
def test_weak_integers_have_64_bits() -> None:
    most, least = 2**63 - 1, -(2**63)
    assert operators.add(most, 1) == least
    assert operators.multiply(most, most) == 1
    assert operators.power(3, 41) == (3**41 + 2**63) % 2**64 - 2**63
    assert operators.shift_left(1, 63) == operators.negative(least) == least
    assert functions.BUILTINS["abs"](least) == least
    assert operators.floor_divide(least, -1) == least
    assert operators.remainder(least, -1) == 0
    assert operators.add(np.int32(1), 2**40 + 5) == 6  # its low bits


@pytest.mark.parametrize("make", [int, np.int64, np.int32, math.floor])
def test_floats_beyond_an_integer_have_none(make: Any) -> None:
    convert = functions.replacement(make)
    assert convert(np.float64(-(2.0**31))) == -(2**31)
    with pytest.raises(BadValue, match=r"a conversion to int\d\d: expected a number that fits"):
        convert(1e30)


def test_the_defect_that_was_reported() -> None:
    def kernel(A, F, c, y, z):
        for r in A.tiles():
            y[r] = (1j + F[r]) * c[r]
            z[r] = (1j + F[r]) / 0.0

    A = ev.csr((np.ones(1), np.int32([0]), np.int32([0, 1])), shape=(1, 1))
    F, c = np.float64([0.1]), np.complex64([1 + 0.3j])
    got = np.zeros(1, np.complex128), np.zeros(1, np.complex128)
    ev.kernel(kernel).on("python")(A, F, c, *got)
    assert got[0][0] == np.complex128(1j + 0.1) * np.complex128(c[0])
    assert not np.isfinite(got[1][0])


class Colour(enum.IntEnum):
    RED = 7


def test_members_of_enumerations_are_weak() -> None:
    assert is_weak(functions.replacement(Colour.RED))
    assert type_of(type(np.longlong(1))) == T.INT64


def test_an_element_is_read_before_the_right_side_changes_it() -> None:
    def kernel(A, y):
        for r in A.tiles():
            y[r] += ev.atomic_add(y, r, 5) + 1

    A = ev.csr((np.ones(1), np.int32([0]), np.int32([0, 1])), shape=(1, 1))
    for target in ("python", "cpu"):
        y = np.int64([10])
        ev.kernel(kernel).on(target)(A, y)
        assert y[0] == 10 + 10 + 1


@ev.func
def either(c, a, b):
    if c > 0:
        return a
    return b


def _csr(n: int) -> Any:
    offsets = np.arange(n + 1, dtype=np.int32)
    return ev.csr((np.ones(n, np.float32), offsets[:-1], offsets), shape=(n, n))


def test_paths_meet_in_one_type() -> None:
    """The side, the branch, the call and the round that run have the type of those that do not."""

    def kernel(A, i, j, x, y, q):
        for r in A.tiles():
            chosen = i[r] if r < 2 else j[r]
            q[r, 0] = chosen * 2000000000
            if r < 2:
                v = i[r]
            else:
                v = j[r]
            q[r, 1] = v * 2000000000
            q[r, 2] = either(r + 1, i[r], j[r]) * 2000000000
            y[r, 0] = either(1, x[r], x[r]) / 3
            total = 0
            for n in range(2):
                total = total + 1 if n < r else j[r]
                if n == 1:
                    break
            y[r, 1] = total / 3
            s = sum(A.value(k) for k in A.atoms(r) if r < 0)
            y[r, 2] = (s + 1) / 3
            acc = 1
            for k in A.atoms(r):
                if r < 0:
                    acc += A.value(k)
            y[r, 3] = acc / 3

    kernel = ev.kernel(kernel)
    found = {}
    for target in ("python", "cpu"):
        y, q = np.zeros((3, 4)), np.zeros((3, 3), np.int64)
        i, x = np.int32([3, 4, 5]), np.float32([1, 2, 3])
        kernel.on(target)(_csr(3), i, i.astype(np.int64), x, y, q)
        found[target] = y, q
    np.testing.assert_array_equal(found["python"][1], found["cpu"][1])
    np.testing.assert_array_equal(found["python"][0], found["cpu"][0])
    assert found["python"][1][0].tolist() == [6_000_000_000] * 3
    assert (found["python"][0][:, 3] == np.float32(1) / np.float32(3)).all()


def test_a_name_that_only_code_that_never_runs_assigns_meets_nothing() -> None:
    @ev.kernel
    def greatest(A, x, y):
        for t in A.tiles():
            found = 0
            for k in A.atoms(t):
                if t == 0:
                    mine = k
                    found = max(found, mine)
                elif x is not None:
                    other = x[k]
                    found = max(found, other)
            y[t] = found

    A = ev.ragged(np.array([0, 3, 5]))
    for x, expected in ((None, [2, 0]), (np.arange(5), [2, 4])):
        y = np.full(2, -1)
        greatest["thread_mapped"].on("python")(A, x, y)
        assert y.tolist() == expected
