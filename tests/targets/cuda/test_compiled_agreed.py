"""Kernels whose warps agree on what others change, compiled by NVRTC: for values of every width."""

from __future__ import annotations

import numpy as np
import pytest
from tests.emitting import emitted
from tests.targets.simt.test_agreed import ROWS, as_often, below
from tests.targets.simt.test_members import SCHEDULES, counted_down, numbered, summed

import evenly as ev
from evenly.targets.cuda import compile as compiling

pytest.importorskip("cuda.core")


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("kernel", [below, as_often], ids=lambda k: k.name)
def test_nvrtc_compiles_them(kernel: ev.Kernel, dtype: type) -> None:
    if kernel is as_often and dtype not in (np.int32, np.int64):
        pytest.skip("range takes integers")
    args = ROWS, np.ones(40 * 60), np.full(1, 9, dtype), np.zeros(39)
    codes = emitted(kernel, args, ev.GroupMapped(size=48, block=192))
    for code in codes:
        assert compiling.cubin(code.source, code.name, "sm_90")
    assert any("ev::from_leader(team, " in code.source for code in codes)


@pytest.mark.parametrize("schedule", ["group 8", "group 64", "lrb"])
@pytest.mark.parametrize("kernel", [numbered, counted_down, summed], ids=lambda k: k.name)
def test_nvrtc_compiles_members(kernel: ev.Kernel, schedule: str) -> None:
    args = ROWS, np.ones(40 * 60, np.int64), np.zeros(64, np.int64), np.zeros(39, np.int64)
    for code in emitted(kernel, args, SCHEDULES[schedule]):
        assert compiling.cubin(code.source, code.name, "sm_90")
