"""Which kernels, schedules, row layouts and dtypes the tests of a target take, and the test itself.

The default run takes a covering set: every pair of (kernel, schedule), (kernel, layout) and
(schedule, layout) meets. `make test-all` runs the product.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.kernels import CASES, ROW_LAYOUTS, SCHEDULES, inputs, laid_out, reference, tolerance

DTYPES = (np.float32, np.float64)
MOST_THREADS = 100_000  # that an emulator takes through a kernel for tiles of one matrix


def covering() -> set[tuple[str, str, str, int]]:
    """Return a set in which each kernel meets each schedule, and both meet each layout and dtype."""
    chosen = set()
    for i, kernel in enumerate(CASES):
        for j, schedule in enumerate(SCHEDULES):
            chosen.add(
                (kernel, schedule, ROW_LAYOUTS[(i + j) % len(ROW_LAYOUTS)], (i + j // 2) % 2)
            )
    return chosen


def parameters() -> list:
    """The product, for parametrize: (kernel, schedule, layout, number of the dtype)."""
    chosen = covering()
    product = itertools.product(CASES, SCHEDULES, ROW_LAYOUTS, range(2))
    return [
        pytest.param(*p, id="-".join(map(str, p)), marks=() if p in chosen else pytest.mark.slow)
        for p in product
    ]


def gives_what_the_reference_gives(
    kernel: str, schedule: Any, layout: str, dtype: type, target: str, **options: Any
) -> None:
    """Compare a case's kernel with the reference on the whole battery."""
    case = CASES[kernel]
    bound = case.kernel[schedule].on(target, **options)
    for name, matrix in inputs(case, layout, dtype, target == "simt").items():
        args = case.arguments(laid_out(case, matrix, layout), matrix, dtype)
        if target == "simt" and threads_of_tiles(schedule, args[0]) > MOST_THREADS:
            continue
        bound(*args)
        expected = reference(case, name, matrix, layout, dtype)
        for place, wanted in zip(case.outputs, expected, strict=True):
            np.testing.assert_allclose(
                args[place], wanted, **tolerance(dtype), err_msg=f"{name}, argument {place}"
            )


def threads_of_tiles(schedule: Any, layout: Any) -> int:
    """The threads of a launch in which each tile has a team of its own: tests of hundreds show what thousands would."""
    owned = schedule.owner == "group" and not getattr(schedule, "flatten", False)
    return int(layout.num_tiles) * schedule.size if owned else 0
