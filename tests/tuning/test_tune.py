"""`plan.tune()`: what it measures, what it does not change, and how later plans use it."""

from __future__ import annotations

import time
from dataclasses import fields

import numpy as np
import pytest

import evenly as ev
from evenly.choosing.candidates import candidates, ranked
from evenly.choosing.task import SPMV
from evenly.interop.generators import rmat
from evenly.targets.cpu import CpuTarget
from evenly.targets.cpu.copies import CpuCopies
from evenly.targets.cpu.executable import CpuExecutable
from evenly.tuning import measuring, tune, winners
from evenly.tuning.tune import reads_what_it_writes
from tests.batteries import matrices, names, vector
from tests.kernels import CASES, column_counts, halved, softmax_rows, spmv

FEW = [ev.ThreadMapped(), ev.MergePath()]


def arguments(matrix):
    return ev.csr(matrix), vector(matrix.shape[1]), np.full(matrix.shape[0], -7, np.float32)


def planned(matrix=None, schedule="auto", kernel=spmv):
    matrix = matrices()["power law"] if matrix is None else matrix
    A, x, y = arguments(matrix)
    return matrix, A, x, y, kernel.plan(A, x, y, schedule=schedule)


class Paced(CpuCopies):
    """Copies whose clocks return times from a table: a stand-in for a machine without noise."""

    table: dict
    readings: list

    def clock(self, plan):
        return Ticking(self.table[type(plan.schedule)], str(plan.schedule), self.readings)


class Ticking:
    def __init__(self, us, name, readings) -> None:
        self.estimate, self.name, self.readings = us, name, readings

    def warm(self):
        self.readings.append(self.name)
        return self.estimate

    def flushed(self):
        return None


@pytest.fixture
def paced(monkeypatch):
    """paced({schedule class: microseconds}) sets the times, and returns the list of readings."""

    def pace(table):
        readings: list = []
        made = type("Paced", (Paced,), {"table": table, "readings": readings})
        monkeypatch.setattr(CpuTarget, "copies", made)
        return readings

    return pace


# ---- the new plan ----------------------------------------------------------------------------------------
def test_the_fastest_wins(paced) -> None:
    matrix, A, x, y, plan = planned()
    readings = paced({ev.ThreadMapped: 5.0, ev.MergePath: 2.5, ev.WorkOriented: 3.0})
    tuned = plan.tune(candidates=["thread_mapped", ev.MergePath, ev.WorkOriented(items=4)])
    assert tuned.schedule == ev.MergePath()
    assert tuned.tuning.times == {
        str(ev.MergePath()): 2.5,
        "WorkOriented(block=256, items=4)": 3.0,
        "ThreadMapped(block=256, items=5)": 5.0,
    }
    assert list(tuned.tuning.times) == sorted(tuned.tuning.times, key=tuned.tuning.times.get)
    # who is far behind gets one reading, and the near ones as many as make it sure, in turn
    counts = [readings.count(name) for name in tuned.tuning.times]
    assert counts == [measuring.FEW, measuring.FEW, 1]
    tuned(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)
    assert plan.tuning is None  # the plan itself is as it was


def test_who_is_hopeless_is_not_waited_for_again(paced) -> None:
    *_, plan = planned()
    readings = paced({ev.ThreadMapped: 4e6, ev.MergePath: 2.5, ev.WorkOriented: 9.0})
    tuned = plan.tune(candidates=[ev.MergePath(), ev.ThreadMapped(), ev.WorkOriented()])
    assert tuned.tuning.times[str(ev.ThreadMapped())] == 4e6
    assert str(ev.ThreadMapped()) not in readings
    assert readings.count(str(ev.WorkOriented())) == 1  # quick, if slow: perhaps it was disturbed


def test_long_runs_get_one_round(paced) -> None:
    *_, plan = planned()
    readings = paced({ev.ThreadMapped: 2e6, ev.MergePath: 1e6})
    plan.tune(candidates=FEW, seconds=5)
    assert readings.count(str(ev.ThreadMapped())) == 1


def test_noise_alone_changes_no_choice(paced) -> None:
    """Of schedules that are equally fast within the noise, the plan keeps its own."""
    *_, plan = planned(schedule=ev.ThreadMapped())
    paced({ev.ThreadMapped: 1.01, ev.MergePath: 1.0, ev.WorkOriented: 1.3})
    few = [ev.MergePath(), ev.WorkOriented(), ev.ThreadMapped()]
    assert (
        plan.tune(candidates=few).schedule == ev.MergePath()
    )  # the first of those that were asked for
    assert plan.tune(candidates=few[::-1]).schedule == ev.ThreadMapped()
    paced({ev.ThreadMapped: 1.03, ev.MergePath: 1.0, ev.WorkOriented: 1.3})
    assert plan.tune(candidates=few[::-1]).schedule == ev.MergePath()


