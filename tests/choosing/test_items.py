"""What `auto` takes for loops over items: owners of one size, or by size where items differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.choosing.auto import choose, consider
from evenly.choosing.items import walks_items
from evenly.choosing.lengths import sums
from evenly.choosing.statistics import forget, work_of_items
from evenly.choosing.task import Task
from evenly.layouts import Batch
from evenly.layouts.positions import ItemWork
from evenly.runtime.looking import lengths_of as measured
from tests.items import KERNELS, arguments, batches
from tests.test_items_by_size import products

ITEMS = Task(items=True)
ONCE = Task(items=True, kept=False)
BY_WORK = ev.Nested(ev.Lrb(512, warp=4096), ev.per_item())
BLOCKS = ev.Nested(ev.BlockMapped(512), ev.per_item())
LARGEST_BY_ALL = ev.Nested(ev.Lrb(512, warp=4096, grid=32_768), ev.per_item())


def batch(rows: Any, length: int) -> Batch:
    """Matrices of so many rows, each of `length` nonzeros, all in the first column."""
    sizes = np.asarray(rows, np.int64)
    tiles = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    offsets = np.arange(tiles[-1] + 1, dtype=np.int32) * length
    indices, values = np.zeros(offsets[-1], np.int32), np.zeros(offsets[-1], np.float32)
    return Batch(offsets, indices, values, int(tiles[-1]), tiles, tiles)


def chosen(rows: Any, length: int, task: Task = ITEMS, target: str = "cuda") -> Any:
    return consider(batch(rows, length), target, task).schedule


def alike(rows: int, length: int, count: int = 1000) -> Any:
    return chosen(np.full(count, rows), length)


def one_of_many() -> np.ndarray[Any, Any]:
    """One item of 100,000 nonzeros among 10,000 small ones."""
    rows = np.full(10_000, 7)
    rows[5000] = 12_500
    return rows


def pareto() -> np.ndarray[Any, Any]:
    return np.clip(32 * (1 + np.random.default_rng(1).pareto(1.0, 10_000)), 1, 8000).astype(int)


def test_equal_items_get_owners_of_one_size() -> None:
    assert alike(992, 16) == ev.Nested(ev.BlockMapped(512), ev.GroupMapped(2))
    assert alike(1000, 20) == ev.Nested(ev.BlockMapped(512), ev.GroupMapped(4))
    assert alike(1024, 5) == ev.Nested(ev.BlockMapped(256), ev.ThreadMapped())
    assert alike(30, 500) == ev.Nested(ev.BlockMapped(256), ev.GroupMapped(32))


def test_tiny_items_have_lanes_for_up_to_eight_of_their_tiles() -> None:
    alone = ev.ThreadMapped()
    assert alike(3, 3) == alike(5, 3) == ev.Nested(ev.GroupMapped(4), alone)
    assert alike(16, 4) == ev.Nested(ev.GroupMapped(8), alone)
    assert alike(40, 8) == ev.Nested(ev.GroupMapped(16), ev.GroupMapped(2))
    assert alike(1, 1) == ev.Nested(ev.ThreadMapped(), alone)
    assert alike(4, 100) == ev.Nested(ev.GroupMapped(32), ev.GroupMapped(16))


def test_nearly_equal_items_are_as_equal_ones() -> None:
    rows = np.random.default_rng(0).integers(700, 1001, 1000)
    assert chosen(rows, 16) == alike(850, 16)
    assert chosen([*[5] * 1000, *[40] * 10], 3) == alike(5, 3)  # 8 times as much, on 4 threads


def uneven(longest: int) -> Batch:
    """Items of 200 rows of 4 nonzeros, and one of `longest`."""
    lengths = np.full(201, 4)
    lengths[77] = longest
    offsets = np.concatenate([[0], np.cumsum(np.tile(lengths, 100))]).astype(np.int32)
    starts = np.arange(101, dtype=np.int32) * 201
    indices, values = np.zeros(offsets[-1], np.int32), np.zeros(offsets[-1], np.float32)
    return Batch(offsets, indices, values, int(starts[-1]), starts, starts)


def test_threads_share_the_atoms_of_items_with_a_long_tile() -> None:
    splits = Task(items=True, splits=True)
    choice = consider(uneven(200), "cuda", splits)
    assert choice.schedule == ev.Nested(ev.BlockMapped(128), ev.NonzeroSplit(128, 8))
    assert choice.why.endswith("; the longest tile has 200: threads share atoms")
    whole = ev.Nested(ev.BlockMapped(64), ev.ThreadMapped())
    assert consider(uneven(200), "cuda", ITEMS).schedule == whole  # the kernel needs whole tiles
    assert consider(uneven(40), "cuda", splits).schedule == whole


def test_kernels_that_cannot_split_tiles_say_so() -> None:
    B, x = uneven(200), np.zeros(20_100, np.float32)
    chosen = products.plan(B, x, x.copy(), target="simt").schedule
    assert chosen == ev.Nested(ev.BlockMapped(128), ev.NonzeroSplit(128, 8))
    kernel = next(k for k in KERNELS if k.name == "running")
    given = arguments(kernel, B)
    assert kernel.plan(B, *given.values(), target="simt").schedule.inner.owns_tiles


def test_items_that_differ_get_teams_by_their_work() -> None:
    assert chosen(pareto(), 8) == BY_WORK
    assert chosen(pareto(), 8, ONCE) == BLOCKS  # one call does not pay for sorting


@pytest.mark.parametrize("task", [ITEMS, ONCE], ids=["plan", "call"])
def test_an_item_that_would_hold_the_launch_has_all_blocks(task: Task) -> None:
    assert chosen(one_of_many(), 8, task) == LARGEST_BY_ALL
    smaller = one_of_many() // 4 + 1
    assert chosen(smaller, 8, ITEMS) == BY_WORK  # 28,000 tiles and atoms: a block has it
    many = np.where(np.arange(10_000) % 10 == 0, 12_500, 7)
    assert chosen(many, 8, task) == BLOCKS  # each block has several as large
    rows = np.full(10_001, 7)
    rows[5000] = 200_000  # of 2.4 million tiles and atoms: four parts are 76,000
    assert chosen(rows, 8, task).outer.grid == 1 << 17
    among = np.full(300_001, 7)
    among[5000] = 200_000  # of 21 million: four parts are 650,000
    assert chosen(among, 8, task).outer.grid == 1 << 20


def test_a_few_large_items_have_several_blocks_each() -> None:
    for count, blocks in ((1, 128), (3, 42), (8, 16), (64, 2)):
        several = ev.Nested(ev.TeamMapped(blocks), ev.ThreadMapped())
        assert alike(20_000, 4, count) == several
    assert alike(20_000, 4, 65) == ev.Nested(ev.BlockMapped(512), ev.ThreadMapped())
    assert alike(6_000, 4, 8) == ev.Nested(ev.BlockMapped(512), ev.ThreadMapped())
    assert chosen(np.full(1, 20_000), 4, target="cpu") == ev.ThreadMapped()


def test_threads_of_a_block_share_the_longest_tile_of_a_large_item() -> None:
    """In a team a row has a few lanes of one block."""
    splits = Task(items=True, splits=True)
    sharing = ev.Nested(ev.BlockMapped(128), ev.NonzeroSplit(128, 8))
    assert chosen([1], 200_000, splits) == sharing
    assert isinstance(chosen([1], 200_000).outer, ev.TeamMapped)
    assert isinstance(chosen([20_000], 4, splits).outer, ev.TeamMapped)


def test_where_most_items_fill_a_block_each_gets_one() -> None:
    rows = np.random.default_rng(0).choice([11, 90, 500, 990], 1000)
    assert chosen(rows, 23) == chosen(rows, 23, ONCE) == BLOCKS


def test_one_huge_item_in_a_million_does_not_raise_the_spread_but_counts() -> None:
    rows = np.full(1_000_000, 1)
    rows[7] = 400
    B = batch(rows, 1)
    assert work_of_items(B).spread < 0.5
    assert consider(B, "simt", ITEMS).schedule == BY_WORK


def test_the_reasons_say_what_was_seen() -> None:
    def why(rows: Any, task: Task = ITEMS) -> str:
        return consider(batch(rows, 8), "cuda", task).why

    mean = "items of 8.2 tiles of 8.0 atoms, in the mean; they differ (spread 15.14), and the largest has 112,500 tiles "
    together = "and atoms: all blocks walk those of 32,768 and more together"
    assert why(one_of_many()) == why(one_of_many(), ONCE) == mean + together
    assert why(pareto()).endswith(" tiles and atoms")
    assert why(pareto(), ONCE).endswith("tiles and atoms; one call does not pay for sorting them")
    assert why(np.full(8, 20_000)).endswith(", in the mean; 8 large items have 16 blocks each")
    assert why(np.full(9, 40)) == "items of 40.0 tiles of 8.0 atoms, in the mean"
    assert why([*[9000] * 9, *[1] * 9]).endswith(
        "the largest has 81,000 tiles and atoms; most fill a block"
    )


def test_explain_says_what_loops_over_items_get() -> None:
    report = str(ev.explain(batch(np.full(9, 40), 8), target="cuda"))
    inner = "GroupMapped(size=2, block=256, flatten=False, items=4, run=1)"
    assert "  for loops over items: Nested(outer=GroupMapped(size=16, block=256," in report
    assert f"inner={inner}, stage=8192)\n    because items of 40.0 tiles of 8.0 atoms" in report
    assert "for loops over items" not in str(ev.explain(ev.ragged(np.arange(4))))
    assert (
        "because items of 201.0 tiles of 5.0 atoms, in the mean; the longest tile has 200"
        in str(ev.explain(uneven(200), target="cuda"))
    )


def test_a_cpu_walks_whole_items_whatever_they_are() -> None:
    for rows in (one_of_many(), np.full(9, 40)):
        for task in (ITEMS, ONCE):
            assert chosen(rows, 8, task, "cpu") == ev.ThreadMapped()


# ---- the statistics ------------------------------------------------------------------------------
def test_work_is_the_number_of_tiles_and_atoms() -> None:
    st = work_of_items(batch([2, 0, 3, 1], 2))
    assert (st.tiles, st.atoms, st.greatest, st.empty) == (4, 18, 9, 0.25)
    assert work_of_items(batch([], 2)).greatest == 0


@pytest.mark.parametrize("name", batches())
def test_the_kernel_measures_what_numpy_measures(name: str) -> None:
    """The kernel that `auto` runs on a GPU runs here on the CPU."""
    B = ev.batch(batches()[name])
    if B.num_items:
        assert measured(ItemWork(B), "cpu") == sums(ItemWork(B))


@ev.layout
class Pairs:
    """A layout of a user, whose items are two rows each."""

    offsets: ev.Array

    @property
    def num_tiles(self):
        return len(self.offsets) - 1

    @property
    def num_atoms(self):
        return self.offsets[self.num_tiles]

    @property
    def num_items(self):
        return self.num_tiles // 2

    def begin(self, tile):
        return self.offsets[tile]

    def end(self, tile):
        return self.offsets[tile + 1]

    def item_begin(self, item):
        return 2 * item

    def item_end(self, item):
        return 2 * item + 2


def test_items_of_a_layout_of_ones_own_are_measured_on_a_gpu_alone() -> None:
    own = Pairs(np.array([0, 3, 3, 9, 10]))
    assert sums(ItemWork(own)) is None
    assert consider(own, "cuda", ITEMS).why == "items of 2.0 tiles of 2.5 atoms, in the mean"
    assert measured(ItemWork(own), "cpu")[:3] == (5.0**2 + 9.0**2, 9, 0)


def test_items_of_one_pattern_are_equal() -> None:
    B = ev.batch(batches()["of all sizes"][0], np.ones((5, batches()["of all sizes"][0].nnz)))
    st = work_of_items(B)
    assert st.spread == 0 and st.greatest == (B.num_tiles + B.num_atoms) // 5
    assert measured(ItemWork(B), "cpu") == sums(ItemWork(B))


def test_statistics_are_measured_once_for_each_batch() -> None:
    B = batch([3] * 9, 3)
    assert choose(B, "cuda", ITEMS) == choose(B, "cuda", ITEMS)
    assert work_of_items(B) is (first := work_of_items(B))
    forget([B])
    assert work_of_items(B) is not first


@pytest.mark.simt
def test_a_plan_takes_what_was_chosen_and_is_right() -> None:
    rows = [3] * 300 + [300] + [0, 1] * 5
    rng = np.random.default_rng(2)
    B = batch(rows, 5)
    B = B.with_values(rng.integers(-3, 4, B.num_atoms).astype(np.float32))
    x, wanted, got = np.ones(B.num_columns), np.empty(B.num_tiles), np.empty(B.num_tiles)
    plan = products.on("simt").plan(B, x, got)
    assert plan.schedule == BY_WORK
    plan(B, x, got)
    products.on("python")(B, x, wanted)
    np.testing.assert_array_equal(got, wanted)


def test_rows_of_a_batch_are_judged_as_those_of_one_matrix() -> None:
    """Nothing is assumed of their columns, which are looked at."""
    rows = batch(np.full(400, 1000), 16)
    as_csr = ev.csr((rows.values, rows.indices, rows.offsets), shape=rows.shape, check=False)
    assert consider(rows, "cuda") == consider(as_csr, "cuda")


# ---- products of rows ----------------------------------------------------------------------------
def of_one_pattern(count: int, rows: int, length: int, apart: bool = True) -> Any:
    near = np.repeat(np.arange(rows), length) + np.tile(np.arange(length), rows)
    columns = np.random.default_rng(0).integers(0, rows, rows * length) if apart else near % rows
    offsets = np.arange(0, rows * length + 1, length, dtype=np.int32)
    values = np.ones(rows * length, np.float32)
    pattern = ev.csr((values, columns.astype(np.int32), offsets), shape=(rows, rows))
    return ev.batch(pattern, np.broadcast_to(values, (count, rows * length)).copy())


@pytest.mark.parametrize(
    ("count", "rows", "length", "apart", "walks"),
    [
        (5000, 1000, 12, True, True),
        (5000, 1000, 12, False, False),
        (500, 1000, 12, True, False),
        (5000, 100, 9, True, False),
        (5000, 1000, 3, True, False),
    ],
)
def test_products_of_one_pattern_walk_items(
    count: int, rows: int, length: int, apart: bool, walks: bool
) -> None:
    """If there are many, each fills a block, and its columns lie apart."""
    B = of_one_pattern(count, rows, length, apart)
    assert walks_items(B) == walks
    assert not walks_items(ev.batch([B[0]] * 3))
