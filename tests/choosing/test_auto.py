"""The first rule of `auto`, and what it says of itself."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from evenly.choosing.scatter import by_numpy, scattered
from evenly.runtime.scatter import by_kernel

import evenly as ev
from evenly.arguments import spec_of
from evenly.choosing import auto
from evenly.choosing.auto import consider
from evenly.choosing.candidates import candidates
from evenly.choosing.model import bins, predicted, split
from evenly.choosing.statistics import Statistics, statistics
from evenly.choosing.task import Task, product_of, task_of
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import for_memory, numbers
from evenly.interop.generators import rmat, stencil
from evenly.layouts import Csr, convert
from evenly.layouts.emitted import filling
from evenly.targets.cuda import place
from tests.batteries import layout_batteries
from tests.interop import fakes
from tests.kernels import CASES

# For kernels that gather nothing, as the data file has it.
STREAMS_SORTED = ev.Lrb(512, thread=16, group=128)
BY_DRIVER = slice(2)  # of its `shares`, those that leave the carveout to the driver


def chosen(A, target: str = "cuda", whole: bool = False):
    return consider(A, target, Task(whole_tiles=whole)).schedule


def equal_tiles(tiles: int, atoms: int):
    return ev.ragged(np.arange(tiles + 1, dtype=np.int64) * atoms)


def test_regular_tiles_get_threads_or_groups() -> None:
    assert chosen(equal_tiles(4_000_000, 5)) == ev.ThreadMapped(128)
    assert chosen(equal_tiles(4_000_000, 3)) == ev.ThreadMapped(128, items=3)
    assert chosen(equal_tiles(50_000, 48)) == ev.GroupMapped(8, items=6)
    assert chosen(equal_tiles(500, 2000)) == ev.GroupMapped(256, 512, items=6)


def test_where_bytes_are_the_bound_atoms_lie_side_by_side() -> None:
    """Runs have as many bytes as pay off: values that are twice as wide come in half as many."""
    assert chosen(equal_tiles(500_000, 64)) == ev.GroupMapped(8, items=8, run=8)
    wide = [consider(equal_tiles(500_000, 32), "cuda", Task(width=n)).schedule for n in (8, 16)]
    assert [schedule.run for schedule in wide] == [4, 1]
    assert chosen(equal_tiles(50_000, 64)).run == 1


def test_the_larger_a_value_the_fewer_lanes_fold_it() -> None:
    """Folding between lanes costs more for large values, and their runs lie farther apart: an argmax gets 1 to 8 lanes."""
    long = equal_tiles(500_000, 64)
    tasks = Task(streams=True), Task(streams=True, value_bytes=16)
    lanes = [consider(long, "cuda", task).schedule for task in tasks]
    assert lanes == [ev.GroupMapped(n, items=8, run=8) for n in (8, 4)]


def test_a_power_law_is_divided_evenly() -> None:
    assert chosen(ev.csr(rmat(16))) == ev.MergePath(256, 4, carveout=7)
    assert chosen(ev.csr(rmat(16)), target="cpu") == ev.MergePath()


@pytest.mark.parametrize("place", [0, 700_001, 999_999])
def test_one_long_tile_among_a_million_is_seen(place: int) -> None:
    """The long tile alone decides how long a schedule takes that gives it to one group."""
    lengths = np.full(1_000_000, 4)
    lengths[place] = 500_000
    A = ev.ragged(np.concatenate([[0], np.cumsum(lengths)]))
    assert chosen(A) == ev.NonzeroSplit(128, 8)
    wide = Task(value_bytes=40)
    assert consider(A, "cuda", wide).schedule == ev.MergePath(min_blocks=4)


def test_simt_gets_what_the_gpu_would_get() -> None:
    for matrix in (stencil(64), rmat(12)):
        assert chosen(ev.csr(matrix), target="simt") == chosen(ev.csr(matrix))


def test_predictions_grow_with_the_work() -> None:
    small, large = (statistics(equal_tiles(n, 10)) for n in (1_000, 1_000_000))
    less, more = (predicted(st, numbers()) for st in (small, large))
    assert all(more[s] > less[s] for s in less if s in more)
    assert len(less) == 10
    assert not any(s.owner == "share" for s in predicted(small, numbers(), Task(whole_tiles=True)))


def test_tiles_that_are_mostly_empty_are_divided_by_atoms() -> None:
    sizes = np.zeros(2_000_000, np.int64)
    sizes[::20] = np.random.default_rng(0).integers(0, 40, len(sizes[::20]))
    assert chosen(ev.ragged(np.concatenate([[0], np.cumsum(sizes)]))).owns_tiles
    sizes[20] = 100_000
    assert chosen(ev.ragged(np.concatenate([[0], np.cumsum(sizes)]))) == ev.NonzeroSplit()


def test_kernels_that_need_whole_tiles_get_such_a_schedule() -> None:
    for target in ("cpu", "cuda"):
        assert chosen(ev.csr(rmat(16)), target, whole=True).owns_tiles


@pytest.mark.parametrize("name", layout_batteries())
def test_every_layout_gets_an_answer(name: str) -> None:
    for target in ("cpu", "cuda"):
        choice = consider(ev.ragged(layout_batteries()[name]), target)
        assert choice.why
        assert len(choice.rejected) >= 4


def test_it_is_a_pure_function_of_the_statistics() -> None:
    A, B = rmat(14, seed=1), rmat(14, seed=1)
    B.data[:] = 7
    assert chosen(ev.csr(A)) == chosen(ev.csr(B))


def test_explain_says_what_it_saw_and_why() -> None:
    report = str(ev.explain(rmat(14), target="cuda"))
    assert "tiles 16,384, atoms" in report
    assert "chosen: MergePath(block=512, items=4, min_blocks=0, carveout=7)" in report
    assert "because tile lengths vary" in report
    assert re.search(r"ThreadMapped\(block=128, items=5\): \d+\.\d us predicted", report)


def test_explain_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ev.InputError, match="A: expected a layout or a sparse matrix, got int"):
        ev.explain(3)
    with pytest.raises(
        ev.InputError, match="target: expected one of auto, cpu, cuda, .*, got 'gpu'"
    ):
        ev.explain(ev.ragged(np.array([0, 2])), target="gpu")


@ev.kernel
def many_sums(A, y):
    for row in A.tiles():
        one, two, three = 0j, 0j, 0j
        four, five = 0j, 0j
        for k in A.atoms(row):
            one += A.value(k)
            two += A.value(k) * 2
            three += A.value(k) * 3
            four += A.value(k) * 4
            five += A.value(k) * 5
        y[row] = one + two + three + four + five


def test_values_that_no_block_can_exchange_are_not_divided() -> None:
    """80 bytes for each tile: what the lanes of MergePath exchange does not fit into a block's shared memory."""
    A = ev.csr(rmat(14).astype(np.complex128))
    spec = tuple(spec_of(value, "A") for value in (A, np.zeros(A.num_tiles, np.complex128)))
    task = task_of(many_sums.program(spec))
    assert task.value_bytes == 80
    assert chosen(A) == ev.MergePath(512, 4, carveout=7)
    assert consider(A, "cuda", task).schedule.owns_tiles


