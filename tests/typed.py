"""The types beside float32 and float64: which of them meet which schedule, layout and kernel, and the test itself.

The arguments of a case are made in float32 and then given another type, since SciPy has no matrices of 16 bits; of
complex ones each real number r becomes r * (2 + 1j), so that both parts have something to do, and exactly.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import evenly as ev
from evenly import kit
from evenly.interop.transfer import to_numpy
from evenly.layouts.contract import is_layout
from tests.batteries import array, matrices, readable
from tests.kernels import CASES, ROW_LAYOUTS, SCHEDULES, Case, inputs, laid_out
from tests.shared import once

TYPES = ("complex64", "complex128", "float16", "bfloat16")
KERNELS = ("spmv", "spmv_dot", "spmm", "normalised")  # they need no order, and see the matrix alone
TURNED = 2 + 1j
TOLERANCES = {
    "complex64": {"rtol": 2e-5, "atol": 1e-5},
    "complex128": {"rtol": 1e-12, "atol": 1e-12},
    "float16": {"rtol": 2.0**-10, "atol": 1e-3},  # the last bit of a number that is stored
    "bfloat16": {"rtol": 2.0**-7, "atol": 1e-3},
}


def covering() -> list[tuple[str, str, str, str]]:
    """(kernel, schedule, layout, type): every two of different kinds meet."""
    return [
        (KERNELS[(i + j) % 4], schedule, ROW_LAYOUTS[(i + j // 3) % 4], t)
        for i, t in enumerate(TYPES)
        for j, schedule in enumerate(SCHEDULES)
    ]


def few(first: int = 0) -> list[tuple[str, str, str, str]]:
    """Each schedule once, the others in turn: for what takes long."""
    turns = {schedule: (j + j // 4 + first) % 4 for j, schedule in enumerate(SCHEDULES)}
    return [p for p in covering() if TYPES.index(p[3]) == turns[p[1]]]


def retyped(value: Any, t: str) -> Any:
    """An argument with the type `t` in place of float32, indices as they are."""
    if is_layout(value):
        return dataclasses.replace(value, values=retyped(value.values, t))
    if t == "float32" or not isinstance(value, np.ndarray) or value.dtype != np.float32:
        return value
    if "int" in t:  # negative ones wrap; what is nan, since nothing has stored it yet, is a number
        return np.nan_to_num(value, nan=99).astype(np.int64).astype(t)
    return array(t, value * TURNED if t.startswith("complex") else value)


def arguments(case: Case, matrix: Any, layout: str, t: str) -> list[Any]:
    given = case.arguments(laid_out(case, matrix, layout), matrix, np.float32)
    return [retyped(value, t) for value in given]


@functools.cache
def references(kernel: str, t: str) -> dict[str, list[np.ndarray]]:
    """What target `python` stores for each matrix of the battery."""
    case = CASES[kernel]

    def stored(matrix: Any) -> list[np.ndarray]:
        args = arguments(case, matrix, "csr", t)
        case.kernel.on("python")(*args)
        return [readable(args[i]) for i in case.outputs]

    given = inputs(case, "csr", np.float32, all_walked=True)
    return once(f"{kernel} in {t}", lambda: {name: stored(m) for name, m in given.items()})


def gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, t: str, target: str, **options: Any
) -> None:
    """A case's kernel on the whole battery."""
    case = CASES[kernel]
    bound = case.kernel[SCHEDULES[schedule]].on(target, **options)
    for name, matrix in inputs(case, layout, np.float32, all_walked=True).items():
        args = arguments(case, matrix, layout, t)
        bound(*args)
        agree(name, [args[i] for i in case.outputs], kernel, t)


def agree(name: str, got: list[np.ndarray], kernel: str, t: str) -> None:
    """Whether the outputs for one matrix equal the reference's."""
    for mine, wanted in zip(got, references(kernel, t)[name], strict=True):
        np.testing.assert_allclose(readable(mine), wanted, **TOLERANCES[t], err_msg=name)


@ev.kernel
def several(A, sums, counts, largest, total):
    """Accumulators of several widths side by side, of tiles and of the whole grid."""
    tiles = 0
    whole = 0
    for row in A.tiles():
        count = 0
        here = 0
        most = 0
        for k in A.atoms(row):
            count += 1
            here += A.value(k)
            most = max(most, abs(A.value(k)))
        sums[row] = here
        counts[row] = count
        largest[row] = most
        tiles += count
        whole += here
    total[0] = whole * tiles


def several_agree(schedule: str, t: str, target: str, moved: Callable[[Any], Any]) -> None:
    """Check `several`. moved: moves an argument to the target; results are read from NumPy's arrays."""
    for name in ("power law", "a tile longer than a block", "many empty between"):
        matrix = matrices(np.float32)[name]
        A = retyped(ev.csr(matrix), t)
        n, real = matrix.shape[0], "float64" if t == "complex128" else "float32"
        outputs = [array(t, np.ones(n)), np.ones(n, np.int32), np.ones(n, real), array(t, [1])]
        there = [moved(value) for value in outputs]
        several[SCHEDULES[schedule]].on(target)(moved(A), *there)
        several.on("python")(A, *outputs)
        for got, wanted in zip(there, outputs, strict=True):
            np.testing.assert_allclose(
                readable(to_numpy(got)), readable(wanted), **TOLERANCES[t], err_msg=name
            )


@ev.kernel
def move(E, x, order, y, z):
    for i in E.tiles():
        y[i] = x[order[i]]
        z[i] = x[i] if order[i] > 1 else 0.5


def moved_bits_are_kept(dtype: str, target: str, put: Any = lambda x: x) -> None:
    """Elements of 16 bits are stored as they were read, each NaN, too."""
    exponent, half = {"float16": (0x7C00, 0x3800), "bfloat16": (0x7F80, 0x3F00)}[dtype]
    bits = np.arange(2**16, dtype=np.uint16)
    bits = bits[(bits & exponent == exponent) | (bits % 61 == 0)]
    n, x = len(bits), bits.view(array(dtype, np.zeros(1)).dtype)
    order = np.random.default_rng(0).permutation(n).astype(np.int32)
    given = [put(a) for a in (x, order, np.zeros_like(x), np.zeros_like(x))]
    move[ev.ThreadMapped()].on(target)(kit.each(n), *given)
    y, z = (to_numpy(a).view(np.uint16) for a in given[2:])
    assert (y == bits[order]).all()
    assert (z == np.where(order > 1, bits, half)).all()
