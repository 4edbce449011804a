"""What tests of users' schedules share: layouts, kernels, and the proof that all work is done once and right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.gpus.gpu import WARP
from tests.batteries import layout_batteries, matrices
from tests.emitting import codes
from tests.kernels import CASES, reference, spmv, tolerance

SIMT = pytest.param("simt", marks=pytest.mark.simt)
FAST = ["cpu", SIMT]
FEW = ("row_extremes", "softmax", "spmm", "spmv_dot")
MANY = "many empty between"
NASTY = ("no tiles", "no atoms", "one atom", "empty at the end", MANY, "power law")
COMPILED = {
    "spmv": "sm_90",
    "row_extremes": "sm_80",
    "spmv_dot": "sm_100",
}  # by NVRTC, for which GPUs
LENGTHS = ev.ragged(np.array([0, 5, 9, 12]))


@ev.kernel
def lengths(A, y):
    for tile in A.tiles():
        y[tile] = sum(1 for _ in A.atoms(tile))


def large(own: Any) -> bool:
    """Whether plain Python, which walks the tiles of each member, takes long for thousands of tiles."""
    return own.owner == "group" and own.size >= WARP


def takes_all_once(own: Any, target: str) -> None:
    """Each atom is visited once, and each tile left once, on nasty layouts."""
    options = {"seeds": range(2)} if target == "simt" else {}
    for name in set(NASTY) - {MANY} if large(own) else NASTY:
        ev.verify(own, ev.ragged(layout_batteries()[name]), target=target, **options)


def gives_what_the_reference_gives(
    own: Any, kernel: str, target: str, names: Iterable[str]
) -> None:
    case = CASES[kernel]
    for name in names:
        matrix = matrices(np.float32)[name]
        args = case.arguments(ev.csr(matrix), matrix, np.float32)
        case.kernel[own].on(target)(*args)
        wanted = reference(case, name, matrix, "csr", np.float32)
        for i, expected in zip(case.outputs, wanted, strict=True):
            np.testing.assert_allclose(args[i], expected, **tolerance(np.float32), err_msg=name)


def nvrtc_compiles(own: Any, kernel: str) -> None:
    pytest.importorskip("cuda.core")
    from evenly.targets.cuda import compile as compiling

    for code in codes(CASES[kernel], own):
        assert compiling.resources(code.source, code.name, COMPILED[kernel])["code"] > 0


def is_right_on_a_gpu(own: Any) -> None:
    import cupy

    for name in NASTY:
        ev.verify(own, ev.ragged(layout_batteries()[name]), target="cuda")
    matrix = matrices(np.float32)["power law"]
    x, y = cupy.ones(matrix.shape[1], cupy.float32), cupy.empty(matrix.shape[0], cupy.float32)
    spmv[own](ev.csr(matrix).to("cuda"), x, y)
    np.testing.assert_array_equal(y.get(), matrix @ x.get())