def test_tiles_are_sorted_by_plans_only() -> None:
    sizes = np.zeros(2_000_000, np.int64)
    sizes[::50] = 3
    A = ev.ragged(np.concatenate([[0], np.cumsum(sizes)]))
    assert chosen(A) == ev.Lrb(block=512, items=1)
    assert isinstance(consider(A, "cuda", Task(kept=False)).schedule, ev.ThreadMapped)


@pytest.mark.parametrize("streams", [False, True])
def test_what_is_sorted_is_what_was_measured(streams: bool) -> None:
    """If most tiles are empty, Lrb gets one item, whatever the kernel: its few tiles have nothing to load at once."""
    sizes = np.zeros(200_000, np.int64)
    sizes[::20] = 40
    sizes[7] = 3_000
    st = statistics(ev.ragged(np.concatenate([[0], np.cumsum(sizes)])))
    assert bins(st, numbers(), Task(streams=streams)) == ev.Lrb(block=512, items=1)
    assert ev.Lrb(block=512, items=1) in candidates("cuda")


def test_a_few_very_long_tiles_among_short_ones_are_sorted_out() -> None:
    """A block of 512 threads walks a tile of 1,024 atoms or more. Otherwise one warp would walk it alone."""
    for longest, sorts in ((2_000, True), (1_000, False)):
        lengths = np.full(2_000, 8)
        lengths[[3, 700, 1_999]] = longest
        A = ev.ragged(np.concatenate([[0], np.cumsum(lengths)]))
        assert (chosen(A) == ev.Lrb(block=512)) == sorts
        assert consider(A, "cuda", Task(kept=False)).schedule.engine != "bins"


