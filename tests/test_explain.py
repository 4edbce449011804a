"""`ev.explain` shows what tune() has measured, beside the choice of `auto`."""

from __future__ import annotations

import numpy as np
import pytest

import evenly as ev
from evenly.gpus.numbers import numbers
from evenly.interop.generators import rmat
from tests.kernels import row_norms, spmv

FEW = [ev.ThreadMapped(), ev.MergePath()]


@pytest.fixture
def tuned(sure, winners_file):
    A = ev.csr(rmat(9))
    x, y = np.ones(512, np.float32), np.empty(512, np.float32)
    return A, spmv.plan(A, x, y).tune(candidates=FEW, seconds=0.02)


def test_times_stand_beside_the_choice(tuned) -> None:
    A, plan = tuned
    found = ev.explain(A)
    (measured,) = found.measured
    assert measured.times == plan.tuning.times
    report = str(found)
    assert f"  chosen: {ev.MergePath()}\n" in report  # by the rule
    assert (
        f"  measured for {plan.tuning.kernel} on {plan.tuning.device}, which its plans follow:"
        in report
    )
    assert "    (A: Csr(offsets=int32[513], " in report
    assert f"    > {plan.schedule}" in report


def test_what_plain_calls_were_measured_for_is_not_said_of_plans(sure, winners_file) -> None:
    A = ev.csr(rmat(9))
    x, y = np.ones(512, np.float32), np.empty(512, np.float32)
    spmv.plan(A, x, y).tune(candidates=FEW, seconds=0.02)
    text = winners_file.read_text()
    winners_file.write_text(text.replace('y: float32[512]"', 'y: float32[512], in plain calls"'))
    report = str(ev.explain(spmv.plan(A, x, y)))
    assert ', which its plain calls follow under "tuned":' in report
    assert "y: float32[512])\n" in report
    assert "its plans follow" not in report
    assert "us measured" not in report  # a call without a plan takes longer


def test_only_of_this_kernel_structure_and_target(tuned) -> None:
    A, _ = tuned
    assert len(ev.explain(A, kernel=spmv).measured) == 1
    assert ev.explain(A, kernel=row_norms).measured == ()
    assert ev.explain(A, target="cuda").measured == ()
    assert ev.explain(rmat(10)).measured == ()
    row_norms.plan(A, np.empty(512, np.float32)).tune(candidates=FEW, seconds=0.02)
    assert len(ev.explain(A).measured) == 2


def test_what_another_version_measured_is_not_shown(tuned, winners_file) -> None:
    A, _ = tuned
    text = winners_file.read_text()
    winners_file.write_text(text.replace(f'"evenly": "{ev.__version__}"', '"evenly": "0.0.1"'))
    assert ev.explain(A).measured == ()


def test_a_kernel_is_wanted() -> None:
    with pytest.raises(
        ev.InputError, match="kernel: expected a function with @ev.kernel, got 'spmv'"
    ):
        ev.explain(rmat(6), kernel="spmv")


def test_of_tasks_nobody_knows_statistics() -> None:
    unknown = "    because the number of tasks is not known: "
    rounds, steal = f"{unknown}they run in rounds", f"{unknown}threads that have none steal some"
    single = ev.tasks(n=np.int32, first=[1], capacity=5)
    ranged = ev.tasks(a=np.int32, b=np.int32, atoms=("a", "b"), first=[(0, 9)], capacity=5)
    size, block = numbers()["tasks"]
    for T, target, schedule, why in (
        (single, "cpu", ev.WorkStealing(), steal),
        (single, "cuda", ev.StaticList(), rounds),
        (single, "python", ev.StaticList(), rounds),
        (ranged, "cpu", ev.WorkStealing(), steal),
        (ranged, "cuda", ev.StaticList(size, block), f"{rounds}, and {size} threads divide the atoms of each"),
        (ranged, "python", ev.StaticList(), rounds),
    ):  # fmt: skip
        found = ev.explain(T, target=target)
        assert found.choice.schedule == found.once == schedule
        lines = str(found).splitlines()
        assert lines[1:3] == [f"  chosen: {schedule}", why]
        assert [line.split(":")[0] for line in lines[3:]] == (
            ["  rejected", "    task_pool"] if target == "cuda" else []
        )


def test_a_frontier_is_judged_by_the_graph_as_it_is_now() -> None:
    offsets = np.arange(65, dtype=np.int32)
    G = ev.csr((np.ones(64), np.arange(64, dtype=np.int32), offsets), shape=(64, 64))
    F = ev.frontier(G)
    short = ev.explain(F, target="cuda")
    assert short.choice.schedule == ev.GroupMapped(8)
    assert not str(short).endswith("rejected:")
    offsets[1:] = 64
    assert ev.explain(F, target="cuda").choice.statistics.greatest == 64
    assert isinstance(ev.explain(F, target="cuda").choice.schedule, ev.MergePath)


def test_nothing_is_said_of_what_nobody_has_looked_at() -> None:
    coo, looked_at = ev.coo(rmat(6)), ev.csr(rmat(6))
    assert "atoms a tile: mean 1.00, no offsets to tell more\n" in str(ev.explain(coo))
    assert "of the gathers far" in str(ev.explain(looked_at, target="cuda"))
    for unknown in (ev.uniform(64, looked_at), ev.csc(rmat(6)), ev.kit.each(64)):
        assert "of the gathers far" not in str(ev.explain(unknown, target="cuda"))


@ev.kernel
def shares_of_rows(A, out):
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            total += A.value(k)
        for k in A.atoms(row):
            out[k] = A.value(k) / total


def test_a_plan_is_explained_by_its_own_kernel(sure, winners_file) -> None:
    A = ev.csr(rmat(9))
    plan = shares_of_rows.on("simt").plan(A, np.empty(A.num_atoms, np.float32))
    found = ev.explain(plan)
    assert found.choice.schedule == plan.schedule
    report = str(found)
    assert report.startswith("shares_of_rows: Csr(offsets=")
    assert "us predicted for a kernel of 2 passes without gathers, the least (launch " in report
    assert " us predicted for an SpMV" in str(ev.explain(A, target="cuda"))
    assert "measured)" not in report and "us measured" not in report


def test_times_stand_beside_the_schedules_of_a_plan(sure, winners_file) -> None:
    A = ev.csr(rmat(9))
    arguments = A, np.empty(A.num_atoms, np.float32)
    tuned = shares_of_rows.plan(*arguments).tune(candidates=FEW, seconds=0.02, save=False)
    found = ev.explain(tuned)
    assert found.measured == (tuned.tuning,)
    chosen = str(found.choice.schedule)
    assert f", {tuned.tuning.times[chosen]:.1f} us measured" in str(found)
