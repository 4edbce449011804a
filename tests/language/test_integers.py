"""Integers of every width as indices, numbers, arguments and constants; their bits; scans; prints; arrays of others."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language.beforehand import value_of
from evenly.language.ir import Binary, Param
from evenly.language.types import UINT8
from tests.integers import TYPES, of_bits, random_bits
from tests.kernels import SCHEDULES

from .building import made
from .cases.table import rows, tiles
from .integer_expressions import ends

TARGETS = ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)]
BYTE, WORD = np.uint8(200), np.uint64(2**64 - 3)
MULTIPLIER = 0x9E3779B97F4A7C15


# ---- indices -------------------------------------------------------------------------------------
@ev.kernel
def gathered(A, at, x, m, y):
    for t in A.tiles():
        y[t] = x[at[t]] + m[at[t] - at[t], at[t]]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("t", TYPES)
def test_any_integer_is_an_index(t: str, target: str) -> None:
    at, x, y = np.array([2, 0, 1], t), np.array([5, 6, 7]), np.zeros(3, np.int64)
    gathered.on(target)(tiles(3), at, x, np.array([[10, 20, 30], [0, 0, 0]]), y)
    np.testing.assert_array_equal(y, [37, 15, 26])


@pytest.mark.parametrize("target", ["python", "cpu"])
@pytest.mark.parametrize(("t", "index"), [("int8", -1), ("uint8", 255), ("uint64", 2**64 - 1)])
def test_indices_are_checked(t: str, index: int, target: str) -> None:
    at = np.array([0, index, 1], t)
    debug = {"debug": True} if target == "cpu" else {}
    with pytest.raises(ev.EvenlyError, match="x: expected an index"):
        gathered.on(target, **debug)(tiles(3), at, np.zeros(3), np.zeros((1, 3)), np.zeros(3))


# ---- numbers ---------------------------------------------------------------------------------------
@ev.kernel
def numbers(A, a, b, y):
    for t in A.tiles():
        y[t, 0] = BYTE + a
        y[t, 1] = b * MULTIPLIER ^ WORD
        y[t, 2] = np.uint64(2**63) > np.int64(-1)
        y[t, 3] = b // 3 > t - 5
        y[t, 4] = np.int8(a) * 2 - np.uint8(t - 1)


@pytest.mark.parametrize("target", TARGETS)
def test_captured_numbers_and_arguments(target: str) -> None:
    y = np.zeros((2, 5), np.uint64)
    numbers.on(target)(tiles(2), np.uint8(100), WORD, y)
    mixed = (int(WORD) * MULTIPLIER) % 2**64 ^ int(WORD)
    assert y.tolist() == [[44, mixed, 1, 1, 2**64 - 311], [44, mixed, 1, 1, 2**64 - 56]]


@ev.kernel
def repeated(A, n, y):
    for row in A.tiles():
        for j in ev.lanes(n * 2):
            y[row, j] = sum(A.value(k) for k in A.atoms(row)) + j


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_that_the_host_counts_wrap_too(target: str) -> None:
    y = np.zeros((3, 256), np.float32)
    repeated["merge_path"].on(target)(rows([1, 2], [], [4]), np.uint8(133), y)
    assert np.count_nonzero(y[2]) == 10  # 266 wraps
    n = Param("n", UINT8, ("n",))
    assert value_of(Binary("+", n, n, UINT8), lambda path: np.uint8(133), lambda a, i: 0) == 10


@ev.kernel
def subtracted(A, left, bits):
    for row in A.tiles():
        rest = 0
        ones = 0
        for k in A.atoms(row):
            rest -= A.value(k)
            ones += ev.popcount(A.value(k))
        left[row] = rest
        bits[row] = ones


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("t", TYPES)
def test_accumulators(t: str, target: str) -> None:
    values = random_bits(t, 60)
    A = rows(values[:50], [], values[50:], dtype=t)
    left, bits = np.zeros(3, t), np.zeros(3, np.int64)
    subtracted["warp_mapped"].on(target)(A, left, bits)
    parts = [values[:50], values[:0], values[50:]]
    np.testing.assert_array_equal(left, np.negative(np.array([p.sum(dtype=t) for p in parts], t)))
    ones = [np.bitwise_count(p.view(f"uint{p.dtype.itemsize * 8}")).sum() for p in parts]
    np.testing.assert_array_equal(bits, ones)


# ---- bits ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("t", TYPES)
def test_functions_of_bits(t: str) -> None:
    """The plain functions, which the table of intrinsics takes as the meaning, against texts of bits."""
    width = np.iinfo(t).bits
    for x in random_bits(t, 50):
        text = format(int(x) % 2**width, f"0{width}b")
        assert ev.popcount(x) == text.count("1")
        assert ev.clz(x) == len(text) - len(text.lstrip("0"))
        for n in (0, 1, width - 1, width, -3, 1000):
            by = n % width
            for rotated, wanted in (
                (ev.rotl(x, n), text[by:] + text[:by]),
                (ev.rotr(x, n), text[width - by :] + text[: width - by]),
            ):
                assert type(rotated) is type(x)
                assert int(rotated) % 2**width == int(wanted, 2)
    assert (ev.popcount(-1), ev.clz(1), ev.rotl(1, 63), ev.rotr(1, 1)) == (
        64,
        63,
        -(2**63),
        -(2**63),
    )


# ---- scans -------------------------------------------------------------------------------------------
@ev.kernel
def scanned(A, y):
    for row in A.tiles():
        for k in A.atoms(row):
            y[k] = ev.scan(A.value(k))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("t", "schedule"), list(zip(TYPES, [*SCHEDULES][::2], strict=False)))
def test_scans_wrap(t: str, schedule: str, target: str) -> None:
    sizes = [3, 0, 70, 1, 300]
    A = of_bits(rows(*([1] * n for n in sizes)), t)
    y = np.zeros(len(A.values), t)
    scanned[SCHEDULES[schedule]].on(target)(A, y)
    parts = np.split(A.values, np.cumsum(sizes)[:-1])
    np.testing.assert_array_equal(y, np.concatenate([np.cumsum(p, dtype=t) for p in parts]))


# ---- prints ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", TARGETS)
def test_prints(target: str, capfd: pytest.CaptureFixture[str]) -> None:
    names = ", ".join(TYPES)
    text = f"def kernel(A, {names}):\n    for t in A.tiles():\n"
    text += "".join(f"        print('{t}', {t}[t])\n" for t in TYPES)
    given = [np.array([np.iinfo(t).max - 4], t) for t in TYPES]
    debug = {"debug": True} if target == "cpu" else {}
    ev.kernel(made(text), source=text).on(target, **debug)(tiles(1), *given)
    lines = capfd.readouterr().out.split("\n")
    assert sorted(filter(None, lines)) == sorted(f"{t} {np.iinfo(t).max - 4}" for t in TYPES)


# ---- arrays of others ----------------------------------------------------------------------------------
@ev.kernel
def doubled(A, x, y):
    for t in A.tiles():
        y[t] = x[t] * 2


class Exported:
    """An array that speaks DLPack alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("t", TYPES)