@ev.kernel
def padded(A, y):
    for row in A.tiles():
        small = 0.0
        one, two, three = 0j, 0j, 0j
        for k in A.atoms(row):
            small += A.value(k).real
            one += A.value(k)
            two += A.value(k) * 2
            three += A.value(k) * 3
        y[row] = one + two + three + small


def test_values_are_as_wide_as_structs_are() -> None:
    """56 bytes of fields make a struct of 64."""
    A = ev.csr(rmat(14).astype(np.complex128))
    spec = tuple(spec_of(value, "A") for value in (A, np.zeros(A.num_tiles, np.complex128)))
    task = task_of(padded.program(spec))
    assert task.value_bytes == 64
    assert consider(A, "cuda", task).schedule.owns_tiles


# ---- kernels that gather nothing -----------------------------------------------------------------
@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def spmv_of_columns(A, x, y):
    for column in A.tiles():
        for k in A.atoms(column):
            ev.atomic_add(y, A.row(k), A.value(k) * x[column])


@ev.kernel
def row_argmax(A, where):
    for row in A.tiles():
        where[row] = ev.argmax((A.value(k) for k in A.atoms(row)), default=-1)


@ev.kernel
def deviations(A, x, y):
    for row in A.tiles():
        y[row] = sum(abs(A.value(k) - x[row]) for k in A.atoms(row))


def task(kernel, *arguments) -> Task:
    specs = (spec_of(value, "A") for value in arguments)
    return task_of(kernel.program(tuple(specs)))


def test_who_gathers_does_not_stream() -> None:
    A, C = ev.csr(rmat(4)), ev.csc(rmat(4).tocsc())
    x, y = np.ones(16), np.ones(16)
    assert not task(spmv, A, x, y).streams
    assert not task(spmv, ev.ell(rmat(4)), x, y).streams
    assert not task(spmv_of_columns, C, x, y).streams
    assert task(row_argmax, A, np.ones(16, np.int32)).streams
    assert task(deviations, A, x, y).streams


def test_plans_that_stream_sort_tiles_of_unequal_length() -> None:
    """Without gathers, bins of tiles beat even shares. Plans make them once, if they pay off."""
    for value_bytes in (8, 16):
        plans, calls = (Task(streams=True, value_bytes=value_bytes, kept=k) for k in (True, False))
        skewed = ev.csr(rmat(14))
        assert consider(skewed, "cuda", plans).schedule == STREAMS_SORTED
        assert consider(skewed, "cuda", calls).schedule.engine != "bins"
        for regular in (equal_tiles(40_000, 1), equal_tiles(40_000, 16)):
            assert consider(regular, "cuda", plans).schedule.engine == "owned"
    assert consider(ev.csr(rmat(14)), "cuda").schedule.engine != "bins"
    assert {ev.Lrb(block=512), STREAMS_SORTED} <= set(candidates("cuda"))


def test_larger_values_cost_a_stream_more() -> None:
    skewed = statistics(ev.csr(rmat(12)))
    small, large = (
        predicted(skewed, numbers(), Task(streams=True, value_bytes=b)) for b in (8, 24)
    )
    group = ev.GroupMapped(32, items=6)
    assert large[group] > 1.2 * small[group]  # as was measured of values of 16 bytes
    assert large[STREAMS_SORTED] > small[STREAMS_SORTED]


