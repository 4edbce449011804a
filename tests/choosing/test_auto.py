"""The choice of `auto`, and what it says of itself."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import evenly as ev
from evenly import kit
from evenly.arguments import spec_of
from evenly.choosing import auto
from evenly.choosing.auto import consider
from evenly.choosing.statistics import statistics
from evenly.choosing.task import Task, product_of
from evenly.choosing.whose import numbers_for
from evenly.gpus.numbers import for_gpu, measured, numbers
from evenly.interop.generators import rmat, stencil
from evenly.layouts import Csr
from evenly.layouts.emitted import filling
from evenly.targets.cuda import place
from tests.batteries import layout_batteries, matrices
from tests.interop import fakes

from .structures import equal_tiles, nearby, of_lengths, one_long, unequal


def chosen(A: Any, target: str = "cuda", **task: Any) -> ev.Schedule:
    return consider(A, target, Task(**task)).schedule


# ---- which schedule ----------------------------------------------------------------------------------
def test_a_power_law_is_divided_evenly() -> None:
    A = ev.csr(rmat(16))
    assert not chosen(A).owns_tiles
    assert chosen(A, "cpu") == ev.MergePath()
    for target in ("cpu", "cuda"):
        assert chosen(A, target, whole_tiles=True).owns_tiles
    why = consider(A, "cpu", Task(whole_tiles=True)).why
    assert why == "the kernel needs schedules that own whole tiles"  # which are not of equal length


def test_regular_rows_are_owned() -> None:
    A = ev.csr(stencil(300))
    for target in ("cpu", "cuda"):
        assert chosen(A, target).owns_tiles


def test_simt_gets_what_the_gpu_would_get() -> None:
    for matrix in (stencil(64), rmat(12)):
        for A in (ev.csr(matrix), ev.coo(matrix)):
            assert chosen(A, target="simt") == chosen(A)


def test_every_kind_of_matrix_gets_an_answer_for_every_kind_of_numbers() -> None:
    for dtype in (np.float32, np.float64, np.complex128):
        for matrix in matrices(dtype).values():
            for layout in ("csr", "coo", "sell"):
                A = getattr(ev, layout)(matrix)
                for kept in (True, False):
                    assert consider(A, "cuda", product_of(A, kept)).rejected


@pytest.mark.parametrize("name", layout_batteries())
def test_every_layout_gets_an_answer(name: str) -> None:
    for target in ("cpu", "cuda"):
        choice = consider(ev.ragged(layout_batteries()[name]), target)
        assert choice.why
        assert len(choice.rejected) >= 4


def test_it_is_a_pure_function_of_the_structure() -> None:
    A, B = rmat(14, seed=1), rmat(14, seed=1)
    B.data[:] = 7
    assert consider(ev.csr(A), "cuda") == consider(ev.csr(B), "cuda")


def test_columns_decide_too() -> None:
    near = nearby(unequal(100_000, 8))
    indices = np.random.default_rng(0).permutation(near.indices)
    far = ev.csr((near.values, indices, near.offsets), shape=near.shape)
    assert statistics(near) == statistics(far)
    costs = [consider(A, "cuda") for A in (near, far)]
    assert costs[0].why != costs[1].why
    assert dict(costs[0].rejected).items().isdisjoint(dict(costs[1].rejected).items())
    streams = Task(gathers=False)
    assert consider(near, "cuda", streams) == consider(far, "cuda", streams)


def test_values_of_a_kilobyte_find_some_schedule() -> None:
    """Nothing of a block fits into shared memory."""
    for gathers in (True, False):
        assert chosen(ev.csr(rmat(12)), value_bytes=1032, width=8, gathers=gathers).owns_tiles


def test_tiles_are_sorted_by_plans_only() -> None:
    lengths = np.zeros(2_000_000, np.int64)
    lengths[::50] = 3
    A = of_lengths(lengths)
    plan, call = (consider(A, "cuda", Task(kept=kept)) for kept in (True, False))
    seen = [[str(c.schedule), *(name for name, _ in c.rejected)] for c in (plan, call)]
    assert [any(name.startswith("Lrb") for name in names) for names in seen] == [True, False]


def test_slots_by_columns_are_walked_by_a_thread_a_row() -> None:
    for made in ev.ell(stencil(300), order="F"), ev.sell(stencil(300), sigma=1024):
        found = consider(made, "cuda", product_of(made))
        assert isinstance(found.schedule, ev.ThreadMapped)
        assert not any(name.startswith("GroupMapped") for name, _ in found.rejected)
    one_row = ev.sell(one_long_row())
    assert not isinstance(chosen(one_row), ev.ThreadMapped)
    assert not chosen(one_row, "cpu").owns_tiles


def one_long_row() -> Any:
    """10,000 rows of 3 and one of 100,000."""
    offsets = one_long(10_000, 3, 100_000, 500).offsets
    ones, columns = np.ones(offsets[-1]), np.arange(offsets[-1]) % 100_000
    return scipy.sparse.csr_array((ones, columns, offsets))


def test_offsets_of_others_tell_nothing() -> None:
    """A layout over another one's values, and one whose field `offsets` counts blocks of tiles."""
    skewed = ev.csr(rmat(10))
    assert statistics(ev.uniform(3, skewed)).deviation == 0
    assert statistics(ev.bcsr(rmat(10).tobsr((4, 2)))).greatest == 0


