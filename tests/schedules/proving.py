"""What tests of users' schedules share: layouts, kernels, and the proof that all work is done once and right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.gpus.gpu import WARP
from tests.batteries import layout_batteries, matrices
from tests.kernels import CASES, reference, tolerance

SIMT = pytest.param("simt", marks=pytest.mark.simt)
FAST = ["cpu", SIMT]
FEW = ("row_extremes", "softmax", "spmm", "spmv_dot")
MANY = "many empty between"
NASTY = ("no tiles", "no atoms", "one atom", "empty at the end", MANY, "power law")
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
