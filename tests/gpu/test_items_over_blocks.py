"""Items that belong to several blocks, on a GPU: large ones, the same bits in every run, and every way to launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.layouts import Batch
from tests.items import arguments, batches, halves, residuals
from tests.test_items_by_size import products
from tests.test_items_over_blocks import LARGEST, TEAM

pytestmark = pytest.mark.gpu
SCHEDULES = {
    "a team": TEAM,
    "all blocks": ev.Nested(ev.TeamMapped(1024), ev.per_item()),
    "two blocks a multiprocessor": ev.Nested(ev.TeamMapped(1024, 256), ev.GroupMapped(2)),
    "the largest": ev.Nested(ev.Lrb(512, warp=4096, grid=1 << 15), ev.per_item()),
}


def large(rows: int = 300_000, length: int = 8) -> Any:
    """An item of 2.4 million nonzeros between small ones."""
    rng = np.random.default_rng(4)
    sizes = np.full(200, 7)
    sizes[100] = rows
    tiles = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    offsets = np.arange(tiles[-1] + 1, dtype=np.int32) * length
    first = np.repeat(tiles[:-1], sizes)
    columns = first[:, None] + rng.integers(
        0, np.repeat(sizes, sizes)[:, None], (tiles[-1], length)
    )
    values = rng.integers(-3, 4, columns.size).astype(np.float64)
    indices = columns.reshape(-1).astype(np.int32)
    return Batch(offsets, indices, values, int(tiles[-1]), tiles, tiles)


def on_gpu(kernel: Any, B: Any) -> dict[str, Any]:
    cupy = pytest.importorskip("cupy")
    return {n: cupy.asarray(a) for n, a in arguments(kernel, B).items()}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", [products, residuals, halves], ids=lambda k: k.name)
def test_a_large_item(kernel: Any, schedule: str) -> None:
    cupy = pytest.importorskip("cupy")
    B = large()
    if kernel is products:
        x = np.arange(B.num_columns) % 7.0
        y = cupy.full(int(B.num_tiles), -7.0)
        kernel[SCHEDULES[schedule]](B.to("cuda"), cupy.asarray(x), y)
        np.testing.assert_array_equal(y.get(), ev.spmv(B, x))
        return
    wanted, got = arguments(kernel, B), on_gpu(kernel, B)
    kernel.on("cpu")(B, *wanted.values())
    for _ in range(3):
        again = on_gpu(kernel, B)
        kernel[SCHEDULES[schedule]](B.to("cuda"), *again.values())
        got = again
    for n, a in wanted.items():
        np.testing.assert_array_equal(got[n].get(), a, err_msg=n)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_equal_bits_in_every_run(schedule: str) -> None:
    cupy = pytest.importorskip("cupy")
    B = large().to("cuda")
    given = on_gpu(residuals, B)
    given["x"] = cupy.asarray(np.random.default_rng(3).random(len(given["x"])))
    plan = residuals.plan(B, *given.values(), schedule=SCHEDULES[schedule])
    plan(B, *given.values())
    first = given["norm"].copy()
    for _ in range(100):
        given["norm"].fill(0)
        plan(B, *given.values())
        assert (given["norm"] == first).all()


@pytest.mark.parametrize("schedule", [TEAM, LARGEST], ids=["team", "largest"])
def test_every_way_to_launch(schedule: Any) -> None:
    cupy = pytest.importorskip("cupy")
    core = pytest.importorskip("cuda.core")
    host = ev.batch(batches()["a dense one among small ones"])
    wanted = arguments(halves, host)
    halves.on("python")(host, *wanted.values())
    B, given = host.to("cuda"), on_gpu(halves, host)
    fresh = {n: a.copy() for n, a in given.items()}
    plan = halves.plan(B, *given.values(), schedule=schedule)
    launches = plan.launches
    assert any(item.cooperative for item in launches)

    def check(call: Any) -> None:
        for n, a in given.items():
            a[...] = fresh[n]
        call()
        cupy.cuda.get_current_stream().synchronize()
        for n, a in wanted.items():
            np.testing.assert_array_equal(given[n].get(), a, err_msg=n)

    check(lambda: plan(B, *given.values()))
    with plan.bind(B, *given.values()) as run:
        check(run)
        check(run)

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        plan(B, *given.values())
        stream.synchronize()
        stream.begin_capture()
        plan(B, *given.values())
        graph = stream.end_capture()

        def replay() -> None:
            graph.launch(stream)

        check(replay)
        check(replay)

    def one_by_one() -> None:
        device = core.Device()
        for item in launches:
            core.launch(device.default_stream, item.config, item.kernel, *item.arguments)
        device.sync()

    cupy.cuda.Device().synchronize()
    check(one_by_one)


@ev.kernel
def rounds(B, x, n):
    left = 3
    while left > 0:
        for item in B.items():
            s = 0.0
            for row in B.tiles(item):
                s += x[row]
            for row in B.tiles(item):
                x[row] = 0.5 * (x[row] + s)
            n[item] = left
        left -= 1


@pytest.mark.parametrize("schedule", [TEAM, LARGEST], ids=["team", "largest"])
def test_in_a_loop_on_the_device(schedule: Any) -> None:
    cupy = pytest.importorskip("cupy")
    B = ev.batch(batches()["a dense one among small ones"])
    x, n = np.arange(float(B.num_tiles)), np.zeros(B.num_items, np.int32)
    there = cupy.asarray(x), cupy.asarray(n)
    rounds.on("python")(B, x, n)
    for _ in range(2):
        there[0][...] = cupy.arange(float(B.num_tiles))
        rounds[schedule](B.to("cuda"), *there)
        np.testing.assert_array_equal(there[0].get(), x)


def test_calls_on_two_streams_at_once() -> None:
    """Cooperative launches do not wait for each other's blocks: each runs alone."""
    cupy = pytest.importorskip("cupy")
    B, schedule = large().to("cuda"), SCHEDULES["all blocks"]
    x = cupy.asarray(np.arange(B.num_columns) % 7.0)
    outputs = [cupy.full(int(B.num_tiles), -7.0) for _ in range(3)]
    plans = [products.plan(B, x, y, schedule=schedule) for y in outputs]
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in outputs]
    cupy.cuda.Device().synchronize()
    for _ in range(20):
        for plan, y, stream in zip(plans, outputs, streams, strict=True):
            with stream:
                plan(B, x, y)
    cupy.cuda.Device().synchronize()
    wanted = ev.spmv(B, x)
    for y in outputs:
        assert (y == wanted).all()
