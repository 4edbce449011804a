"""What the members of a group compute beside their leader, on a GPU (tests/targets/simt/test_members.py)."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from tests.targets.simt.test_members import ALONE, ROWS, SCHEDULES, TOGETHER, arguments

cupy = pytest.importorskip("cupy")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", ALONE, ids=lambda k: k.name)
def test_members_compute_with_whole_results(kernel: ev.Kernel, schedule: str) -> None:
    wanted, found = arguments(), [cupy.asarray(a) for a in arguments()]
    kernel.on("python")(ROWS, *wanted)
    kernel[SCHEDULES[schedule]].on("cuda")(ROWS.to("cuda"), *found)
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine.get(), theirs)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", TOGETHER, ids=lambda k: k.name)
def test_members_agree_on_what_others_change(kernel: ev.Kernel, schedule: str) -> None:
    R, x = ROWS.to("cuda"), cupy.ones(40 * 60, np.int64)
    for _ in range(50):
        bound, counts = cupy.full(3, 9), cupy.zeros(39, np.int64)
        kernel[SCHEDULES[schedule]].on("cuda")(R, x, bound, counts)
        assert set(counts.get().tolist()) <= {0, 60}