def test_for_real() -> None:
    matrix, A, x, y, plan = planned(rmat(12))
    tuned = plan.tune(seconds=0.2)
    least = min(tuned.tuning.times.values())
    assert tuned.tuning.times[str(tuned.schedule)] <= measuring.TIE * least
    tried = {str(s) for s in ranked(A, "cpu", SPMV)}
    assert tried <= set(tuned.tuning.times) | set(tuned.tuning.left_out)
    assert str(plan.schedule) in tuned.tuning.times
    assert all(0.5 < us < 1e6 for us in tuned.tuning.times.values())
    tuned(A, x, y)
    np.testing.assert_allclose(y, matrix @ x, rtol=1e-4)


@pytest.mark.parametrize("name", names())
def test_nasty_matrices(name) -> None:
    matrix, A, x, y, plan = planned(matrices()[name])
    before = y.tobytes()
    tuned = plan.tune(candidates=FEW, seconds=0.02)
    assert y.tobytes() == before
    tuned(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)


def test_the_report() -> None:
    *_, plan = planned()
    report = str(plan.tune(candidates=FEW, seconds=2).tuning).splitlines()
    assert report[0].startswith("spmv ") and " on cpu (" in report[0]
    assert report[1].startswith("  400 tiles, ")
    assert (
        report[2] == "  microseconds of a call, > the choice, the first within 2% of the fastest:"
    )
    assert {line[4:].split("(")[0] for line in report[3:5]} == {"ThreadMapped", "MergePath"}
    assert sorted(line[:4] for line in report[3:5]) == ["    ", "  > "]
    assert report[3].endswith("   1.00x")
    assert report[-1] == "  not remembered"


# ---- whose arrays these are ------------------------------------------------------------------------------
def snapshot(values):
    out = []
    for value in values:
        if isinstance(value, np.ndarray):
            out.append(value.tobytes())
        elif hasattr(type(value), "__fields__"):
            out.append(snapshot(getattr(value, f) for f in type(value).__fields__))
    return out


@pytest.mark.parametrize("name", CASES)
def test_no_array_of_the_users_changes(name) -> None:
    matrix = matrices()["power law"]
    case = CASES[name]
    given = case.arguments(ev.csr(matrix), matrix, np.float32)
    plan = case.kernel.plan(*given)
    before = snapshot(given)
    tuned = plan.tune(candidates=FEW, seconds=0.02)
    assert snapshot(given) == before
    tuned(*given)
    assert snapshot(given) != before


def test_a_kernel_finds_at_each_run_what_it_found_at_the_first() -> None:
    """Its work depends on what it stores: on the same copy, a second run would have nothing to do."""
    looked = []

    class Watched(CpuCopies):
        def clock(self, plan):
            inner = super().clock(plan)
            call = inner.call

            def watched():
                looked.append(self.copies["done"].sum())
                call()
                looked.append(self.copies["done"].sum())

            inner.call = watched
            return inner

    @ev.kernel
    def visit(A, done):
        for row in A.tiles():
            for k in A.atoms(row):
                if done[A.column(k)] == 0:
                    ev.atomic_max(done, A.column(k), 1)

    matrix = rmat(8)
    A, done = ev.csr(matrix), np.zeros(matrix.shape[1], np.int32)
    patch = pytest.MonkeyPatch()
    with patch.context() as m:
        m.setattr(CpuTarget, "copies", Watched)
        visit.plan(A, done).tune(candidates=FEW, seconds=0.02)
    reached = len(np.unique(matrix.indices))
    assert set(looked[0::2]) == {0}
    assert set(looked[1::2]) == {reached}
    assert done.sum() == 0


def reads(kernel, *given) -> bool:
    plan = kernel.plan(*given)
    program = kernel.program(plan._specs)
    return reads_what_it_writes(program, [path[0] for path in plan._outputs])


def test_which_kernels_have_to_be_restored() -> None:
    @ev.kernel
    def added(A, x, y):
        for row in A.tiles():
            y[row] += sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))

    @ev.kernel
    def sometimes(A, x, y):
        for row in A.tiles():
            total = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
            if total > 0:
                y[row] = total

    matrix = matrices()["power law"]
    given = arguments(matrix)
    assert not reads(spmv, *given)
    assert not reads(softmax_rows, *given)
    assert not reads(sometimes, *given)
    assert reads(added, *given)
    counts = np.zeros(matrix.shape[1], np.int32)
    assert reads(column_counts, given[0], counts, np.zeros(1, np.int64))