def test_streams_are_cut_into_larger_shares_the_more_there_is() -> None:
    streams = Task(streams=True, kept=False)
    one_long = ev.ragged(np.array([0, *range(20_000, 30_000)]))
    skewed = [one_long, *(ev.csr(rmat(n)) for n in (15, 16, 17))]
    shares = [consider(layout, "cuda", streams).schedule for layout in skewed]
    assert shares == [ev.MergePath(256, 3, 4), *(ev.MergePath(128, n) for n in (5, 7, 13))]
    wide = Task(streams=True, value_bytes=48, kept=False)
    assert consider(ev.csr(rmat(17)), "cuda", wide).schedule == ev.MergePath(128, 7)
    assert set(shares) <= set(candidates("cuda"))


# ---- how much of fast memory caches what is gathered -----------------------------------------------
def test_the_more_is_gathered_the_more_memory_is_left_for_it() -> None:
    """Large layouts get more L1, for values of up to 8 bytes. With larger ones, too few blocks would fit beside it."""

    def chosen_for(atoms: int, **task: int) -> ev.MergePath:
        st = Statistics(atoms // 16, atoms, 16.0, 9_000, 4.0, 0.3)
        return split(st, numbers(), Task(**task))

    sizes = 10_000, 400_000, 1_000_000, 7_000_000, 20_000_000
    found = {width: [chosen_for(n, width=width) for n in sizes] for width in (4, 8, 16)}
    assert [schedule.carveout for schedule in found[8]] == [-1, 28, 28, 7, 7]
    assert [schedule.block for schedule in found[8]] == [256, 256, 256, 128, 512]
    assert [schedule.carveout for schedule in found[4]] == [-1, 7, 7, 7, 7]
    assert [schedule.block for schedule in found[4]] == [256, 512, 256, 256, 512]
    assert [schedule.min_blocks for schedule in found[4]] == [5, 0, 0, 0, 3]
    assert set(found[16]) == {ev.MergePath(min_blocks=4)} == {chosen_for(8_000_000, value_bytes=16)}
    assert {schedule for several in found.values() for schedule in several} <= set(
        candidates("cuda")
    )


def test_shares_of_memory_are_for_gpus_that_have_as_much_of_it() -> None:
    st = statistics(ev.csr(rmat(16)))
    assert split(st, for_memory(233_472)).carveout == 7
    for other in (102_400, 167_936):
        assert split(st, for_memory(other)) == ev.MergePath(256, 4, min_blocks=5)


@pytest.mark.parametrize(("memory", "shares"), [(233_472, slice(None)), (102_400, BY_DRIVER)])
def test_a_layout_is_judged_by_the_gpu_that_it_lies_on(
    monkeypatch: pytest.MonkeyPatch, memory: int, shares: slice
) -> None:
    column = fakes.ndarray(np.zeros(5, np.int32))
    gpus = {column.data.device_id: Gpu(132, shared_memory=memory)}
    monkeypatch.setattr(place, "gpu_of", gpus.__getitem__)
    there = Csr(offsets=column, indices=column, values=column, num_columns=5)
    assert auto.numbers_for(there) == numbers() | {"shares": numbers()["shares"][shares]}
    assert auto.numbers_for(ev.csr(rmat(4))) == auto.numbers_for(None) == numbers()


def test_the_largest_values_find_some_schedule() -> None:
    """With a kilobyte or more for each tile, nothing of a block fits into shared memory."""
    A = ev.csr(rmat(12))
    for streams in (True, False):
        task = Task(value_bytes=1032, width=8, streams=streams)
        assert consider(A, "cuda", task).schedule.owns_tiles


# ---- long tiles, a small vector --------------------------------------------------------------------
def test_long_tiles_of_a_small_matrix_want_most_loads_in_flight() -> None:
    """A narrow x stays in L1, a larger one does not."""
    social = ev.csr(rmat(13, per_row=160))
    assert consider(social, "cuda").schedule == ev.NonzeroSplit(128, 8)
    assert consider(social, "cuda", Task(width=8)).schedule == ev.MergePath(256, 6, 5, 28)
    assert consider(social, "cuda", Task(value_bytes=64)).schedule != ev.NonzeroSplit(128, 8)
    assert consider(ev.csr(rmat(16)), "cuda").schedule == ev.MergePath(256, 4, carveout=7)


def test_the_width_of_numbers_is_that_of_what_is_summed() -> None:
    A = ev.csr(rmat(4))
    for dtype, width in ((np.float16, 4), (np.float32, 4), (np.float64, 8), (np.complex128, 16)):
        assert task(spmv, A, np.ones(16, dtype), np.ones(16, dtype)).width == max(width, 4)
    wide = task(spmv, ev.csr(rmat(4, dtype=np.float64)), np.ones(16), np.ones(16))
    assert wide.width == 8


def test_an_spmv_is_as_wide_as_the_values_of_its_matrix() -> None:
    for dtype, width in ((np.int32, 4), (np.float32, 4), (np.float64, 8), (np.complex128, 16)):
        A = ev.csr(rmat(4, dtype=np.float32).astype(dtype))
        assert product_of(A) == Task(width=width)
        assert product_of(ev.subset(A, np.array([1, 2])), kept=False) == Task(
            width=width, kept=False
        )
    assert product_of(equal_tiles(4, 2)) == Task()
    social = rmat(13, per_row=160, dtype=np.float64)
    assert "chosen: MergePath" in str(ev.explain(ev.csr(social), target="cuda"))
    narrow = ev.csr(social.astype(np.float32))
    assert "chosen: NonzeroSplit(block=128, items=8" in str(ev.explain(narrow, target="cuda"))


@ev.kernel
def positive(A, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) for k in A.atoms(row) if A.column(k) > row)


