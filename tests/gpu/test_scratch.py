"""Scratch arrays on a GPU: in shared memory and in the workspace, under every schedule that owns whole tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import evenly as ev
from evenly.errors import InputError
from tests.scratch import CASES, OWNED

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.gpu


def example(seed: int = 0) -> sp.csr_array:
    """Rows of a few atoms, and some of many."""
    rng = np.random.default_rng(seed)
    long = sp.random_array((4, 3000), density=0.7, rng=rng)
    short = sp.random_array((3000, 3000), density=0.002, rng=rng)
    return sp.vstack([short, long]).tocsr()


def run(case: str, matrix: sp.csr_array, m: int, schedule: Any, **options: Any) -> None:
    A = ev.csr(matrix).to("cuda")
    out = cupy.full(matrix.shape[0], -9, np.int64)
    CASES[case].kernel[schedule].on("cuda", **options)(A, m, out)
    np.testing.assert_array_equal(out.get(), CASES[case].expected(matrix, m))


@pytest.mark.parametrize("schedule", OWNED)
@pytest.mark.parametrize("case", CASES)
def test_every_schedule(case: str, schedule: str) -> None:
    run(case, example(), 700, OWNED[schedule])


@pytest.mark.parametrize("schedule", ["group 8", "block", "dynamic", "lrb"])
def test_few_blocks_at_a_time(schedule: str) -> None:
    run("symbolic", example(1), 3000, OWNED[schedule], max_workspace=4_000_000)


def test_lengths_are_asked_for_at_each_call() -> None:
    offsets = cupy.array([0, 1, 20_000], np.int32)  # a valid matrix, whose second row is cut below
    indices = cupy.arange(20_000, dtype=np.int32) % 5000
    A = ev.csr((cupy.ones(20_000, np.float32), indices, offsets), shape=(2, 5000))
    out, kernel = cupy.zeros(2, np.int64), CASES["distinct"].kernel
    plan = kernel.plan(A, 5000, out, schedule="warp_mapped")
    with plan.bind(A, 5000, out) as call:
        for end in (2, 20_000, 50, 9_000):
            offsets[2] = end
            for way in (lambda: plan(A, 5000, out), lambda: kernel(A, 5000, out), call):
                out[:] = 0
                way()
                np.testing.assert_array_equal(out.get(), [1, min(end - 1, 5000)])


def test_captured_streams_are_refused() -> None:
    A = ev.csr(example()).to("cuda")
    out = cupy.zeros(A.num_tiles, np.int64)
    plan = CASES["distinct"].kernel.plan(A, 9, out, schedule="warp_mapped")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        plan(A, 9, out)
        stream.synchronize()
        stream.begin_capture()
        try:
            with pytest.raises(InputError, match="a stream that is not being captured"):
                plan(A, 9, out)
        finally:
            stream.end_capture()


def test_max_workspace_says_what_is_needed() -> None:
    A = ev.csr(example()).to("cuda")
    out = cupy.zeros(A.num_tiles, np.int64)
    with pytest.raises(InputError, match="max_workspace: expected at least"):
        CASES["histogram"].kernel.on("cuda", max_workspace=100)(A, 700, out)
    assert CASES["histogram"].kernel.plan(A, 700, out).workspace > 0