def test_calls_of_the_plan_may_go_on_meanwhile() -> None:
    """The measured candidates share the kernel's compiled code, and no scratch memory."""
    *_, plan = planned(kernel=spmv.copy(), schedule=ev.WarpMapped())
    apart = []

    class Noted(CpuExecutable):
        def apart(self):
            apart.append(self)
            return super().apart()

    given = plan._specs, ev.ThreadMapped(), "cpu", False, False
    made = plan.kernel.compiled(*given)
    noted = Noted(**{f.name: getattr(made.executable, f.name) for f in fields(CpuExecutable)})
    patch = pytest.MonkeyPatch()
    with patch.context() as m:
        m.setattr(plan.kernel, "compiled", lambda *_: made._replace(executable=noted))
        plan.tune(candidates=[ev.ThreadMapped()], seconds=0.02)
    assert apart == [noted]


# ---- who takes part ------------------------------------------------------------------------------------
def test_kernels_that_need_whole_tiles() -> None:
    matrix = matrices()["power law"]
    A, y = ev.csr(matrix), np.zeros(matrix.shape[0], np.float32)
    plan = halved.plan(A, y)
    tuned = plan.tune(seconds=0.02)
    assert tuned.schedule.owns_tiles
    assert tuned.tuning.left_out[str(ev.MergePath())] == tune.WHOLE
    with pytest.raises(
        ev.InputError,
        match=r"candidates: expected a schedule that runs the kernel, got MergePath.*: the kernel needs",
    ):
        plan.tune(candidates="merge_path")


def test_a_candidate_that_fails_is_left_out(paced, monkeypatch) -> None:
    *_, plan = planned()
    paced({ev.ThreadMapped: 5.0, ev.WorkOriented: 9.0})  # no time for MergePath: a KeyError
    tuned = plan.tune(candidates=[ev.MergePath(), ev.ThreadMapped(), ev.WorkOriented()])
    assert tuned.schedule == ev.ThreadMapped()
    (left,) = tuned.tuning.left_out.items()
    assert left[0] == str(ev.MergePath())
    assert left[1].startswith("KeyError: ")


def test_where_all_fail_nothing_is_remembered(paced, winners_file) -> None:
    *_, plan = planned()
    paced({})
    with pytest.raises(ev.InputError, match="candidates: expected a schedule that runs the kernel"):
        plan.tune()
    assert not winners_file.exists()


def test_a_budget_that_is_too_small_measures_one(monkeypatch) -> None:
    class Slow(CpuCopies):
        def clock(self, plan):
            time.sleep(0.01)
            return super().clock(plan)

    monkeypatch.setattr(CpuTarget, "copies", Slow)
    *_, plan = planned(schedule=ev.WorkOriented(items=3))
    tuned = plan.tune(seconds=1e-9)
    assert tuned.schedule == plan.schedule  # its own comes first
    assert list(tuned.tuning.times) == [str(plan.schedule)]
    assert set(tuned.tuning.left_out.values()) == {measuring.LATE}


def test_the_budget_is_kept() -> None:
    *_, plan = planned(rmat(15))
    plan.tune(candidates=FEW, seconds=0.02)  # compiled
    start = time.monotonic()
    plan.tune(candidates=FEW, seconds=0.5)
    assert time.monotonic() - start < 2.5


def test_what_is_refused() -> None:
    _, A, x, y, plan = planned()
    with pytest.raises(ev.InputError) as caught:
        spmv.plan(A, x, y, target="python").tune()
    assert str(caught.value) == (
        "plan.tune: expected a plan on target 'cuda' or 'cpu', whose times mean something, got one on "
        "'python'; hint: kernel.plan(..., target=\"cpu\").tune()"
    )
    with pytest.raises(ev.InputError, match="plan.tune: expected a plan without debug=True"):
        spmv.on("cpu", debug=True).plan(A, x, y).tune()
    for seconds in (0, -1.0, float("nan"), float("inf"), "2"):
        with pytest.raises(ev.InputError, match="seconds: expected a positive number, got"):
            plan.tune(seconds=seconds)
    with pytest.raises(
        ev.InputError, match="schedule: expected one of .*did you mean 'merge_path'"
    ):
        plan.tune(candidates=["merge"])
    with pytest.raises(ev.InputError, match="schedule: expected a schedule such as .*, got 5"):
        plan.tune(candidates=5)
    with pytest.raises(ev.InputError, match="candidates: expected at least one schedule, got none"):
        plan.tune(candidates=[])