def test_runs_are_for_what_lies_side_by_side() -> None:
    """There are no runs for values at indices of their own, for those of some atoms only, or for passes that store."""
    x = np.ones(16, np.float32)
    for layout, there in ("csr", True), ("ell", False), ("dia", False), ("bcsr", False):
        A = convert(rmat(4), layout)
        assert task(spmv, A, x, x).runs == product_of(A).runs == there
    A = ev.csr(rmat(4))
    assert not task(positive, A, x).runs
    assert not task(
        CASES["column_counts"].kernel, A, np.zeros(16, np.int32), np.zeros(1, np.int64)
    ).runs
    long = statistics(equal_tiles(500_000, 64))
    for runs in True, False:
        found = predicted(long, numbers(), Task(runs=runs))
        assert any(getattr(schedule, "run", 1) > 1 for schedule in found) == runs


# ---- gathers from all over -----------------------------------------------------------------------
def rows_of(atoms: int, tiles: int, columns: np.ndarray) -> ev.Layout:
    offsets = np.arange(tiles + 1, dtype=np.int32) * atoms
    values = np.ones(tiles * atoms, np.float32)
    return ev.csr((values, columns.astype(np.int32), offsets), shape=(tiles, tiles))


def anywhere(atoms: int, tiles: int) -> ev.Layout:
    return rows_of(atoms, tiles, np.random.default_rng(0).integers(0, tiles, tiles * atoms))


