"""The model of costs: its terms act as documented, whatever the numbers of the data file are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.choosing.candidates import candidates
from evenly.choosing.cost import Cost
from evenly.choosing.model import Rates, Work, groups_part, predicted, quickest
from evenly.choosing.model import about as about_work
from evenly.choosing.reuse import ANYWHERE, NOTHING, Reuse, reuse
from evenly.choosing.rows import Groups, tables_of
from evenly.choosing.statistics import Statistics, statistics
from evenly.choosing.task import SPMV, Task
from evenly.gpus.numbers import for_gpu, measured, numbers

from .structures import anywhere, equal_tiles, nearby, of_lengths, one_long, unequal

WIDE = Task(width=8, atom_bytes=12)
ONCE = Task(kept=False)
STREAMS = Task(gathers=False)
NUMBERS = numbers()
RATES = NUMBERS["rates"]


def costs(layout: Any, task: Task = SPMV, **about: Any) -> dict[ev.Schedule, Cost]:
    return predicted(Work(statistics(layout), task, **about), NUMBERS)


def best(layout: Any, task: Task = SPMV, **about: Any) -> ev.Schedule:
    found = costs(layout, task, **about)
    return min(found, key=lambda schedule: found[schedule].total)


def of_groups(made: Any, work: Work) -> Cost:
    _, costs = groups_part(Groups((made,)), Rates(about_work(work), tables_of(NUMBERS)), work.walks)
    return next(costs.each(1))


# ---- who may be chosen -------------------------------------------------------------------------------
TASKS = {
    "float32": Task(),
    "float64": WIDE,
    "complex128": Task(width=16, value_bytes=16, atom_bytes=20),
    "streams": STREAMS,
    "once": ONCE,
    "whole tiles": Task(whole_tiles=True),
    "a kilobyte": Task(value_bytes=1032),
    "no runs": Task(runs=False),
}


def tasks(*names: str) -> Any:
    """Parametrize a test by these tasks, or by all."""
    return pytest.mark.parametrize("task", [pytest.param(TASKS[n], id=n) for n in names or TASKS])


@tasks()
def test_what_can_be_chosen_is_what_tune_measures(task: Task) -> None:
    every = set(candidates("cuda"))
    for mean in (0.0, 0.01, 1, 3, 20, 100, 1000, 1e6):
        st = Statistics(10_000, int(mean * 10_000), mean, int(2 * mean) + 1, mean, 0.0)
        for by_columns in (False, True):
            assert set(predicted(Work(st, task, by_columns=by_columns), NUMBERS)) <= every


def test_whole_tiles_are_for_schedules_that_own_them() -> None:
    found = costs(equal_tiles(100, 9), Task(whole_tiles=True))
    assert found
    assert all(schedule.owns_tiles for schedule in found)
    assert not all(schedule.owns_tiles for schedule in costs(equal_tiles(100, 9)))


def test_calls_without_a_plan_sort_no_tiles_and_pay_for_cutting_shares_that_have_runs() -> None:
    A = equal_tiles(1000, 9)
    plan, call = costs(A), costs(A, ONCE)
    assert {type(schedule) for schedule in plan.keys() - call.keys()} == {ev.Lrb}
    assert call.keys() < plan.keys()
    for schedule, cost in call.items():
        cuts = schedule.owner == "share" and getattr(schedule, "run", 1) > 1
        extra = RATES["partition"] if cuts else 0
        assert cost.launch == pytest.approx(plan[schedule].launch + extra)
    assert any(getattr(schedule, "run", 1) > 1 and not schedule.owns_tiles for schedule in call)


def test_there_are_runs_only_of_what_lies_side_by_side() -> None:
    for task in (Task(), Task(runs=False)):
        found = costs(equal_tiles(1000, 64), task)
        assert any(getattr(schedule, "run", 1) > 1 for schedule in found) == task.runs


def test_threads_that_share_tiles_take_no_runs_of_atoms_that_depend_on_them() -> None:
    free, bound = (costs(equal_tiles(1000, 64), Task(by_tile=by)) for by in (False, True))
    left_out = free.keys() - bound.keys()
    assert left_out == {x for x in free if x.owner == "share" and getattr(x, "run", 1) > 1}
    assert left_out
    for schedule, cost in bound.items():
        assert cost.work >= free[schedule].work


def test_slots_by_columns_are_walked_by_a_thread_a_row() -> None:
    found = costs(equal_tiles(1000, 64), by_columns=True)
    assert {type(made) for made in found if made.engine == "owned"} == {ev.ThreadMapped}


def test_a_carveout_is_for_gpus_that_have_as_much_shared_memory() -> None:
    work = Work(statistics(equal_tiles(1000, 9)))
    other = predicted(work, for_gpu(replace(measured(), shared_memory=102_400)))
    own = predicted(work, for_gpu(measured()))
    assert own == predicted(work, NUMBERS)
    carved = {schedule for schedule in own if getattr(schedule, "carveout", -1) >= 0}
    assert carved
    assert own.keys() - other.keys() == carved
    assert any(isinstance(schedule, ev.MergePath) for schedule in other)


@tasks()
def test_the_quickest_that_is_able_has_the_least_total(task: Task) -> None:
    for layout in (equal_tiles(1000, 9), one_long(100_000, 20, 20_000, 777)):
        work = Work(statistics(layout), task, columns=10**6)
        found = predicted(work, NUMBERS)
        for able in (lambda schedule: True, lambda schedule: schedule.engine == "owned"):
            least = min(filter(able, found), key=lambda schedule: found[schedule].total)
            assert quickest(work, NUMBERS, able) == least


def test_what_starts_later_than_a_group_ends_is_not_predicted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evenly.choosing.model.of_shares", lambda *args: pytest.fail("predicted"))
    small, large = (
        Work(statistics(equal_tiles(n, 9)), replace(SPMV, kept=False)) for n in (1000, 10**6)
    )
    assert quickest(small, NUMBERS, lambda schedule: True).engine == "owned"
    for work, able in (large, "owned"), (small, "merge"):
        with pytest.raises(pytest.fail.Exception):
            quickest(work, NUMBERS, lambda schedule, able=able: schedule.engine == able)


SCAN = Task(gathers=False, value_bytes=0, stored=4, scans=True, kernels=(1, 2), reductions=0)
STORES = Task(gathers=False, value_bytes=0, stored=4, reductions=0)
SCATTERS = Task(value_bytes=0, scatters=True, reductions=0)


def test_shares_of_a_scan_are_of_atoms_alone() -> None:
    """Under a carveout of MergePath a scan's own shared memory leaves room for few blocks."""
    found = costs(equal_tiles(1000, 64), SCAN)
    assert {made.engine for made in found} == {"owned", "nonzero", "bins"}


