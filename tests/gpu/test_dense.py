"""Dense axes on a GPU: every shape of a team, every width, and the choice of `auto`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from tests.batteries import matrices
from tests.dense import ALONG, CASES, WIDTHS

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.gpu

SCHEDULES = ALONG | {
    "auto": "auto",
    "warp 4": ev.WarpMapped(lanes=32, vector=4),
    "many": ev.GroupMapped(128, lanes=8, vector=4),
}
OTHERS = [c for c in CASES if c != "spmm"]


def check(case: str, schedule: Any, width: int, dtype: Any) -> None:
    for name, matrix in matrices(dtype).items():
        args = CASES[case].arguments(ev.csr(matrix), matrix, width, dtype)
        CASES[case].kernel["thread_mapped"].on("cpu")(*args)
        A, *rest = CASES[case].arguments(ev.csr(matrix), matrix, width, dtype)
        given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in rest]
        CASES[case].kernel[schedule].on("cuda")(A.to("cuda"), *given)
        for i in CASES[case].outputs:
            found = given[i - 1].get()
            np.testing.assert_array_equal(found, args[i], err_msg=f"{name} {width}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_width(schedule: str, dtype: Any) -> None:
    for width in WIDTHS:
        check("spmm", SCHEDULES[schedule], width, dtype)


@pytest.mark.parametrize("case", OTHERS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_other_kernels(schedule: str, case: str) -> None:
    for width in (3, 8, 33):
        check(case, SCHEDULES[schedule], width, np.float32)


def test_the_same_bits_in_every_run() -> None:
    rng = np.random.default_rng(0)
    matrix = matrices(np.float32)["power law"]
    matrix.data = rng.standard_normal(matrix.nnz).astype(np.float32)
    A = ev.csr(matrix).to("cuda")
    X = cupy.asarray(rng.standard_normal((matrix.shape[1], 33)).astype(np.float32))
    for name in ("group 8", "block", "dynamic 64", "lrb", "merge", "merge 1", "nonzero"):
        seen = set()
        for _ in range(20):
            Y = cupy.empty((matrix.shape[0], 33), np.float32)
            CASES["spmm"].kernel[ALONG[name]](A, X, Y)
            seen.add(Y.tobytes())
        assert len(seen) == 1, name


@pytest.mark.parametrize("case", ["spmm", "sddmm", "stored_inside"])
@pytest.mark.parametrize("schedule", ["group 8", "lrb", "merge"])
def test_what_the_host_knows_of_rows_holds_for_one_call_alone(case: str, schedule: str) -> None:
    """Code for aligned words is not taken for the next call, whose rows are none."""
    matrix, kernel = matrices(np.float32)["power law"], CASES[case].kernel[ALONG[schedule]]
    for width, first in (8, 0), (8, 1), (7, 0), (8, 0), (8, 1):
        wanted = CASES[case].arguments(ev.csr(matrix), matrix, width, np.float32)
        CASES[case].kernel["thread_mapped"].on("cpu")(*wanted)
        A, *rest = CASES[case].arguments(ev.csr(matrix), matrix, width, np.float32)
        given = [from_element(a, first) if isinstance(a, np.ndarray) else a for a in rest]
        kernel.on("cuda")(A.to("cuda"), *given)
        for i in CASES[case].outputs:
            np.testing.assert_array_equal(given[i - 1].get(), wanted[i])


def from_element(array: np.ndarray, first: int) -> Any:
    """Copy an array to the GPU, so many elements after where memory begins."""
    memory = cupy.zeros(array.size + first, array.dtype)
    made = memory[first:].reshape(array.shape)
    made.set(array)
    return made
