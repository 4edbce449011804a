"""The product of layouts, schedules, kernels and dtypes on a GPU, against the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.kernels import CASES, ROW_LAYOUTS, SCHEDULES, inputs, laid_out, reference, tolerance

pytestmark = pytest.mark.gpu
DTYPES = (np.float32, np.float64)


WHOLE = ("csr", "ell", "bcsr", "dia", "subset")  # of these layouts, every combination


def combinations() -> list[tuple[str, str, str, int]]:
    """The product; of the other layouts, every third combination, since they differ from one of `WHOLE` in places alone."""
    found = itertools.product(SCHEDULES, CASES, ROW_LAYOUTS, range(2))
    return [c for i, c in enumerate(found) if c[2] in WHOLE or i % 3 == 0]


@pytest.mark.parametrize(("schedule", "kernel", "layout", "dtype"), combinations())
def test_cuda_gives_what_the_reference_gives(
    kernel: str, schedule: str, layout: str, dtype: int
) -> None:
    cupy = pytest.importorskip("cupy")
    case, t = CASES[kernel], DTYPES[dtype]
    bound = case.kernel[SCHEDULES[schedule]].on("cuda")
    for name, matrix in inputs(case, layout, t).items():
        host = laid_out(case, matrix, layout)
        args = [host.to("cuda"), *(cupy.asarray(a) for a in case.arguments(host, matrix, t)[1:])]
        bound(*args)
        first = [args[i].get() for i in case.outputs]
        for place, got, expected in zip(
            case.outputs, first, reference(case, name, matrix, layout, t), strict=True
        ):
            np.testing.assert_allclose(
                got, expected, **tolerance(t), err_msg=f"{name}, argument {place}"
            )
        if case.kernel.name != "column_counts":  # which counts on from where it is
            bound(*args)
            for i, got in zip(case.outputs, first, strict=True):
                assert args[i].get().tobytes() == got.tobytes(), (
                    f"{name}: other bits on the second run"
                )