@pytest.mark.simt
def test_simt_is_refused() -> None:
    _, A, x, y, _ = planned()
    with pytest.raises(ev.InputError, match="got one on 'simt'"):
        spmv.on("simt").plan(A, x, y).tune()


# ---- noise ------------------------------------------------------------------------------------------------
class Noisy(Ticking):
    """A clock whose readings vary by half."""

    def warm(self):
        self.readings.append(self.name)
        return self.estimate * (0.5 + len(self.readings) * 0.618 % 1)


@pytest.fixture
def noisy(monkeypatch):
    """noisy({schedule class: microseconds}) stands for a machine with noise."""

    def make(table):
        def clock(self, plan):
            return Noisy(table[type(plan.schedule)], str(plan.schedule), self.readings)

        made = type("NoisyCopies", (Paced,), {"clock": clock, "readings": []})
        monkeypatch.setattr(CpuTarget, "copies", made)

    return make


def test_what_noise_made_is_not_remembered(noisy, winners_file) -> None:
    *_, plan = planned()
    assert plan.schedule not in (ev.ThreadMapped(items=3), ev.WorkOriented(items=5))
    noisy({ev.ThreadMapped: 10.0, ev.WorkOriented: 10.9})
    found = plan.tune(candidates=[ev.ThreadMapped(items=3), ev.WorkOriented(items=5)]).tuning
    assert found.kept == ""
    assert found.noise.startswith("noise may have made the choice: its ")
    assert str(found).splitlines()[-1] == f"  not remembered: {found.noise}"
    assert not winners_file.exists()


def test_what_noise_cannot_have_made_is_remembered(noisy, winners_file) -> None:
    *_, plan = planned()
    noisy({ev.ThreadMapped: 10.0, ev.WorkOriented: 40.0})
    found = plan.tune(candidates=[ev.ThreadMapped(items=3), ev.WorkOriented(items=5)]).tuning
    assert (found.kept, found.noise) == (str(winners_file), "")


def test_what_the_rule_takes_anyway_is_remembered(noisy, winners_file) -> None:
    *_, plan = planned()
    others = {type(s): 10.9 for s in candidates("cpu")}
    noisy(others | {type(plan.schedule): 10.0})
    found = plan.tune(candidates=[plan.schedule, ev.Lrb()]).tuning
    assert found.schedule == plan.schedule
    assert (found.kept, found.noise) == (str(winners_file), "")


def test_a_busy_machine_is_told(paced, monkeypatch) -> None:
    *_, plan = planned()
    paced({ev.ThreadMapped: 1.0})
    monkeypatch.setattr(tune, "busy_machine", lambda: "This machine was busy.")
    with pytest.warns(RuntimeWarning, match="This machine was busy"):
        plan.tune(candidates="thread_mapped")


# ---- what is remembered -----------------------------------------------------------------------------------
SLOW_THREADS = {ev.ThreadMapped: 2.0, ev.MergePath: 9.0, ev.WorkOriented: 1.0}


def test_plans_to_come_take_the_winner(paced, winners_file) -> None:
    matrix, A, x, y, plan = planned()
    assert plan.schedule != ev.WorkOriented()
    paced(SLOW_THREADS)
    tuned = plan.tune(candidates=list(SLOW_THREADS))
    assert tuned.tuning.kept == str(winners_file)
    later = spmv.plan(
        ev.csr(matrix), x + 1, y.copy()
    )  # other values, other arrays, the same structure
    assert later.schedule == tuned.schedule == ev.WorkOriented()
    assert later.tuning.times == tuned.tuning.times
    assert later.tuning.kept == str(winners_file)
    later(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)


def test_who_names_a_schedule_gets_it(paced, winners_file) -> None:
    _, A, x, y, plan = planned()
    paced(SLOW_THREADS)
    plan.tune(candidates=list(SLOW_THREADS))
    named = spmv.plan(A, x, y, schedule=ev.MergePath())
    assert (named.schedule, named.tuning) == (ev.MergePath(), None)


def test_another_kernel_type_or_structure_is_not_meant(paced, winners_file) -> None:
    _, A, x, y, plan = planned()
    paced(SLOW_THREADS)
    plan.tune(candidates=list(SLOW_THREADS))
    other = matrices()["all equal"]
    assert spmv.plan(A, x, y).tuning
    assert spmv.plan(*arguments(other)).tuning is None
    assert softmax_rows.plan(A, x, y).tuning is None
    assert spmv.plan(A, x.astype(np.float64), y).tuning is None
    assert spmv.plan(A, x, y, target="python").tuning is None


