"""`schedule="tuned"`: what is measured, how often, and what is remembered."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

import evenly as ev
from evenly.choosing.auto import choose
from evenly.choosing.candidates import KINDS, candidates, divided_on_cpu, kind_of, ranked
from evenly.choosing.task import SPMV, Task
from evenly.targets import compilations
from evenly.targets.compilations import NotCompiledError
from evenly.targets.cpu import CpuTarget
from evenly.targets.cpu.copies import CpuCopies
from evenly.tuning import measuring, net, recall
from evenly.tuning.measuring import READING, UNCOMPILED, Budget, most_promising
from tests.batteries import matrices, names, vector
from tests.kernels import softmax_rows, spmv

REASON = "'tuned' for "


@pytest.fixture(autouse=True)
def nothing_measured(monkeypatch) -> None:
    monkeypatch.setattr(recall, "_measured", {})


class Clock:
    def __init__(self, us) -> None:
        self.estimate = us

    def warm(self):
        return self.estimate


@pytest.fixture
def paced(monkeypatch):
    """paced({schedule class: microseconds}) sets the times of the others to 50. Returns the schedules looked at."""

    def pace(table):
        looked = []

        class Paced(CpuCopies):
            def clock(self, plan):
                looked.append(plan.schedule)
                return Clock(table.get(type(plan.schedule), 50.0))

        monkeypatch.setattr(CpuTarget, "copies", Paced)
        return looked

    return pace


def arguments(name="power law", dtype=np.float32):
    matrix = matrices()[name].astype(dtype)
    y = np.full(matrix.shape[0], -7, dtype)
    return matrix, ev.csr(matrix), vector(matrix.shape[1]).astype(dtype), y


def test_the_last_reading_leaves_time_for_itself_and_for_what_follows(monkeypatch) -> None:
    """Else measuring would take as much longer than it may."""
    now = iter([0.0, 1.0, 1.5, 2.0, 2.25])
    monkeypatch.setattr(measuring.time, "monotonic", lambda: next(now))
    budget = Budget(10.0)
    assert budget.deadline == 10.0 - READING * 1e-6
    for known in range(2):
        with budget.trying(known):
            pass
    assert budget.deadline == 10.0 - READING * 1e-6 - 3 * 0.25


def test_a_candidate_that_is_not_looked_at_does_not_tell_what_a_look_takes(monkeypatch) -> None:
    """It is refused at once, where it is not compiled and may not be."""
    now = iter([0.0, 1.0, 1.5, 2.0, 2.001])
    monkeypatch.setattr(measuring.time, "monotonic", lambda: next(now))
    budget = Budget(10.0)
    with budget.trying(0):
        pass
    with pytest.raises(NotCompiledError), budget.trying(1):
        raise NotCompiledError("not compiled")
    assert budget.looks == [0.5]


# ---- what is taken -----------------------------------------------------------------------------------------
def test_a_plan_takes_what_is_the_fastest(paced) -> None:
    matrix, A, x, y = arguments()
    looked = paced({ev.NonzeroSplit: 5.0})
    plan = spmv.plan(A, x, y, schedule="tuned")
    assert plan.schedule == ev.NonzeroSplit()
    assert plan.tuning.times[str(ev.NonzeroSplit())] == 5.0
    assert looked[0] == choose(A, "cpu")
    plan(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)


def test_a_call_measures_once_for_a_structure_and_types(paced) -> None:
    matrix, A, x, y = arguments()
    looked = paced({ev.NonzeroSplit: 5.0})
    spmv["tuned"](A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)
    count = len(looked)
    assert count > 1
    again = np.empty_like(y)
    spmv["tuned"](
        ev.csr(matrix), 2 * x, again
    )  # another layout of the same structure, other arrays
    np.testing.assert_array_equal(again, matrix @ (2 * x))
    assert len(looked) == count
    spmv["tuned"](*arguments(dtype=np.float64)[1:])
    assert len(looked) > count
    count = len(looked)
    spmv["tuned"](*arguments("all equal")[1:])
    assert len(looked) > count


@pytest.mark.parametrize("scaled", [{}, {"alpha": 2.0, "beta": 1.0}])
def test_the_product(paced, scaled) -> None:
    matrix, A, x, y = arguments()
    looked = paced({ev.NonzeroSplit: 5.0})
    expected = matrix @ x if not scaled else 2 * (matrix @ x) - 7
    for given in (A, matrix, matrix):
        y[:] = -7
        assert ev.spmv(given, x, y, schedule="tuned", **scaled) is y
        np.testing.assert_array_equal(y, expected)
    assert len(looked) == len(set(looked))


def test_a_bare_matrix_is_measured_once(paced) -> None:
    matrix, _, x, _ = arguments()
    looked = paced({})
    results = [ev.spmv(matrix, x, schedule="tuned") for _ in range(3)]
    assert len(looked) == len(set(looked))
    for y in results:
        np.testing.assert_array_equal(y, matrix @ x)


def test_a_batch(paced) -> None:
    matrix, _, _, _ = arguments()
    B = ev.batch([matrix, matrix])
    x = vector(2 * matrix.shape[1])
    looked = paced({})
    y = ev.spmv(B, x, schedule="tuned")
    np.testing.assert_array_equal(y, scipy.sparse.block_diag([matrix, matrix]) @ x)
    assert looked


@pytest.mark.parametrize("name", names())
def test_nasty_matrices(name) -> None:
    matrix, A, x, y = arguments(name)
    ev.spmv(A, x, y, schedule="tuned")
    np.testing.assert_array_equal(y, matrix @ x)


# ---- what is remembered --------------------------------------------------------------------------------------
def test_a_winner_of_tune_is_taken_without_measuring(paced, winners_file) -> None:
    _, A, x, y = arguments()
    looked = paced({ev.WorkOriented: 5.0})
    spmv.plan(A, x, y).tune()
    del looked[:]
    assert spmv.plan(A, x, y, schedule="tuned").schedule == ev.WorkOriented()
    spmv["tuned"](A, x, y)  # a plan's winner will do for a call
    assert looked == []


def test_a_call_takes_no_winner_that_pays_only_in_a_plan(paced, winners_file) -> None:
    _, A, x, y = arguments()
    looked = paced({})
    spmv.plan(A, x, y).tune(candidates=ev.Lrb())
    del looked[:]
    spmv["tuned"](A, x, y)
    assert looked


def test_the_file_remembers_calls_and_plans_apart(paced, winners_file) -> None:
    _, A, x, y = arguments()
    looked = paced({ev.NonzeroSplit: 5.0})
    spmv["tuned"](A, x, y)
    recall._measured.clear()  # as in another process
    del looked[:]
    spmv["tuned"](A, x, y)
    assert looked == []
    assert spmv.plan(A, x, y).tuning is None  # calls were measured, without what a plan keeps
    lines = winners_file.read_text().splitlines()
    assert len(lines) == 2
    assert ", in plain calls" in lines[1]


def test_what_noise_keeps_out_of_the_file_is_remembered_in_the_process(paced, winners_file) -> None:
    _, A, x, y = arguments()
    looked = paced({ev.NonzeroSplit: 5.0})
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as m:
        m.setattr("evenly.tuning.tune.doubt", lambda *_: "noise")
        spmv["tuned"](A, x, y)
    assert not winners_file.exists()
    count = len(looked)
    spmv["tuned"](A, x, np.empty_like(y))
    assert len(looked) == count


def test_the_process_remembers_a_bounded_number(monkeypatch) -> None:
    monkeypatch.setattr(recall, "MOST", 3)
    for number in range(5):
        recall.note(number, number)
    assert list(recall._measured) == [2, 3, 4]


# ---- what is refused -----------------------------------------------------------------------------------------
def test_what_is_refused() -> None:
    _, A, x, y = arguments()
    with pytest.raises(ev.InputError) as caught:
        ev.spmv(A, x, schedule="tuned", target="python")
    assert str(caught.value) == (
        "schedule: expected target 'cuda' or 'cpu', whose times mean something, got 'tuned' for target "
        "'python'; hint: schedule=\"auto\" chooses without measuring"
    )
    with pytest.raises(ev.InputError, match=f"a plan without debug=True.* got {REASON}one with it"):
        spmv["tuned"].on("cpu", debug=True)(A, x, y)
    with pytest.raises(ev.InputError, match="^y: expected at least"):
        spmv["tuned"](A, x, y[:-1])
    with pytest.raises(ev.InputError, match="did you mean 'tuned'"):
        spmv["tuneds"]


def test_a_frontier_is_refused() -> None:
    @ev.kernel
    def visit(F, seen):
        for v in F.tiles():
            for k in F.atoms(v):
                if ev.atomic_max(seen, F.column(k), 1) == 0:
                    F.push(F.column(k))

    matrix = matrices()["all equal"]
    F = ev.frontier(ev.csr(matrix))
    with pytest.raises(ev.InputError, match=f"got {REASON}the frontier F, whose tiles change"):
        visit["tuned"](F, np.zeros(matrix.shape[1], np.int32))


def test_collect_is_refused() -> None:
    @ev.kernel
    def positive(A, out):
        for row in A.tiles():
            for k in A.atoms(row):
                if A.value(k) > 0:
                    out.emit(A.column(k))

    _, A, _, _ = arguments()
    with pytest.raises(
        ev.InputError, match="schedule: expected 'auto' or a schedule.* got 'tuned'"
    ):
        positive["tuned"].collect(A, out=np.int32)


# ---- the order -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize(
    "task", [SPMV, Task(kept=False), Task(whole_tiles=True), Task(gathers=False)]
)
@pytest.mark.parametrize("name", names())
def test_every_candidate_is_ranked_and_the_choice_of_auto_first(name, task, target) -> None:
    A = arguments(name)[1]
    found = ranked(A, target, task)
    assert found[0] == choose(A, target, task)
    assert len(set(found)) == len(found)
    different = {divided_on_cpu(schedule) for schedule in found}
    assert target == "cuda" or len(found) == len(different)
    assert target == "cpu" or set(found) >= set(candidates(target))
    assert {divided_on_cpu(schedule) for schedule in candidates(target)} == different


def test_what_a_cpu_does_not_tell_apart_is_the_same_code() -> None:
    _, A, x, y = arguments()
    made = {}
    for schedule in candidates("cpu"):
        executable = spmv.plan(A, x, y, schedule=schedule)._executable
        code = executable.source, [function.rule for function in executable.functions]
        made.setdefault(divided_on_cpu(schedule), []).append(code)
    assert all(code == codes[0] for codes in made.values() for code in codes)
    assert len({str(codes[0]) for codes in made.values()}) == len(made) == 4


def test_each_kind_is_among_the_first() -> None:
    """A prediction may be wrong about a whole kind."""
    for name in names():
        first = ranked(arguments(name)[1], "cuda", SPMV)[:6]
        assert {kind_of(schedule) for schedule in first} >= set(KINDS)


def test_once_all_kinds_are_known_the_leading_one_is_looked_at() -> None:
    few = [ev.ThreadMapped(), ev.MergePath(), ev.WarpMapped(), ev.MergePath(128), ev.WorkOriented()]
    waiting, kinds = {str(s): s for s in few}, {str(s): kind_of(s) for s in few}
    estimates, order = {}, []
    times = {ev.ThreadMapped: 9.0, ev.MergePath: 5.0}
    while waiting:
        name = most_promising(waiting, kinds, estimates)
        schedule = waiting.pop(name)
        estimates[name] = times.get(type(schedule), 20.0)
        order.append(schedule)
    assert order == [few[0], few[1], few[3], few[2], few[4]]


# ---- bounds --------------------------------------------------------------------------------------------------
def fresh():
    """A kernel of which nothing is compiled, in any cache: its text is new."""
    number = next(_numbers)
    text = (
        "def scaled(A, x, y):\n"
        "    for row in A.tiles():\n"
        f"        y[row] = {number}.0 * sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))\n"
    )
    made: dict = {}
    exec(text, made)
    return ev.kernel(made["scaled"], source=text)


_numbers = itertools.count(2)


@pytest.fixture
def own_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "compiled"))


def test_no_more_is_compiled_than_allowed(paced, own_cache) -> None:
    _, A, x, y = arguments()
    plan = fresh().plan(A, x, y, schedule=ev.ThreadMapped())  # which is compiled by now
    looked = paced({ev.MergePath: 5.0})
    tuned = plan.tune(compilations=1)
    assert looked == [
        ev.ThreadMapped(),
        ev.MergePath(),
        ev.NonzeroSplit(),
    ]  # the last two are the same code
    assert tuned.schedule == ev.MergePath()
    assert tuned.tuning.left_out == {str(ev.WorkOriented()): UNCOMPILED}
    del looked[:]
    assert plan.tune(compilations=0).schedule == ev.MergePath()  # compiled, and still there
    assert looked[:2] == [ev.ThreadMapped(), ev.MergePath()]


def test_what_is_on_disk_is_not_compiled(own_cache) -> None:
    _, A, x, y = arguments()
    kernel = fresh()
    few = [ev.ThreadMapped(), ev.MergePath()]
    kernel.plan(A, x, y).tune(candidates=few, seconds=0.05)
    from evenly.targets.cpu import loading

    loading._loaded.clear()  # as in another process
    with compilations.watched(allowed=False) as watch:
        kernel.copy().plan(A, x, y, schedule=ev.MergePath())
    assert (watch.count, watch.loaded) == (0, True)
    with compilations.watched(allowed=False), pytest.raises(NotCompiledError):
        kernel.copy().plan(A, x, y, schedule=ev.WorkOriented())
    with compilations.watched() as watch:
        kernel.copy().plan(A, x, y, schedule=ev.WorkOriented())
    assert (watch.count, watch.loaded) == (1, False)


def test_tuned_compiles_few(paced, own_cache, monkeypatch) -> None:
    monkeypatch.setattr(net, "COMPILATIONS", 1)
    _, A, x, y = arguments()
    looked = paced({})
    plan = fresh().plan(A, x, y, schedule="tuned")
    assert len(looked) == 2
    assert ev.ThreadMapped() not in looked
    assert set(plan.tuning.left_out.values()) == {UNCOMPILED}


@pytest.mark.parametrize("given", [-1, 1.5, True, "2"])
def test_a_number_of_compilations(given) -> None:
    _, A, x, y = arguments()
    with pytest.raises(ev.InputError, match="compilations: expected an integer, 0 or more, got"):
        spmv.plan(A, x, y).tune(compilations=given)


def test_a_kernel_that_needs_whole_tiles(paced) -> None:
    _, A, x, y = arguments()
    looked = paced({})
    softmax_rows.plan(A, x, y, schedule="tuned")
    assert looked


def test_a_first_call_compiles_none_once_enough_are_measured(paced, own_cache, monkeypatch) -> None:
    monkeypatch.setattr(net, "COMPILATIONS", 2)
    _, A, x, y = arguments()
    kernel = fresh()
    for schedule in (ev.ThreadMapped(), ev.MergePath()):
        kernel.plan(A, x, y, schedule=schedule)  # compiled by now
    looked = paced({ev.MergePath: 5.0})
    found = kernel.plan(A, x, y, schedule="tuned").tuning
    assert {type(schedule) for schedule in looked} >= {ev.ThreadMapped, ev.MergePath}
    assert found.left_out[str(ev.WorkOriented())] == UNCOMPILED
