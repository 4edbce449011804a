"""User-defined layouts and schedules on target `cuda`, compiled by NVRTC without a GPU."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.generators import rmat
from evenly.targets.cuda import compile as compiling
from tests.emitting import emitted

pytest.importorskip("cuda.core")


@ev.schedule
class WarpsOfTiles:
    """Its threads use a group, though each tile belongs to one thread. Only `launch` has the number of threads."""

    owner = "thread"

    def launch(self, layout):
        return -(-layout.num_tiles // 128), 128

    def tiles(self, layout):
        warp = ev.group(32)
        return range(warp.index * 32 + warp.rank, layout.num_tiles, warp.count * 32)

    def atoms(self, layout, tile):
        return range(layout.begin(tile), layout.end(tile))


def schedules() -> dict[str, Any]:
    return {
        "thread_mapped": importlib.import_module("thread_mapped").ThreadMapped(),
        "work_oriented": importlib.import_module("work_oriented").WorkOriented(),
        "group_shares": importlib.import_module("group_shares").GroupShares(),
        "warps_of_tiles": WarpsOfTiles(),
        "merge_path": ev.MergePath(),
    }


@pytest.mark.parametrize("layout", ["csr", "sliced_ell"])
@pytest.mark.parametrize(
    "name", ["thread_mapped", "work_oriented", "group_shares", "warps_of_tiles", "merge_path"]
)
def test_they_compile(name: str, layout: str) -> None:
    kernel, schedule = importlib.import_module("spmv").spmv, schedules()[name]
    make = ev.csr if layout == "csr" else importlib.import_module("sliced_ell").sliced_ell
    args = make(rmat(4)), np.ones(16, np.float32), np.ones(16, np.float32)
    for code in emitted(kernel, args, schedule):
        assert compiling.cubin(code.source, code.name, "sm_90")


def test_such_a_schedule_is_right() -> None:
    importlib.import_module("spmv").main(WarpsOfTiles(), "cpu", layouts=("csr",))
