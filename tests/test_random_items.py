"""Kernels over items made at random, under nested schedules: every target computes what the reference does."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, note, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.language.diagnostics import LanguageError
from tests.items import SCHEDULES, SPLIT
from tests.language.building import made
from tests.language.random_items import kernels_of_items

STORED = ("y", "q", "out_atom", "u", "v", "t", "c", "g")
SIZES = {"few": (3, 0, 1, 5), "many": (2, 0, 40, 1, 7, 3, 0, 12, 1, 1, 2, 9)}


@functools.cache
def batch(sizes: str, narrow: bool) -> Any:
    rng = np.random.default_rng(3)
    matrices = []
    for n in SIZES[sizes]:
        m = sp.random_array((n, n), density=min(1.0, 3 / max(n, 1)), rng=rng, format="csr")
        m.data = rng.integers(-3, 4, m.nnz).astype(np.float32)
        matrices.append(m)
    return ev.batch(matrices, narrow=narrow)


def arguments(B: Any) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    rows, items = int(B.num_tiles), int(B.num_items)
    return {
        "A": B,
        "x": rng.integers(-4, 5, rows).astype(np.float32),
        "z": rng.integers(-4, 9, rows).astype(np.int32),
        "w": rng.integers(-4, 5, rows).astype(np.float64),
        "n": 3,
        "y": np.zeros(rows),
        "q": np.zeros(rows, np.int64),
        "out_atom": np.zeros(int(B.num_atoms)),
        "u": rng.integers(0, 9, rows).astype(np.float64),
        "v": rng.integers(0, 9, rows).astype(np.float64),
        "t": rng.integers(0, 9, items).astype(np.float64),
        "c": np.zeros(2 + items, np.int64),
        "g": np.zeros(2),
    }


def same(kernel: Any, B: Any, how: str, wanted: dict[str, Any]) -> None:
    got = arguments(B)
    kernel(*got.values())
    for name in STORED:
        np.testing.assert_array_equal(got[name], wanted[name], err_msg=f"{how}: {name}")


@pytest.mark.simt
@settings(max_examples=6)
@given(
    text=kernels_of_items(),
    schedule=st.sampled_from(sorted(SCHEDULES)),
    sizes=st.sampled_from(sorted(SIZES)),
    narrow=st.booleans(),
)
def test_simt(text: str, schedule: str, sizes: str, narrow: bool) -> None:
    note(text)
    B = batch(sizes, narrow)
    kernel = ev.kernel(made(text), source=text)
    wanted = arguments(B)
    kernel.on("python")(*wanted.values())
    try:
        same(kernel[SCHEDULES[schedule]].on("simt"), B, schedule, wanted)
    except LanguageError as error:
        if not (schedule in SPLIT and "under an inner schedule that splits tiles" in str(error)):
            raise


@settings(max_examples=3)
@given(text=kernels_of_items())
def test_cpu(text: str) -> None:
    note(text)
    B = batch("many", False)
    kernel = ev.kernel(made(text), source=text)
    wanted = arguments(B)
    kernel.on("python")(*wanted.values())
    same(kernel.on("cpu"), B, "cpu", wanted)