def nearby(atoms: int, tiles: int) -> ev.Layout:
    return rows_of(
        atoms, tiles, (np.arange(tiles * atoms) // atoms + np.arange(tiles * atoms) % 7) % tiles
    )


def test_gathers_from_all_over_want_most_of_them_in_flight() -> None:
    many = 600_000
    most = ev.NonzeroSplit(128, 8)
    assert most in candidates("cuda")
    assert chosen(anywhere(16, many)) == most
    assert consider(anywhere(16, many), "cuda", Task(width=8)).schedule == most
    assert chosen(nearby(16, many)) == ev.GroupMapped(4, run=4)
    assert chosen(anywhere(8, 1_200_000)).owns_tiles
    assert chosen(anywhere(16, many // 10)).owns_tiles
    assert chosen(anywhere(16, many), whole=True).owns_tiles
    assert consider(anywhere(16, many), "cuda", Task(streams=True)).schedule.owns_tiles
    assert "in columns far apart" in consider(anywhere(16, many), "cuda").why


@pytest.mark.parametrize("make", [anywhere, nearby])
@pytest.mark.parametrize(("atoms", "tiles"), [(16, 1000), (1, 640), (0, 100), (3, 1)])
def test_the_kernel_finds_what_numpy_finds(make: Any, atoms: int, tiles: int) -> None:
    layout = make(atoms, tiles)
    assert by_kernel(layout, "cpu") == by_numpy(layout) == scattered(layout)
    assert scattered(layout) == 0 or make is anywhere


def test_of_layouts_without_columns_nothing_is_known() -> None:
    assert scattered(equal_tiles(1000, 16)) == 0
    assert scattered(ev.ell(rmat(8))) == 0


def test_slots_by_columns_are_walked_by_a_thread_a_row() -> None:
    for matrix in stencil(300), rmat(12):
        for made in ev.ell(matrix, order="F"), ev.sell(matrix, sigma=1024):
            found = consider(made, "cuda", product_of(made))
            named = [str(found.schedule), *(name for name, _ in found.rejected)]
            assert not any(name.startswith("GroupMapped") for name in named)
            assert sum(name.startswith("ThreadMapped") for name in named) == 1
    for made in ev.ell(stencil(300), order="F"), ev.sell(stencil(300)):
        assert isinstance(chosen(made), ev.ThreadMapped)
    one_long = ev.sell(one_long_row())
    assert not isinstance(chosen(one_long), ev.ThreadMapped)
    assert not chosen(one_long, "cpu").owns_tiles


def one_long_row() -> Any:
    """10,000 rows of 3 and one of 100,000."""
    import scipy.sparse as sp

    lengths = np.full(10_000, 3)
    lengths[500] = 100_000
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_array((np.ones(offsets[-1]), np.arange(offsets[-1]) % 100_000, offsets))


def test_offsets_of_others_tell_nothing() -> None:
    """A layout over another one's values, and one whose field `offsets` counts blocks of tiles."""
    skewed = ev.csr(rmat(10))
    assert statistics(ev.uniform(3, skewed)).deviation == 0
    assert statistics(ev.bcsr(rmat(10).tobsr((4, 2)))).greatest == 0


def test_a_frontier_gets_equal_shares_of_tiles_and_atoms_whatever_its_base_is_like() -> None:
    for base in equal_tiles(4_000_000, 5), ev.csr(rmat(8)):
        F = ev.frontier(base)
        assert chosen(F) == ev.MergePath(*numbers()["frontiers"])
        assert str(ev.MergePath(*numbers()["frontiers"])) in str(ev.explain(F, target="cuda"))
        assert not isinstance(chosen(F, whole=True), ev.MergePath)
        assert chosen(F, "cpu") == chosen(base, "cpu")


@ev.kernel
def scans(A, y):
    for row in A.tiles():
        for k in A.atoms(row):
            y[k] = ev.scan(A.value(k))


@ev.kernel
def emits(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            out.emit(A.value(k))


def test_kernels_that_scan_get_equal_shares_of_atoms_and_those_that_emit_smaller_blocks() -> None:
    A = ev.csr(rmat(6))
    empty = filling(np.zeros(1, np.int32), 0, (np.empty(0),))
    for kernel, out, named in ((scans, np.empty(9), "scans"), (emits, empty, "emits")):
        task = kernel.task((spec_of(A, "A"), spec_of(out, "out")), plans=False)
        assert auto.choose(A, "cuda", task) == ev.NonzeroSplit(*numbers()[named])
        assert auto.choose(A, "cpu", task) == auto.choose(A, "cpu")


def test_explain_says_what_calls_without_a_plan_get() -> None:
    sizes = np.zeros(2_000_000, np.int64)
    sizes[::50] = 3
    report = str(ev.explain(ev.ragged(np.concatenate([[0], np.cumsum(sizes)])), target="cuda"))
    assert "chosen: Lrb(block=512" in report
    assert "a call without one gets ThreadMapped(block=128, items=3)" in report
    assert "a call without one" not in str(ev.explain(rmat(12), target="cuda"))
