"""Loops over items under nested schedules: every target computes what the reference does."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.choosing.candidates import candidates
from evenly.errors import InputError
from evenly.language.diagnostics import LanguageError
from tests.covering import one_in
from tests.emitting import emitted
from tests.items import (
    KERNELS,
    SCHEDULES,
    SPLIT,
    arguments,
    batches,
    by_column,
    residuals,
    running,
    runs,
)
from tests.shared import once

SIZES = "of all sizes"


@ev.schedule
class Eights:
    """Groups of one size, which is no parameter."""

    block: int = 64
    owner = "group"
    size = 8

    def launch(self, layout):
        return layout.num_tiles, self.block

    def tiles(self, layout):
        return range(ev.group(8).index, layout.num_tiles, ev.group(8).count)

    def atoms(self, layout, tile):
        return range(layout.begin(tile) + ev.group(8).rank, layout.end(tile), 8)


@functools.cache
def batch(name: str, dtype: Any = np.float64) -> Any:
    return ev.batch(batches(dtype)[name])


@functools.cache
def reference(kernel: Any, name: str) -> dict[str, np.ndarray]:
    return once(f"{kernel.name} of {name}", lambda: run(kernel, name, ev.ThreadMapped(), "python"))


def run(kernel: Any, name: str, schedule: Any, target: str) -> dict[str, np.ndarray]:
    given = arguments(kernel, batch(name))
    kernel[schedule].on(target)(batch(name), *given.values())
    return given


def is_reference(kernel: Any, name: str, schedule: Any, target: str) -> None:
    got = run(kernel, name, schedule, target)
    for n, wanted in reference(kernel, name).items():
        np.testing.assert_array_equal(got[n], wanted, err_msg=f"{n} of {name}")


@pytest.mark.parametrize("name", [name for name, ms in batches().items() if ms])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_cpu(kernel: Any, name: str) -> None:
    is_reference(kernel, name, SCHEDULES["tiles to groups of a block"], "cpu")


@pytest.mark.parametrize(
    ("kernel", "schedule"), one_in(3, KERNELS, SCHEDULES), ids=lambda v: getattr(v, "name", v)
)
def test_simt(kernel: Any, schedule: str) -> None:
    if not runs(kernel, schedule):
        pytest.skip("an item's tiles cannot be split")
    for name in (SIZES, "items without rows"):
        is_reference(kernel, name, SCHEDULES[schedule], "simt")


@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
def test_no_items(target: str) -> None:
    nothing = np.zeros(0)
    kernel = next(k for k in KERNELS if k.name == "counts")
    for schedule in (SCHEDULES["a block an item"], "auto"):
        whole = np.full(2, -7.0)
        kernel[schedule].on(target)(
            batch("no items"), nothing, nothing, *[np.zeros(0, np.int64)] * 2, whole
        )
        np.testing.assert_array_equal(whole, [0, 0])


def test_nvrtc_compiles() -> None:
    compiling = pytest.importorskip("evenly.targets.cuda.compile")
    pytest.importorskip("cuda.bindings.nvrtc")
    for kernel, schedule in zip(KERNELS, list(SCHEDULES.values())[2:], strict=False):
        given = arguments(kernel, batch(SIZES))
        for code in emitted(kernel, (batch(SIZES), *given.values()), schedule):
            assert compiling.cubin(code.source, code.name, "sm_90")


def test_nvrtc_compiles_tiles_that_threads_share() -> None:
    compiling = pytest.importorskip("evenly.targets.cuda.compile")
    pytest.importorskip("cuda.bindings.nvrtc")
    given = arguments(residuals, batch(SIZES))
    for schedule in sorted(SPLIT):
        for code in emitted(residuals, (batch(SIZES), *given.values()), SCHEDULES[schedule]):
            assert compiling.cubin(code.source, code.name, "sm_90")


def test_what_fits_is_staged_and_what_does_not_is_not() -> None:
    given = arguments(residuals, batch(SIZES))
    for stage, places in ((8192, 1024), (24, 3), (0, 0)):
        schedule = ev.Nested(ev.BlockMapped(64), stage=stage)
        (code,) = emitted(residuals, (batch(SIZES), *given.values()), schedule)
        assert (f"ev::staged<double, {places}, pos>" in code.source) == (places > 0)


@pytest.mark.parametrize(
    ("outer", "together"),
    [(ev.BlockMapped(64), True), (ev.WarpMapped(64), True), (ev.GroupMapped(16, 64), False)],
    ids=str,
)
def test_groups_of_a_warp_that_has_one_item_reduce_together(outer: Any, together: bool) -> None:
    """One shuffle serves all of them. It would wait for ever if they had tiles of items of different sizes."""
    given = arguments(residuals, batch(SIZES))
    schedule = ev.Nested(outer, ev.GroupMapped(4))
    (code,) = emitted(residuals, (batch(SIZES), *given.values()), schedule)
    assert ("const ev::group<4, 64, true> team;" in code.source) == together
    is_reference(residuals, SIZES, schedule, "simt")


# ---- what is refused -----------------------------------------------------------------------------
def test_schedules_that_do_not_hand_out_items() -> None:
    given = arguments(residuals, batch(SIZES))
    for schedule in (
        ev.MergePath(),
        ev.NonzeroSplit(),
        ev.per_item(),
    ):
        for target in ("cpu", "simt"):
            with pytest.raises(InputError) as caught:
                residuals[schedule].on(target)(batch(SIZES), *given.values())
            assert str(caught.value) == (
                "schedule: expected one that hands out items, such as ev.Nested(ev.BlockMapped(), ev.ThreadMapped()), "
                f"got {schedule}; hint: residuals has a loop over items"
            )


def test_nested_schedules_for_loops_over_tiles() -> None:
    B, x = batch(SIZES), arguments(residuals, batch(SIZES))["x"]
    nested = ev.Nested(ev.BlockMapped(), ev.ThreadMapped())
    with pytest.raises(InputError) as caught:
        spmv_rows[nested](B, x, x.copy())
    assert str(caught.value) == (
        f"schedule: expected one that hands out tiles, such as ev.ThreadMapped(), ev.MergePath(), got {nested}; hint: "
        "spmv_rows has a loop over tiles; those over items, for item in B.items(), have Nested"
    )


@pytest.mark.parametrize(
    ("outer", "inner", "message"),
    [
        (
            ev.MergePath(),
            ev.ThreadMapped(),
            "Nested.outer: expected a schedule that owns whole tiles",
        ),
        (
            ev.per_item(),
            ev.ThreadMapped(),
            "Nested.outer: expected a schedule that owns whole tiles",
        ),
        (
            ev.GroupMapped(8),
            ev.NonzeroSplit(),
            "Nested.outer: expected a schedule that gives an item to a block, such as BlockMapped(), got GroupMapped",
        ),
        (
            ev.BlockMapped(),
            ev.Lrb(),
            "Nested.inner: expected a schedule that owns whole tiles",
        ),
        (
            ev.BlockMapped(),
            ev.Nested(ev.BlockMapped()),
            "Nested.inner: expected a schedule that owns whole tiles",
        ),
        (
            ev.BlockMapped(),
            "thread_mapped",
            "Nested.inner: expected a schedule that owns whole tiles",
        ),
        (
            ev.ThreadMapped(),
            ev.GroupMapped(8),
            "Nested.inner: expected a schedule for threads, got GroupMapped",
        ),
        (
            ev.WarpMapped(),
            ev.GroupMapped(6),
            "Nested.inner: expected groups of a power of two that divides 32",
        ),
        (
            ev.BlockMapped(64),
            ev.GroupMapped(128),
            "Nested.inner: expected groups of at most 64 threads",
        ),
        (
            ev.Lrb(),
            ev.MergePath(),
            "Nested.outer: expected a schedule that gives an item to a block, such as BlockMapped(), got Lrb(",
        ),
        (
            ev.DynamicChunks(size=256),
            ev.NonzeroSplit(),
            "Nested.outer: expected a schedule that gives an item to a block, such as BlockMapped(), got DynamicChunks("
            "chunk=64, size=256, block=256, items=4); hint: NonzeroSplit(block=256, items=4, min_blocks=0, run=1) splits "
            "tiles among the threads of a block, which Lrb, DynamicChunks and TeamMapped cannot have it do",
        ),
        (
            ev.DynamicChunks(size=8),
            ev.GroupMapped(16),
            "Nested.inner: expected groups of a power of two that divides 8",
        ),
        (
            ev.Lrb(),
            ev.GroupMapped(512, 512),
            "Nested.inner: expected groups of a power of two of threads, at most 256, got GroupMapped",
        ),
        (
            ev.Lrb(lanes=4),
            ev.GroupMapped(6),
            "Nested.inner: expected groups of a power of two of threads, at most 256, got GroupMapped(size=6, block=256, "
            "flatten=False, items=4, run=1); hint: an item belongs to 1, 4, 32 or 256 threads, by its work; groups are at "
            "most as large as that",
        ),
        (
            ev.Lrb(),
            Eights(),
            "Nested.inner: expected groups of a power of two of threads, at most 256, whose class has a parameter "
            "`size: int = ...`, got Eights(",
        ),
    ],
)
def test_schedules_that_do_not_nest(outer: Any, inner: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ev.Nested(outer, inner)
    assert str(caught.value).startswith(message)


@ev.kernel
def two_passes(B, y):
    for item in B.items():
        for row in B.tiles(item):
            most = max((B.value(k) for k in B.atoms(row)), default=0.0)
            y[row] = sum(math.exp(B.value(k) - most) for k in B.atoms(row))


@ev.kernel
def dense_axis(B, X, Y):
    for item in B.items():
        for row in B.tiles(item):
            for j in ev.lanes(X.shape[1]):
                Y[row, j] = sum(B.value(k) * X[B.column(k), j] for k in B.atoms(row))


@pytest.mark.parametrize(
    ("kernel", "what"),
    [
        (running, "ev.scan or ev.rank over the atoms of an item's tiles"),
        (by_column, "tiles that add to a local array of their item"),
        (two_passes, "tiles whose loops over atoms need each other's results"),
        (dense_axis, "ev.lanes around a loop over atoms of an item's tiles"),
    ],
)
@pytest.mark.parametrize("target", ["cpu", "simt"])
def test_tiles_of_items_that_cannot_be_split(kernel: Any, what: str, target: str) -> None:
    B = batch(SIZES)
    rows = int(B.num_tiles)
    given = {
        "two_passes": lambda: [np.zeros(rows)],
        "dense_axis": lambda: [np.zeros((rows, 2)), np.zeros((rows, 2))],
    }.get(kernel.name, lambda: list(arguments(kernel, B).values()))()
    with pytest.raises(LanguageError) as caught:
        kernel[ev.Nested(ev.BlockMapped(64), ev.MergePath())].on(target)(B, *given)
    assert f"{what}, under an inner schedule that splits tiles" in str(caught.value)
    assert "hint: an inner schedule that owns whole tiles, such as ev.GroupMapped(8)" in str(
        caught.value
    )


@ev.schedule
class Talking:
    """Threads tell each other numbers in `setup`."""

    block: int = 64
    size: int = 8
    owner = "thread"

    def launch(self, layout):
        return max(1, -(-layout.num_tiles // 64)), 64

    def setup(self, layout):
        before = ev.group(self.size).scan(1) - 1
        first = ev.thread_index() // self.size * self.size
        return layout, first + before

    def tiles(self, state):
        return range(state[1], state[0].num_tiles, ev.thread_count())

    def atoms(self, state, tile):
        return range(state[0].begin(tile), state[0].end(tile))


def test_threads_of_an_item_that_tell_each_other_numbers() -> None:
    is_reference(residuals, SIZES, ev.Nested(ev.BlockMapped(64), Talking()), "simt")
    for outer, inner, message in (
        (
            ev.WarpMapped(64),
            Talking(),
            "Nested.outer: expected BlockMapped(64), since threads tell each other numbers",
        ),
        (
            ev.BlockMapped(64),
            Talking(size=48),
            "a size that divides the 64 threads that own an item, got 48",
        ),
    ):
        with pytest.raises(InputError) as caught:
            run(residuals, SIZES, ev.Nested(outer, inner), "simt")
        assert message in str(caught.value)


@pytest.mark.parametrize("ask", [ev.verify, lambda schedule, B: schedule.partition(B, 4)])
def test_nested_schedules_say_nothing_of_tiles_alone(ask: Any) -> None:
    message = r"schedule: expected one that hands out tiles.*got Nested\(.*try schedule\.outer"
    with pytest.raises(InputError, match=message):
        ask(ev.Nested(ev.BlockMapped(64), ev.MergePath()), batch(SIZES))


def test_more_shared_memory_than_there_is() -> None:
    with pytest.raises(
        InputError, match=r"Nested\(stage=...\): expected an integer from 0 to 40960, got 65536"
    ):
        ev.Nested(ev.BlockMapped(), stage=65536)


def test_the_reference_reports_what_is_not_staged() -> None:
    @ev.kernel
    def beyond(B, x, y):
        for item in B.items():
            xs = ev.stage(x, range(B.item_begin(item), B.item_end(item)))
            for row in B.tiles(item):
                y[row] = xs[0]

    B, y = batch(SIZES), np.zeros(batch(SIZES).num_tiles)
    with pytest.raises(InputError, match=r"x: expected an index that is staged: 1\.\.2, got 0"):
        beyond.on("python")(B, y.copy(), y)
    with pytest.raises(Exception, match="an element that is read is staged"):
        beyond[ev.BlockMapped(64)].on("simt")(B, y.copy(), y)


@pytest.mark.parametrize("schedule", [ev.GroupMapped(8), ev.BlockMapped(64), ev.Lrb()], ids=str)
def test_arrays_of_the_layout_are_staged(schedule: Any) -> None:
    @ev.kernel
    def product(B, x, y):
        for row in B.tiles():
            values = ev.stage(B.values, range(B.begin(row), B.end(row)))
            columns = ev.stage(B.indices, range(B.begin(row), B.end(row)))
            y[row] = sum(values[k] * x[columns[k]] for k in B.atoms(row))

    B, x = batch(SIZES), arguments(residuals, batch(SIZES))["x"]
    got, wanted = np.zeros(len(x)), np.zeros(len(x))
    product.on("python")(B, x, wanted)
    product[schedule].on("simt")(B, x, got)
    np.testing.assert_array_equal(got, wanted)


def test_the_reference_reports_a_part_that_an_array_does_not_have() -> None:
    @ev.kernel
    def beyond(B, x, y):
        for item in B.items():
            xs = ev.stage(x, range(B.item_begin(item), len(x) + 1))
            y[item] = xs[0]

    B, y = batch(SIZES), np.zeros(batch(SIZES).num_tiles)
    with pytest.raises(
        InputError, match=r"x: expected a part to stage within 0\.\.262, got 0\.\.263"
    ):
        beyond.on("python")(B, y.copy(), y)


def test_items_of_a_layout_that_has_none() -> None:
    A = ev.csr(batches()[SIZES][3])
    with pytest.raises(LanguageError) as caught:
        residuals.on("cpu")(A, *[np.zeros(A.num_tiles)] * 4)
    assert caught.value.message == "the items of B: Csr has none"


def test_tuning_tries_what_hands_out_items() -> None:
    given = arguments(residuals, batch(SIZES))
    plan = residuals.plan(batch(SIZES), *given.values(), target="cpu")
    tuned = plan.tune(seconds=0.1, save=False)
    assert tuned.tuning.left_out == {}
    tuned = plan.tune(candidates=["thread_mapped", "merge_path"], seconds=0.1, save=False)
    (why,) = tuned.tuning.left_out.values()
    assert why.startswith("expected one that hands out items, such as ev.Nested(")
    tried = {type(s) for s in candidates("cuda", items=True)}
    assert tried == {ev.ThreadMapped, ev.Nested}
    assert ev.Nested not in {type(s) for s in candidates("cuda")}
