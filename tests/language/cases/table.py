"""The table of small kernels: one a construct, with its arguments and what it must give.

    @case(A=rows([1, 2], [], [3]), y=out("float32", [3, 0, 3]))
    def sum_of_a_generator(A, y):
        ...

Expected values are written out, so that they hang on no implementation. Values are small
integers where they are added up: then every order of adding gives the same bits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.layouts.contract import is_layout
from evenly.layouts.csr import Csr
from evenly.layouts.frontier import Frontier
from tests.batteries import array, readable


@dataclass(frozen=True)
class Out:
    """An output: its expected values, and what it holds before."""

    expected: np.ndarray
    start: np.ndarray


@dataclass(frozen=True)
class Case:
    function: Callable[..., None]
    given: dict[str, Any]
    owned_only: bool  # a loop over atoms inside a serial loop: for schedules that own whole tiles
    tolerance: float  # relative; 0 asks for equal bits

    @property
    def name(self) -> str:
        return self.function.__name__

    def arguments(self) -> dict[str, Any]:
        """Fresh arguments, in the order of the parameters."""
        return {name: _fresh(value) for name, value in self.given.items()}

    def check(self, arguments: dict[str, Any]) -> None:
        for name, value in self.given.items():
            if isinstance(value, Out):
                got = arguments[name]
                assert got.dtype == value.expected.dtype
                np.testing.assert_allclose(
                    readable(got),
                    readable(value.expected),
                    rtol=self.tolerance,
                    atol=0,
                    err_msg=name,
                )
            elif isinstance(value, np.ndarray):
                np.testing.assert_array_equal(arguments[name], value, err_msg=f"{name} was changed")


CASES: list[Case] = []


def case(
    owned_only: bool = False, tolerance: float = 0.0, **given: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def add(function: Callable[..., None]) -> Callable[..., None]:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        assert set(names) == set(given), (names, given)
        CASES.append(Case(function, {n: given[n] for n in names}, owned_only, tolerance))
        return function

    return add


def _fresh(value: Any) -> Any:
    if isinstance(value, Out):
        return value.start.copy()
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Frontier):
        fields = {n: _fresh(getattr(value, n)) for n in value.growing.hidden}
        return dataclasses.replace(value, **fields)
    return value


def out(dtype: str, expected: Sequence[Any], start: Any = 0) -> Out:
    values = array(dtype, expected)
    return Out(values, np.broadcast_to(array(dtype, start), values.shape).copy())


def f16(*values: float) -> np.ndarray:
    return np.asarray(values, np.float16)


def bf16(*values: float) -> np.ndarray:
    return array("bfloat16", values)


def f32(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def f64(*values: float) -> np.ndarray:
    return np.asarray(values, np.float64)


def c64(*values: complex) -> np.ndarray:
    return np.asarray(values, np.complex64)


def c128(*values: complex) -> np.ndarray:
    return np.asarray(values, np.complex128)


def i32(*values: int) -> np.ndarray:
    return np.asarray(values, np.int32)


def i64(*values: int) -> np.ndarray:
    return np.asarray(values, np.int64)


def truths(*values: int) -> np.ndarray:
    return np.asarray(values, bool)


def rows(
    *values: Sequence[Any], columns: Sequence[Sequence[int]] | None = None, dtype: str = "float32"
) -> Csr:
    """A Csr with these values in each row, in columns 0, 1, ... of it or in the columns given."""
    places = columns if columns is not None else [range(len(row)) for row in values]
    flat = [v for row in values for v in row]
    at = [c for row in places for c in row]
    offsets = np.cumsum([0, *(len(row) for row in values)])
    width = max((*at, len(values) - 1)) + 1
    layout = Csr(
        offsets.astype(np.int32), np.asarray(at, np.int32), np.asarray(flat, dtype), int(width)
    )
    assert is_layout(layout)
    return layout


def tiles(n: int) -> Csr:
    """n tiles with no atoms."""
    return rows(*([] for _ in range(n)))