def test_a_frontier_gets_equal_shares_of_tiles_and_atoms_if_tiles_may_be_long() -> None:
    lanes, most = numbers()["short_frontiers"]
    shares = ev.MergePath(*numbers()["frontiers"])
    for base in equal_tiles(1000, most + 1), ev.csr(rmat(8)), ev.uniform(64, ev.csr(rmat(8))):
        F = ev.frontier(base)
        assert chosen(F) == shares
        assert str(shares) in str(ev.explain(F, target="cuda"))
        assert not isinstance(chosen(F, whole_tiles=True), ev.MergePath)
        assert chosen(F, "cpu") == chosen(base, "cpu")
        # Which atoms a thread adds up must not depend on the order of the tiles.
        assert chosen(F, sums=True) == ev.GroupMapped(8)
        assert chosen(F, "cpu", sums=True) == ev.ThreadMapped()
    for length in 1, 5, most:
        assert chosen(ev.frontier(equal_tiles(4_000_000, length))) == ev.GroupMapped(lanes)
    assert chosen(ev.frontier(equal_tiles(1000, 0))) == shares


@ev.kernel
def searches(A, places, out):
    for row in A.tiles():
        for k in A.atoms(row):
            low, high = 0, len(places)
            while low < high:
                middle = (low + high) // 2
                if places[middle] < A.column(k):
                    low = middle + 1
                else:
                    high = middle
            out[k] = low


