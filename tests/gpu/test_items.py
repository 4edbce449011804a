"""Loops over items on a GPU: every kernel under every nesting is the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.choosing.statistics import work_of_items
from tests.items import KERNELS, SCHEDULES, arguments, batches, runs
from tests.test_items_by_size import one_of_many, products

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("schedule", [*SCHEDULES, "auto"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_items(kernel: Any, schedule: str) -> None:
    cupy = pytest.importorskip("cupy")
    if not runs(kernel, schedule):
        pytest.skip("an item's tiles cannot be split")
    for name, matrices in batches().items():
        if not matrices:
            continue
        B = ev.batch(matrices)
        wanted = arguments(kernel, B)
        kernel.on("python")(B, *wanted.values())
        given = {n: cupy.asarray(a) for n, a in arguments(kernel, B).items()}
        kernel[SCHEDULES.get(schedule, schedule)](B.to("cuda"), *given.values())
        for n, a in wanted.items():
            np.testing.assert_array_equal(given[n].get(), a, err_msg=f"{n} of {name}")


@pytest.mark.parametrize("inner", [ev.ThreadMapped(), ev.GroupMapped(4), ev.per_item()], ids=str)
@pytest.mark.parametrize("outer", [ev.Lrb(), ev.DynamicChunks(1, size=64)], ids=str)
def test_one_item_of_100_000_nonzeros(outer: Any, inner: Any) -> None:
    cupy = pytest.importorskip("cupy")
    B = one_of_many()
    x = np.arange(B.num_columns) % 7.0
    y = cupy.full(int(B.num_tiles), -7.0)
    given = B.to("cuda"), cupy.asarray(x), y
    plan = products.plan(*given, schedule=ev.Nested(outer, inner))
    for _ in range(3):
        y.fill(-7)
        plan(*given)
        np.testing.assert_array_equal(y.get(), ev.spmv(B, x))
    plan.check()


def test_auto_measures_items_where_they_are() -> None:
    cupy = pytest.importorskip("cupy")
    B = one_of_many()
    there = B.to("cuda")
    assert work_of_items(there) == work_of_items(B)
    x = np.arange(B.num_columns) % 7.0
    y = cupy.full(int(B.num_tiles), -7.0)
    plan = products.plan(there, cupy.asarray(x), y)
    assert plan.schedule == ev.Nested(ev.Lrb(512, warp=4096, grid=32_768), ev.per_item())
    plan(there, cupy.asarray(x), y)
    np.testing.assert_array_equal(y.get(), ev.spmv(B, x))