def test_who_reduces_nothing_lists_no_tiles_and_pays_nothing_for_them() -> None:
    lengths = np.zeros(1_000_000, np.int64)
    lengths[::10] = 3
    A = of_lengths(lengths)
    found = costs(A, STORES)
    assert not any(getattr(made, "hypersparse", False) for made in found)
    assert any(getattr(made, "hypersparse", False) for made in costs(A, STREAMS))
    alone = next(made for made in found if made.engine == "nonzero")
    assert found[alone].work < costs(A, STREAMS)[alone].work


def test_each_pass_is_work_and_a_launch_where_tiles_are_split() -> None:
    A = equal_tiles(100_000, 16)
    one = costs(A, STREAMS)
    two = costs(A, replace(STREAMS, passes=2, later=4, kernels=(1, 2), reductions=2))
    for made, cost in two.items():
        kernels = 0 if made.owns_tiles else RATES["kernel"]
        assert cost.launch == pytest.approx(one[made].launch + kernels)
        assert cost.work > one[made].work


def test_atoms_that_wait_for_each_other_are_a_chain() -> None:
    A = one_long(10_000, 8, 3200, 9000)  # so late that nothing is worked on meanwhile
    for task in SCATTERS, SCAN:
        plain = costs(A, replace(task, scatters=False, scans=False))
        found = costs(A, task)
        for lanes in (8, 32):
            made = ev.GroupMapped(lanes, items=6)
            more = found[made].chain - plain[made].chain
            assert more == pytest.approx(RATES["alone"] * 3200 / lanes)


def test_few_lanes_store_parts_of_sectors() -> None:
    A = equal_tiles(1_000_000, 64)
    few, many = ev.GroupMapped(2, items=6), ev.GroupMapped(16, items=6)
    stored, read = costs(A, STORES), costs(A, replace(STORES, stored=0, atom_bytes=12))
    assert stored[few].cache > read[few].cache * 1.5
    assert stored[many].cache < read[many].cache * 1.1


