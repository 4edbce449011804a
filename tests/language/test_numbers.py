"""Complex arithmetic and 16-bit conversions, number by number, against NumPy: the nasty ones and all halves."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.narrow import narrowed, widened
from evenly.language.types import BFLOAT16
from evenly.targets.python import operators

from .cases.table import tiles

TARGETS = ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)]
PARTS = [0.0, -0.0, 1.0, -3.0, 0.1, 7e-4, 1e30, -3e38, 1e-40, np.inf, -np.inf, np.nan]
PLAIN = [0.0, 1.0, -3.0, 0.1, 7e-4, 1e15, -2.5e-12]

Run = Callable[..., None]


@ev.kernel
def operate(A, a, b, products, quotients, magnitudes, equal):
    for t in A.tiles():
        products[t] = a[t] * b[t]
        quotients[t] = a[t] / b[t]
        magnitudes[t] = abs(a[t])
        equal[t] = a[t] == b[t]


@ev.kernel
def widen(A, halves, brains, of_halves, of_brains):
    for t in A.tiles():
        of_halves[t] = halves[t]
        of_brains[t] = brains[t]


@ev.kernel
def narrow(A, x, halves, brains):
    for t in A.tiles():
        halves[t] = x[t]
        brains[t] = x[t]


def pairs(parts: list[float], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.array([complex(re, im) for re, im in itertools.product(parts, parts)], dtype)
    return tuple(np.array(list(itertools.product(numbers, numbers)), dtype).T.copy())  # type: ignore[return-value]


def operations_agree(run: Run, dtype: str, parts: list[float]) -> None:
    a, b = pairs(parts, dtype)
    real = np.zeros(1, dtype).real.dtype
    got = np.empty_like(a), np.empty_like(a), np.empty(len(a), real), np.empty(len(a), bool)
    run(operate, tiles(len(a)), a, b, *got)
    with np.errstate(all="ignore"):
        # NumPy's own product of arrays may fuse a multiplication and an addition.
        product = a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real
        size = np.abs(a)
        close(got[0].real, product[0], size * np.abs(b))
        close(got[0].imag, product[1], size * np.abs(b))
        close(got[1].real, (a / b).real, size / np.abs(b))
        close(got[1].imag, (a / b).imag, size / np.abs(b))
        close(got[2], size, size)
        np.testing.assert_array_equal(got[3], a == b)


def close(got: np.ndarray, expected: np.ndarray, size: np.ndarray) -> None:
    """Equal, or apart by a few roundings of what was added up."""
    assert got.dtype == expected.dtype
    limits = np.finfo(got.dtype)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    near = np.abs(got - expected) <= 8 * limits.eps * size + limits.tiny
    wrong = np.flatnonzero(~(same | near))
    assert not len(wrong), (len(wrong), wrong[0], got[wrong[0]], expected[wrong[0]])


def every_element_is_read(run: Run) -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    halves, brains = bits.view(np.float16), bits.view(BFLOAT16.dtype)
    got = np.empty((2, 2**16), np.float32)
    run(widen, tiles(2**16), halves, brains, *got)
    np.testing.assert_array_equal(got[0], halves.astype(np.float32))
    np.testing.assert_array_equal(got[1], widened(brains))


def hard_to_round(dtype: Any) -> np.ndarray:
    """Numbers beside each float of 16 bits, and half way between two."""
    bits = np.arange(0, 2**15, 7, dtype=np.uint16)
    found = []
    for elements in (bits.view(np.float16), widened(bits.view(BFLOAT16.dtype))):
        with np.errstate(all="ignore"):
            numbers = elements.astype(np.float64)
            middle = (numbers[:-1] + numbers[1:]) / 2
            after = np.nextafter(numbers.astype(dtype), dtype(np.inf))
        found += [
            numbers,
            middle,
            np.nextafter(middle, 0),
            np.nextafter(middle, np.inf),
            after,
            -numbers,
        ]
    with np.errstate(all="ignore"):
        ties = bits.astype(np.float64) + 2.0**-11 + [[0], [2.0**-40], [-(2.0**-40)]]
        return np.concatenate([*found, *ties, [65519.99, 65520, 1e300, 5e-324]]).astype(dtype)  # fmt: skip


def numbers_are_rounded_once(run: Run, dtype: Any) -> None:
    x = hard_to_round(dtype)
    halves, brains = np.empty(len(x), np.float16), np.empty(len(x), BFLOAT16.dtype)
    run(narrow, tiles(len(x)), x, halves, brains)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(halves, x.astype(np.float16))
    number = ~np.isnan(x)  # a GPU gives every NaN the same sign
    np.testing.assert_array_equal(np.signbit(halves[number]), np.signbit(x[number]))
    np.testing.assert_array_equal(widened(brains), widened(narrowed(x)))


def on(target: str) -> Run:
    return lambda kernel, *args: kernel[ev.ThreadMapped()].on(target)(*args)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("target", TARGETS)
def test_complex_operations(target: str, dtype: str) -> None:
    operations_agree(on(target), dtype, PARTS if target == "cpu" else PLAIN[1:5] + PARTS[6:])


@pytest.mark.parametrize("target", TARGETS)
def test_every_element_is_read(target: str) -> None:
    every_element_is_read(on(target))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("target", TARGETS)
def test_numbers_are_rounded_once(target: str, dtype: Any) -> None:
    numbers_are_rounded_once(on(target), dtype)


EDGES = (0, 1, -1, 2, -7, 2**31, 2**62, 2**63 - 1, -(2**62), -(2**63))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "floor_divide", "remainder"])
def test_weak_integers_have_64_bits_in_the_reference(name: str) -> None:
    """Also at the edges, where Python's integers go on."""
    ours, numpys = getattr(operators, name), getattr(np, name)
    for a, b in itertools.product(EDGES, EDGES):
        if b == 0 and name in ("floor_divide", "remainder"):
            with pytest.raises(ZeroDivisionError):
                ours(a, b)
            continue
        with np.errstate(over="ignore"):
            found, expected = ours(a, b), int(numpys(np.int64(a), np.int64(b)))
        assert (type(found), found) == (int, expected), (a, b)