def test_calls_without_a_plan_follow_the_rule_alone(paced, winners_file, monkeypatch) -> None:
    """So the file changes no bits of their results, and costs them no time."""
    _, A, x, y, plan = planned()
    paced(SLOW_THREADS)
    plan.tune(candidates=list(SLOW_THREADS))
    monkeypatch.setattr(winners, "remembered", lambda: pytest.fail("the file was asked for"))
    spmv(A, x, y)
    ev.spmv(A, x)


def test_not_saved_not_remembered(paced, winners_file) -> None:
    _, A, x, y, plan = planned()
    paced(SLOW_THREADS)
    tuned = plan.tune(candidates=list(SLOW_THREADS), save=False)
    assert (tuned.schedule, tuned.tuning.kept) == (ev.WorkOriented(), "")
    assert spmv.plan(A, x, y).tuning is None
    assert not winners_file.exists()


def test_a_schedule_of_ones_own_wins_but_is_not_remembered(paced, winners_file) -> None:
    @ev.schedule
    class Mine:
        block: int = 64
        owner = "thread"

        def launch(self, layout):
            return -(-layout.num_tiles // self.block), self.block

        def tiles(self, layout):
            return range(ev.thread_index(), layout.num_tiles, ev.thread_count())

        def atoms(self, layout, tile):
            return range(layout.begin(tile), layout.end(tile))

    matrix, A, x, y, plan = planned()
    paced({**SLOW_THREADS, Mine: 0.5})
    tuned = plan.tune(candidates=[*SLOW_THREADS, Mine()])
    assert (tuned.schedule, tuned.tuning.kept) == (Mine(), "")
    assert not winners_file.exists()
    tuned(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)


def test_a_matrix_that_changed_in_place_is_looked_at_anew(paced, winners_file) -> None:
    matrix, A, x, y, plan = planned()
    paced(SLOW_THREADS)
    plan.tune(candidates=list(SLOW_THREADS))
    changed = matrix.copy()
    changed.indptr[1:-1] = np.sort(
        np.random.default_rng(3).integers(0, matrix.nnz, matrix.shape[0] - 1)
    )
    A.offsets[:] = changed.indptr
    for L in (A, ev.csr((A.values, A.indices, A.offsets), shape=matrix.shape)):
        anew = spmv.plan(L, x, y)
        assert anew.tuning is None  # that of the structure it had
        anew(L, x, y)
        np.testing.assert_array_equal(y, changed @ x)


def test_another_machines_winner_is_not_taken(paced, winners_file, monkeypatch) -> None:
    _, A, x, y, plan = planned()
    paced(SLOW_THREADS)
    plan.tune(candidates=list(SLOW_THREADS))
    monkeypatch.setattr(CpuTarget, "device", lambda self, binding: "another CPU, 8 threads")
    assert spmv.plan(A, x, y).tuning is None
    paced({**SLOW_THREADS, ev.MergePath: 0.1})
    plan.tune(candidates=list(SLOW_THREADS))
    assert spmv.plan(A, x, y).schedule == ev.MergePath()
    monkeypatch.undo()
    monkeypatch.setenv("EVENLY_TUNING", str(winners_file))
    assert spmv.plan(A, x, y).schedule == ev.WorkOriented()  # both are kept


def test_an_edited_file_cannot_name_what_does_not_run(winners_file) -> None:
    matrix = matrices()["power law"]
    A, y = ev.csr(matrix), np.zeros(matrix.shape[0], np.float32)
    halved.plan(A, y).tune(candidates=ev.ThreadMapped(), seconds=0.02)
    assert halved.plan(A, y).tuning
    text = winners_file.read_text()
    winners_file.write_text(
        text.replace(
            '{"ThreadMapped": {"block": 256, "items": 5, "vector": 1}}', '{"MergePath": {}}'
        )
    )
    assert halved.plan(A, y).tuning is None


def test_a_file_that_cannot_be_written_is_no_error(paced, monkeypatch, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVENLY_TUNING", str(tmp_path / "file" / "below"))
    *_, plan = planned()
    paced(SLOW_THREADS)
    tuned = plan.tune(candidates=list(SLOW_THREADS))
    assert (tuned.schedule, tuned.tuning.kept) == (ev.WorkOriented(), "")


def test_a_kernel_without_a_layout_in_its_arguments(sure, winners_file) -> None:
    @ev.kernel
    def first(x, y):
        y[0] = x[0] + 1.0

    x, y = np.ones(3), np.zeros(3)
    tuned = first.plan(x, y).tune(candidates=FEW, seconds=0.02)
    assert y[0] == 0
    tuned(x, y)
    assert y[0] == 2
    assert first.plan(x, y).tuning