# ---- more work costs more ----------------------------------------------------------------------------
@tasks()
def test_predictions_grow_with_the_work(task: Task) -> None:
    for about in ({}, {"columns": 10**6}, {"reuse": NOTHING}, {"reuse": Reuse(0.1, 0.1)}):
        few, many = (costs(equal_tiles(n, 10), task, **about) for n in (1_000, 1_000_000))
        assert few.keys() == many.keys()
        assert all(many[schedule].total > few[schedule].total for schedule in few)


def test_a_tile_that_is_a_thousand_times_as_long_is_noticed_by_all() -> None:
    short, long = (costs(one_long(100_000, 20, n, 777)) for n in (20, 20_000))
    for schedule in short.keys() & long.keys():
        assert long[schedule].total > short[schedule].total
        owned = schedule.owns_tiles
        assert (long[schedule].chain > short[schedule].chain) == owned


@tasks("float32", "float64", "once", "streams")
@pytest.mark.parametrize("place", [0, 700_001, 999_999])
def test_one_long_tile_among_a_million_is_split(task: Task, place: int) -> None:
    """It is in no sample; that it alone takes long is seen all the same."""
    assert not best(one_long(1_000_000, 4, 500_000, place), task).owns_tiles


def test_wider_numbers_cost_more() -> None:
    A = equal_tiles(1_000_000, 10)
    narrow, wide = (costs(A, task, columns=10**6) for task in (Task(), WIDE))
    for schedule in narrow.keys() & wide.keys():
        assert wide[schedule].cache > narrow[schedule].cache
        assert wide[schedule].memory > narrow[schedule].memory


def test_values_of_any_size_cost_something() -> None:
    """The numbers of the data file may say that 8 bytes take less than 4."""
    A = equal_tiles(1_000_000, 10)
    for nbytes in (8, 16, 64, 1032):
        found = costs(A, Task(width=8, value_bytes=nbytes), reuse=NOTHING)
        assert all(cost.work > 0 for cost in found.values())


# ---- what is gathered --------------------------------------------------------------------------------
def test_gathers_from_all_over_cost_more_than_near_ones_and_these_more_than_none() -> None:
    for tiles in (1_000, 1_000_000):
        A = equal_tiles(tiles, 10)
        far, near = (costs(A, columns=tiles, reuse=r) for r in (ANYWHERE, Reuse(0.2, 0.1)))
        none = costs(A, STREAMS, columns=tiles, reuse=NOTHING)
        for schedule in far:
            assert far[schedule].total > near[schedule].total > none[schedule].total


@pytest.mark.parametrize(("tiles", "longer"), [(20_000, 1.0), (1_200_000, 1.5)])
def test_lanes_that_own_tiles_wait_longer_for_memory_than_for_l2(tiles: int, longer: float) -> None:
    work = Work(statistics(equal_tiles(tiles, 12)), reuse=ANYWHERE, columns=1000)
    never, half = (predicted(work, {**NUMBERS, "rates": RATES | {"slower": x}}) for x in (0, 0.5))
    for schedule, cost in never.items():
        owned = schedule.engine in ("owned", "bins")
        assert half[schedule].work == pytest.approx(cost.work * (longer if owned else 1.0))


