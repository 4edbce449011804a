"""Blocks of lanes around passes: LLVM packs them into vectors. Every width is made of some."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from tests.targets.cpu.programs import WORKERS, compiled, csr_of, run

import evenly as ev
from evenly.targets.cpu import kept, loading


@ev.kernel
def spmm(A, B, C):
    for row in A.tiles():
        for j in ev.lanes(B.shape[1]):
            C[row, j] = sum(A.value(k) * B[A.column(k), j] for k in A.atoms(row))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_block_is_packed(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(kept, "read_file", lambda *_: None)  # what is kept has no text
    A = csr_of(np.array([0, 3, 3, 9]), dtype)
    arguments = {"A": A, "B": np.ones((50, 45), dtype), "C": np.zeros((3, 45), dtype)}
    made = compiled(spmm, arguments, ev.ThreadMapped())
    number = {"float32": "float", "float64": "double"}[dtype]
    code = loading.load(made.source).phase_0.inspect_llvm()
    packed = re.findall(rf"fadd <(\d+) x {number}>", code)
    assert packed and max(map(int, packed)) >= 4


@pytest.mark.parametrize("width", [3, 13, 45, 79])
def test_widths_of_all_blocks(width: int) -> None:
    A = csr_of(np.array([0, 3, 3, 9, 40]))
    B = np.random.default_rng(width).integers(-4, 5, (50, width)).astype(np.float32)
    arguments = {"A": A, "B": B, "C": np.full((4, width), np.nan, np.float32)}
    made = compiled(spmm, arguments, ev.ThreadMapped())
    matrix = sp.csr_array((A.values, A.indices, A.offsets), shape=(4, 50))
    for workers in WORKERS:
        run(made, arguments, workers)
        np.testing.assert_array_equal(arguments["C"], matrix @ B)