def test_arrays_of_every_library(t: str) -> None:
    x = random_bits(t, 4)
    makers: list[Any] = [copy.copy, Exported]
    try:
        import torch

        makers.append(torch.from_numpy)
    except ImportError:
        pass
    for make in makers:
        y = np.zeros(4, t)
        doubled.on("cpu")(tiles(4), make(x), y)
        np.testing.assert_array_equal(y, x * np.array(2, t))


# ---- comparisons ---------------------------------------------------------------------------------------
@ev.kernel
def compared(A, a, b, y):
    for t in A.tiles():
        y[t, 0] = a[t] < b[t]
        y[t, 1] = a[t] <= b[t]
        y[t, 2] = a[t] > b[t]
        y[t, 3] = a[t] >= b[t]
        y[t, 4] = a[t] == b[t]
        y[t, 5] = a[t] != b[t]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("a", ["uint64", "int64"])
def test_comparisons_are_exact(a: str, target: str) -> None:
    """Also where no type holds both, and no float64 tells them apart."""
    for b in TYPES:
        pairs = [(x, y) for x in np.array(ends(a), a) for y in np.array(ends(b), b)]
        left, right = np.array([x for x, _ in pairs], a), np.array([y for _, y in pairs], b)
        found = np.zeros((len(pairs), 6), bool)
        compared.on(target)(tiles(len(pairs)), left, right, found)
        x, y = left.astype(object), right.astype(object)
        wanted = [x < y, x <= y, x > y, x >= y, x == y, x != y]
        np.testing.assert_array_equal(found, np.array(wanted, bool).T)