def test_the_larger_the_vector_the_more_comes_out_of_l2() -> None:
    A = equal_tiles(100_000, 10)  # L2 keeps it
    in_l1 = int(RATES["l1"]) // 4
    small, fits, large, larger = (
        costs(A, columns=n, reuse=ANYWHERE) for n in (in_l1 // 2, in_l1, 4 * in_l1, 400 * in_l1)
    )
    for schedule in small:
        found = [each[schedule].cache for each in (small, fits, large, larger)]
        assert found == sorted(set(found))
        assert small[schedule].work == fits[schedule].work < large[schedule].work


def test_more_lanes_look_up_fewer_lines_until_they_load_whole_ones() -> None:
    work = Work(statistics(equal_tiles(10_000, 300)), STREAMS, NOTHING)
    found = [of_groups(made, work).lines for made in map(ev.GroupMapped, (2, 8, 32, 64))]
    assert found[0] > found[1] > found[2] == found[3]
    whole = work.st.atoms * work.atom_bytes / 128 / RATES["lines"]
    assert found[2] == pytest.approx(whole)
    by_columns = of_groups(ev.ThreadMapped(128), replace(work, by_columns=True))
    assert by_columns.lines == pytest.approx(whole)


def test_a_load_looks_up_a_line_for_each_tile_unless_several_lie_in_one() -> None:
    def lines(atoms: int) -> float:
        st = statistics(equal_tiles(1_000_000 // atoms, atoms))
        looked_up = of_groups(ev.ThreadMapped(128), Work(st, STREAMS, NOTHING)).lines
        return looked_up * RATES["lines"] / st.atoms

    assert lines(1) == pytest.approx(8 / 128)  # whole lines
    assert lines(1) < lines(5) < lines(12)
    assert lines(12) <= lines(32) == pytest.approx(lines(500))


# ---- the last blocks ---------------------------------------------------------------------------------
def test_the_last_blocks_count_less_the_more_waves_of_them_run() -> None:
    """In less than a wave every block is among the last ones."""
    few, one, many = (
        costs(equal_tiles(n, 10), STREAMS, reuse=NOTHING)[PLAIN]
        for n in (100_000, 216_269, 21_626_900)
    )
    shares = [(c.tail / (c.total - c.launch - c.chain - c.tail)) for c in (few, one, many)]
    assert shares[0] == pytest.approx(shares[1], rel=1e-3)
    assert shares[2] == pytest.approx(shares[1] / 100, rel=1e-3)


def test_groups_wait_for_the_block_that_has_the_long_tiles_and_equal_shares_do_not() -> None:
    lengths = np.random.default_rng(0).geometric(0.05, 20_000)
    mixed, in_order = of_lengths(lengths), of_lengths(np.sort(lengths)[::-1])
    owned, shared = ev.GroupMapped(8), ev.MergePath(256, 3)
    tails = {made: [costs(A)[made].tail for A in (mixed, in_order)] for made in (owned, shared)}
    assert tails[owned][1] > tails[owned][0]
    assert tails[shared][1] == tails[shared][0]


# ---- what is taken for what ---------------------------------------------------------------------------
def of_matrix(A: Any, task: Task = SPMV) -> ev.Schedule:
    return best(A, task, reuse=reuse(A, task.width), columns=A.num_columns)


def test_short_rows_of_about_equal_length_are_owned() -> None:
    for atoms in (3, 5):
        for tiles in (10_000, 500_000):
            A = nearby(np.full(tiles, atoms))
            assert all(of_matrix(A, task).owns_tiles for task in (Task(), WIDE, ONCE))


def test_many_atoms_in_unequal_rows_with_near_columns_are_streamed() -> None:
    A = nearby(unequal(700_000, 30))
    for task in (Task(), WIDE, ONCE):
        found = of_matrix(A, task)
        assert isinstance(found, ev.NonzeroSplit)
        assert found.run > 1


@pytest.mark.parametrize("make", [nearby, anywhere])
def test_a_few_very_long_rows_are_split(make: Any) -> None:
    lengths = np.minimum((np.random.default_rng(0).pareto(1.2, 400_000) * 10).astype(int), 20_000)
    assert not of_matrix(make(lengths)).owns_tiles


# ---- nothing, one, and very many ----------------------------------------------------------------------
@tasks()
@pytest.mark.parametrize(
    "lengths",
    [[], [0], [1], [0] * 40, [2**33], [0] * 5000 + [1]],
    ids=lambda held: f"{len(held)} of {sum(held)}",
)
def test_every_number_of_tiles_and_atoms_has_a_finite_cost(lengths: list[int], task: Task) -> None:
    st = statistics(of_lengths(lengths) if sum(lengths) < 2**31 else equal_tiles(1, lengths[0]))
    for columns in (0, 1, 2**40):
        for reused in (ANYWHERE, NOTHING):
            for by_columns in (False, True):
                work = Work(st, task, reused, columns, by_columns)
                for cost in predicted(work, NUMBERS).values():
                    assert all(isinstance(us, float | int) and 0 <= us < math.inf for us in cost)


# ---- layouts that are mostly empty, or sorted --------------------------------------------------------
LISTED = ev.NonzeroSplit(128, 4, hypersparse=True)
PLAIN = ev.NonzeroSplit(128, 8)


def mostly_empty(tiles: int, share: float = 0.95) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.where(rng.random(tiles) < share, 0, rng.integers(1, 10, tiles))


def listed(schedule: Any) -> bool:
    return getattr(schedule, "hypersparse", False)


@pytest.mark.parametrize("task", [SPMV, WIDE], ids=["float32", "float64"])
def test_plans_list_the_tiles_that_have_atoms_where_most_have_none(task: Task) -> None:
    assert listed(best(of_lengths(mostly_empty(4_000_000)), task, columns=4_000_000))
    assert not listed(best(of_lengths(mostly_empty(4_000_000, 0.02)), task, columns=4_000_000))
    assert not any(map(listed, costs(equal_tiles(4_000_000, 3))))
    assert not any(map(listed, costs(of_lengths(mostly_empty(4_000)), ONCE)))


def test_a_list_is_read_in_place_of_offsets() -> None:
    work = Work(statistics(of_lengths(mostly_empty(1_000_000))), reuse=NOTHING)
    saved = work.moved() - work.moved(listed=True)
    assert saved == pytest.approx(1_000_000 * (4 - 1 / 8 - 0.05 * 8), rel=0.02)


def test_shares_wait_where_many_tiles_end_among_few_atoms() -> None:
    """Threads have many of them, or search. Tiles and atoms in equal shares, and lists, do not mind."""
    lengths = mostly_empty(4_000_000, 0.5)
    mixed, in_order = of_lengths(lengths), of_lengths(np.sort(lengths)[::-1])
    chains = [costs(layout)[PLAIN].chain for layout in (mixed, in_order)]
    assert chains[1] > 5 * chains[0] > 0
    for schedule in (LISTED, ev.MergePath(256, 3)):
        assert costs(in_order)[schedule].chain == 0


def test_atoms_that_search_among_many_tiles_wait_for_a_load_a_step() -> None:
    """As measured on an H200, where shares of 1,024 atoms have up to 46,000 tiles: 57 us in place of 30."""
    lengths = np.repeat([8, 1], [800_000, 9000])
    A = of_lengths(np.concatenate([lengths, np.tile([1] + 44 * [0], 11_000)]))
    found = costs(A)
    runs = {n: found[ev.NonzeroSplit(128, n, min_blocks=m, run=4)] for n, m in ((8, 12), (16, 10))}
    steps = math.log2(45 * 1024)
    assert runs[8].chain == pytest.approx(8 * steps * NUMBERS["groups"]["round"], rel=0.1)
    assert runs[16].chain == pytest.approx(2 * runs[8].chain, rel=0.1)
    assert best(A).engine != "nonzero"


def test_groups_walk_long_tiles_that_come_first_while_others_are_worked_on() -> None:
    lengths = np.sort(np.random.default_rng(0).geometric(0.3, 500_000))
    both = lengths, lengths[::-1]
    rising, falling = (costs(of_lengths(some))[ev.GroupMapped(2)] for some in both)
    assert rising.chain > falling.chain
    assert rising.work == pytest.approx(falling.work, rel=0.05)


def test_a_load_looks_up_a_line_for_each_tile_as_atoms_find_them() -> None:
    """Most atoms may be in few long tiles, a line each."""
    threads = ev.ThreadMapped(128, items=3)
    lengths = np.full(1_000_000, 2)
    alike = costs(of_lengths(lengths), STREAMS, reuse=NOTHING)[threads].lines
    lengths[:50_000] = 32
    mixed = costs(of_lengths(lengths), STREAMS, reuse=NOTHING)[threads].lines
    assert mixed > 5 * alike


def test_narrow_atoms_want_more_of_them_under_way() -> None:
    """As measured on an H200 (benchmarks/notes/batches.md): 16 atoms a thread, where 8 do for columns of 32 bits."""
    rows = equal_tiles(2_000_000, 20)
    few = ev.NonzeroSplit(128, 8, min_blocks=12, run=4)
    many = ev.NonzeroSplit(128, 16, min_blocks=10, run=4)
    wide, narrow = (
        costs(rows, task, reuse=Reuse(0.5, 0.05)) for task in (Task(), Task(atom_bytes=6))
    )
    assert wide[few].total < wide[many].total
    assert narrow[many].total < narrow[few].total
