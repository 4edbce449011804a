"""Expressions of integers of every width, signed and not: every target gives what NumPy's scalars give."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from tests.integers import run

from .building import made
from .integer_expressions import LARGE, ROWS, arguments, by_numpy, kernel_text
from .test_typed_expressions import Rows


def agree(seed: int, target: str, moved: Callable[[Any], Any] = copy.deepcopy) -> None:
    """Compare a random kernel with NumPy. moved: moves an argument to the target."""
    text, stores = kernel_text(seed)
    given = arguments()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = by_numpy(stores)
        run(
            ev.kernel(made(text, LARGE=LARGE), source=text).on(target),
            (Rows(ROWS), *given.values()),
            moved,
        )
    for name, array in wanted.items():
        for i, (out, expression) in enumerate(stores):
            if out == name:
                np.testing.assert_array_equal(given[name][:, i], array[:, i], err_msg=expression)


@pytest.mark.parametrize("seed", range(12))
def test_the_reference_agrees(seed: int) -> None:
    agree(seed, "python")


@pytest.mark.parametrize("seed", range(4))
def test_cpu_agrees(seed: int) -> None:
    agree(seed, "cpu")


@pytest.mark.simt
@pytest.mark.parametrize("seed", range(4, 6))
def test_simt_agrees(seed: int) -> None:
    agree(seed, "simt")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "cpu", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("seed", range(100, 200))
def test_all_agree(target: str, seed: int) -> None:
    agree(seed, target)