@ev.kernel
def walks(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(out, row, sum(1 for f in A.atoms(A.column(k)) if A.column(f) == row))


@ev.kernel
def short_loop(A, out):
    for row in A.tiles():
        for k in A.atoms(row):
            for i in range(3):
                ev.atomic_add(out, i, A.column(k))


def test_atoms_with_loops_of_their_own_are_shared_one_by_one() -> None:
    A, out = ev.csr(rmat(6)), np.zeros(9999, np.int64)
    shares = ev.MergePath(*numbers()["loops"])
    assert searches.on("simt").plan(A, np.arange(64), out).schedule == shares
    assert walks.on("simt").plan(A, out).schedule == shares
    assert short_loop.on("simt").plan(A, out).schedule != shares
    assert chosen(A, loops=True) == shares
    assert chosen(A, loops=True, whole_tiles=True).owns_tiles
    assert chosen(A, "cpu", loops=True) == chosen(A, "cpu")


@ev.kernel
def adds(F, y):
    for v in F.tiles():
        y[v] = sum(F.value(k) for k in F.atoms(v))


def test_a_frontier_whose_tiles_add_up_floats_gets_whole_tiles() -> None:
    for dtype, wanted in (
        (np.float32, ev.GroupMapped(8)),
        (np.int64, ev.MergePath(*numbers()["frontiers"])),
    ):
        F, y = ev.frontier(ev.csr(rmat(6).astype(dtype))), np.zeros(64, dtype)
        assert adds.on("simt").plan(F, y).schedule == wanted


@ev.kernel
def adds_up_the_base(F, G, y):
    for v in G.tiles():
        y[v] = sum(G.value(k) for k in G.atoms(v))
    for u in F.tiles():
        for k in F.atoms(u):
            ev.atomic_min(y, F.column(k), F.value(k))


def test_sums_over_other_layouts_say_nothing_about_a_frontier() -> None:
    G = ev.csr(rmat(6))
    plan = adds_up_the_base.on("simt").plan(ev.frontier(G), G, np.zeros(64, np.float32))
    assert plan.schedule == ev.MergePath(*numbers()["frontiers"])


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


def test_kernels_that_emit_get_equal_shares_of_atoms() -> None:
    A = ev.csr(rmat(6))
    out = filling(np.zeros(1, np.int32), 0, (np.empty(0),))
    task = emits.task((spec_of(A, "A"), spec_of(out, "out")), plans=False)
    assert auto.choose(A, "cuda", task) == ev.NonzeroSplit(*numbers()["emits"])
    assert auto.choose(A, "cpu", task) == auto.choose(A, "cpu")


def test_who_scans_is_chosen_for_by_lengths() -> None:
    task = scans.task((spec_of(ev.csr(rmat(6)), "A"), spec_of(np.empty(9), "y")), plans=True)
    assert auto.choose(equal_tiles(10_000, 12), "cuda", task).owns_tiles
    assert isinstance(auto.choose(equal_tiles(1, 4_000_000), "cuda", task), ev.NonzeroSplit)
    assert isinstance(auto.choose(kit.whole(4_000_000), "cuda", task), ev.NonzeroSplit)


# ---- whose numbers -----------------------------------------------------------------------------------
@pytest.mark.parametrize("bandwidth", [measured().bandwidth, 1_000_000])
def test_a_layout_is_judged_by_the_gpu_that_it_lies_on(
    monkeypatch: pytest.MonkeyPatch, bandwidth: int
) -> None:
    column = fakes.ndarray(np.zeros(5, np.int32))
    gpu = replace(measured(), name=f"NVIDIA {bandwidth}", bandwidth=bandwidth)
    monkeypatch.setattr(place, "gpu_of", {column.data.device_id: gpu}.__getitem__)
    there = Csr(offsets=column, indices=column, values=column, num_columns=5)
    assert numbers_for(there) == for_gpu(gpu)
    same = for_gpu(gpu)["rates"] == numbers()["rates"]
    assert same == (bandwidth == measured().bandwidth)
    assert numbers_for(ev.csr(rmat(4))) == auto.numbers_for(None) == numbers()


# ---- what explain says -------------------------------------------------------------------------------
def test_explain_says_what_it_saw_and_why() -> None:
    report = str(ev.explain(rmat(14), target="cuda"))
    assert "tiles 16,384, atoms" in report
    assert re.search(r"chosen: \w+\(block=\d+", report)
    assert re.search(
        r"because tile lengths vary \(spread \d\.\d\d, longest [\d,]+\), \d+% of the gathers far from "
        r"earlier ones: \d+\.\d us predicted for an SpMV, the least \(launch \d\.\d, ",
        report,
    )
    rejected = ev.explain(rmat(14), target="cuda").choice.rejected
    assert report.count("us predicted (") == 8
    assert report.endswith(f"    and {len(rejected) - 8} more")
    thread = dict(rejected)["ThreadMapped(block=128, items=5)"]
    terms = r"(\d+\.\d) us predicted \(launch .*chain (\d+\.\d)\)"
    total, chain = map(float, re.match(terms, thread).groups())  # type: ignore[union-attr]
    assert total / 2 < chain < total  # the longest row, by one thread


def test_explain_looks_at_the_columns_anew() -> None:
    A: Any = nearby(np.full(300_000, 8))
    before, again = (str(ev.explain(A, target="cuda")) for _ in range(2))
    assert before == again
    A.indices[:] = np.random.default_rng(0).permutation(A.indices)
    assert str(ev.explain(A, target="cuda")) != before


def test_explain_says_what_calls_without_a_plan_get() -> None:
    line = "in a plan, which keeps what follows from the structure; a call without one gets "
    seen = set()
    for A in (of_lengths(np.arange(3_000_000) % 50 // 49 * 3), ev.csr(stencil(300))):
        found = ev.explain(A, target="cuda")
        assert found.once == consider(A, "cuda", product_of(A, kept=False)).schedule
        assert (f"{line}{found.once}\n" in str(found)) == (found.once != found.choice.schedule)
        assert (line in str(found)) == (found.once != found.choice.schedule)
        seen.add(found.once == found.choice.schedule)
    assert seen == {True, False}


def test_explain_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ev.InputError, match="A: expected a layout or a sparse matrix, got int"):
        ev.explain(3)
    with pytest.raises(
        ev.InputError, match="target: expected one of auto, cpu, cuda, .*, got 'gpu'"
    ):
        ev.explain(ev.ragged(np.array([0, 2])), target="gpu")
