"""Frontiers through the public interface: under every schedule, on every target, with and without room."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.interop.generators import rmat
from evenly.runtime.frontiers import watched
from evenly.tuning.tune import reads_what_it_writes
from tests.batteries import matrices
from tests.kernels import SCHEDULES

SIMT = pytest.param("simt", marks=pytest.mark.simt)


@ev.kernel
def breadth_first(F, level, source, depths):
    level[source] = 0
    F.push(source)
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                v = F.column(e)
                if ev.atomic_cas(level, v, -1, depth) == -1:
                    F.push(v)
    depths[0] = depth


@ev.kernel
def everything(F, A, visits):
    for row in A.tiles():
        F.push(row)
    for u in F.tiles():
        for e in F.atoms(u):
            ev.atomic_add(visits, F.column(e), 1)
            F.push(u)


@ev.kernel
def components(F, G, label, rounds):
    """The least vertex that reaches each vertex: a vertex whose label has changed is walked again."""
    for v in G.tiles():
        label[v] = v
        F.push(v)
    count = 0
    while len(F) > 0:
        count += 1
        for u in F.tiles():
            mine = label[u]
            changed = 0
            for e in F.atoms(u):
                v = F.column(e)
                if mine < ev.atomic_min(label, v, mine):
                    F.push(v)
                    changed += 1
            rounds[u] += 1 if changed > 0 else 0
    rounds[0] = count


def square(matrix: Any) -> Any:
    size = max(matrix.shape)
    made = matrix.copy()
    made.resize((size, size))
    return made


def levels(matrix: Any, source: int) -> tuple[np.ndarray, int]:
    """The distance of each vertex from `source` in edges, -1 where there is none, and the number of rounds."""
    level = np.full(matrix.shape[0], -1, np.int32)
    level[source] = 0
    found, depth = [source], 0
    while found:
        depth += 1
        ends = [matrix.indices[matrix.indptr[u] : matrix.indptr[u + 1]] for u in found]
        reached = np.unique(np.concatenate(ends))
        found = reached[level[reached] < 0].tolist()
        level[found] = depth
    return level, depth


def search(matrix: Any, schedule: Any, target: str, unique: bool, **options: Any) -> None:
    wanted, depth = levels(matrix, 0)
    F = ev.frontier(ev.csr(matrix), unique=unique)
    level, depths = np.full(matrix.shape[0], -1, np.int32), np.zeros(1, np.int32)
    breadth_first[schedule].on(target, **options)(F, level, 0, depths)
    np.testing.assert_array_equal(level, wanted)
    assert depths[0] == depth and len(F) == 0


NAMES = ("one empty tile", "no atoms", "empty in the middle", "single column", "unsorted columns", "stencil")  # fmt: skip


@pytest.mark.parametrize("target", ["cpu", SIMT])
@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_searches_under_every_schedule(schedule: str, unique: bool, target: str) -> None:
    for name in NAMES if target == "cpu" else NAMES[2:5:2]:
        search(square(matrices(np.float32)[name]), SCHEDULES[schedule], target, unique)


@pytest.mark.parametrize("target", ["python", "cpu"])
@pytest.mark.parametrize("schedule", ["auto", "merge_path", "lrb"])
def test_a_larger_search(schedule: str, target: str) -> None:
    search(rmat(9 if target == "cpu" else 6, per_row=4), schedule, target, unique=False)


@pytest.mark.simt
def test_every_order_of_threads_gives_the_same_but_for_the_lists() -> None:
    search(rmat(5, per_row=4), "merge_path", "simt", False, seeds=range(3))


@settings(max_examples=12)
@given(
    edges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30),
    schedule=st.sampled_from(["thread_mapped", "group_mapped", "merge_path", "nonzero_split"]),
    unique=st.booleans(),
)
def test_targets_agree_on_any_graph(
    edges: list[tuple[int, int]], schedule: str, unique: bool
) -> None:
    rows, columns = np.array(edges, np.int32).reshape(-1, 2).T
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=9))]).astype(np.int32)
    ends = columns[np.argsort(rows, kind="stable")].astype(np.int32)
    G = ev.csr((np.ones(len(ends), np.float32), ends, offsets), shape=(9, 9))
    reach = np.eye(9, dtype=bool)
    for _ in range(9):
        for a, b in edges:
            reach[:, b] |= reach[:, a]
    expected = reach.argmax(axis=0)  # the first vertex that reaches it
    for target in ("python", "cpu"):
        label, rounds = np.zeros(9, np.int32), np.zeros(9, np.int32)
        F = ev.frontier(G, unique=unique, capacity=9 if unique else 90)
        components[schedule].on(target)(F, G, label, rounds)
        np.testing.assert_array_equal(label, expected, err_msg=target)
        assert len(F) == 0 and rounds[0] >= 1


@pytest.mark.parametrize("target", ["python", "cpu", SIMT])
@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path"])
def test_too_many_tiles_are_an_error(schedule: str, target: str) -> None:
    matrix = matrices(np.float32)["all equal"]
    A, visits = ev.csr(matrix), np.zeros(matrix.shape[1], np.int32)
    F = ev.frontier(A)
    with pytest.raises(ev.InputError) as caught:
        everything[schedule].on(target)(F, A, visits)
    assert str(caught.value) == (
        "F: expected at most 300 tiles with 993 atoms at a time, got more; "
        "hint: ev.frontier(G, unique=True) keeps duplicates out; capacity= makes more room"
    )
    with pytest.raises(ev.InputError, match="got more"):
        len(F)


@pytest.mark.parametrize("target", ["python", "cpu", SIMT])
def test_capacity_makes_room_and_unique_needs_none(target: str) -> None:
    matrix = matrices(np.float32)["all equal"]
    A = ev.csr(matrix)
    wanted = np.bincount(matrix.indices, minlength=matrix.shape[1])
    for F, waiting in (ev.frontier(A, capacity=1200), 993), (ev.frontier(A, unique=True), 300):
        visits = np.zeros(matrix.shape[1], np.int32)
        everything["merge_path"].on(target)(F, A, visits)
        np.testing.assert_array_equal(visits, wanted)
        assert len(F) == waiting


def test_atoms_can_overflow_before_tiles() -> None:
    """Many pushes of the longest tile: few tiles, more atoms than the list of them may have."""

    @ev.kernel
    def push_the_longest(F, times):
        n = 0
        while n < times:
            F.push(1)
            n += 1

    G = ev.csr((np.ones(50, np.float32), np.zeros(50, np.int32), np.int32([0, 0, 50, 50, 50])), shape=(4, 50))  # fmt: skip
    for target in ("python", "cpu"):
        F = ev.frontier(G)
        push_the_longest.on(target)(F, 1)
        assert len(F) == 1
        with pytest.raises(ev.InputError, match="at most 4 tiles with 50 atoms"):
            push_the_longest.on(target)(F, 1)


def test_what_was_not_walked_waits_for_the_next_call() -> None:
    @ev.kernel
    def push(F, v):
        F.push(v)

    @ev.kernel
    def walk(F, seen):
        for u in F.tiles():
            seen[u] = 1

    A = ev.csr(matrices(np.float32)["all equal"])
    F, seen = ev.frontier(A), np.zeros(300, np.int32)
    push(F, 7)
    push(F, 290)
    assert len(F) == 2
    F.push(12)  # on the host, as on a device
    walk(F, seen)
    assert np.flatnonzero(seen).tolist() == [7, 12, 290] and len(F) == 0


@ev.kernel
def running_sums(F, before, places):
    F.push(0)
    F.push(2)
    turn = 0
    while turn < 2:
        turn += 1
        for u in F.tiles():
            for k in F.atoms(u):
                before[k] = ev.scan(F.value(k), exclusive=True)
                places[k] = ev.rank(F.value(k) > 1)
                F.push(F.column(k))


@pytest.mark.parametrize("target", ["python", "cpu", SIMT])
@pytest.mark.parametrize(
    "schedule", ["thread_mapped", "group_mapped", "merge_path", "nonzero_split"]
)
def test_scans_of_what_was_pushed(schedule: str, target: str) -> None:
    """0 -> 1, 3 and 2 -> 3, 3, and 3 -> 0: the second round walks 1 once and 3 three times."""
    ends, offsets = np.int32([1, 3, 3, 3, 0]), np.int32([0, 2, 2, 4, 5])
    G = ev.csr((np.float32([1, 2, 4, 8, 16]), ends, offsets), shape=(4, 4))
    before, places = np.full(5, -1, np.float32), np.full(5, -1, np.int32)
    F = ev.frontier(G, capacity=8)
    running_sums[schedule].on(target)(F, before, places)
    np.testing.assert_array_equal(before, [0, 1, 0, 4, 0])
    np.testing.assert_array_equal(places, [0, 0, 0, 1, 0])
    assert len(F) == 3


def test_plans_and_bound_calls() -> None:
    matrix = rmat(7, per_row=4)
    wanted, _ = levels(matrix, 0)
    F = ev.frontier(ev.csr(matrix))
    level, depths = np.full(matrix.shape[0], -1, np.int32), np.zeros(1, np.int32)
    plan = breadth_first.plan(F, level, 0, depths, schedule="merge_path")
    assert not plan.deterministic and plan.repeats
    with plan.bind(F, level, 0, depths) as call:
        for run in (call, lambda: plan(F, level, 0, depths), call):
            level[:] = -1
            run()
            np.testing.assert_array_equal(level, wanted)
    plan.check()
    assert "merge_path" in str(ev.explain(F)) or str(ev.explain(F))


def test_tune_searches_with_copies() -> None:
    """Of the lists, too: the frontier itself stays as it is, with what waits in it."""

    @ev.kernel
    def search(F, level, depths):
        depth = 0
        while len(F) > 0:
            depth += 1
            for u in F.tiles():
                for e in F.atoms(u):
                    if ev.atomic_cas(level, F.column(e), -1, depth) == -1:
                        F.push(F.column(e))
        depths[0] = depth

    matrix = rmat(6, per_row=4)
    wanted, depth = levels(matrix, 0)
    level, depths = np.full(matrix.shape[0], -1, np.int32), np.zeros(1, np.int32)
    level[0] = 0
    F = ev.frontier(ev.csr(matrix))
    F.push(0)
    plan = search.plan(F, level, depths, target="cpu")
    tuned = plan.tune(candidates=["thread_mapped", "merge_path"], seconds=0.05, save=False)
    assert len(tuned.tuning.times) == 2 and not tuned.tuning.left_out
    assert len(F) == 1 and (level[1:] == -1).all() and depths[0] == 0
    tuned(F, level, depths)
    np.testing.assert_array_equal(level, wanted)
    assert depths[0] == depth and len(F) == 0


def test_lists_that_are_only_walked_are_restored_for_each_measurement() -> None:
    @ev.kernel
    def walk(F, seen):
        for u in F.tiles():
            seen[u] = 1

    F = ev.frontier(ev.csr(matrices(np.float32)["all equal"]))
    plan = walk.plan(F, np.zeros(300, np.int32), target="cpu")
    assert reads_what_it_writes(plan._program, ["F", "seen"])


def test_a_captured_call_that_may_overflow_is_refused_before_it_runs() -> None:
    """Nothing could be looked at after it: what its graph leaves out when it is launched would be lost."""

    class Run:
        captured, times = True, 0

        def __call__(self) -> None:
            self.times += 1

    A, visits = ev.csr(matrices(np.float32)["one atom"]), np.zeros(8, np.int32)
    for unique in False, True:
        F, run = ev.frontier(A, unique=unique), Run()
        binding = everything.plan(F, A, visits)._binding
        outputs = [("F", "pushed"), ("visits",)]
        call = watched(run, binding, outputs)
        if unique:
            call()
            assert run.times == 1
            continue
        with pytest.raises(ev.InputError) as caught:
            call()
        assert run.times == 0
        assert str(caught.value) == (
            "frontier: expected one that always has room, in a call that is captured into a CUDA graph, "
            "got one that may overflow; hint: ev.frontier(G, unique=True)"
        )
        run.captured = False
        call()
        assert run.times == 1
        run.captured = True
        watched(run, binding, outputs, waits=False)()
        assert run.times == 2


def test_plans_keep_no_frontier_alive() -> None:
    A, visits = ev.csr(matrices(np.float32)["one atom"]), np.zeros(8, np.int32)
    F = ev.frontier(A)
    everything(F, A, visits)
    gone = weakref.ref(F)
    del F
    gc.collect()
    assert gone() is None


def test_kernels_that_emit_are_of_their_own() -> None:
    """They run twice, and the run that counts has no effects: a while would not end, a list not be walked."""

    @ev.kernel
    def rounds(A, out):
        n = 0
        while n < 3:
            n += 1
            for row in A.tiles():
                out.emit(row)

    @ev.kernel
    def walks(F, out):
        for u in F.tiles():
            out.emit(u)

    @ev.kernel
    def pushes(A, F, out):
        for row in A.tiles():
            F.push(row)
            out.emit(row)

    A = ev.csr(matrices(np.float32)["one atom"])
    F = ev.frontier(A)
    with pytest.raises(
        ev.KernelError, match="a while around loops over tiles in a kernel that emits"
    ):
        rounds.collect(A, np.int32)
    for kernel, arguments in (walks, (F,)), (pushes, (A, F)):
        with pytest.raises(ev.KernelError, match="the frontier F in a kernel that emits"):
            kernel.collect(*arguments, np.int32)


def test_constructor_refuses() -> None:
    A = ev.csr(matrices(np.float32)["all equal"])
    with pytest.raises(ev.InputError, match="G: expected a layout, got ndarray; hint: frontier"):
        ev.frontier(np.zeros(3))
    with pytest.raises(
        ev.InputError,
        match="G: expected a layout that numbers its tiles, got Subset, which renames",
    ):
        ev.frontier(ev.subset(A, np.arange(3)))
    with pytest.raises(ev.InputError, match=r"capacity: expected an integer, got 1\.5"):
        ev.frontier(A, capacity=1.5)  # type: ignore[arg-type]
    with pytest.raises(ev.InputError, match="capacity: expected at least 1, got 0"):
        ev.frontier(A, capacity=0)
    with pytest.raises(ev.InputError, match="capacity: expected at least 300, got 10"):
        ev.frontier(A, capacity=10, unique=True)
    with pytest.raises(ev.InputError, match="capacity: expected fewer than 2147483648, got"):
        ev.frontier(A, capacity=2**40)


def test_an_empty_layout_has_an_empty_frontier() -> None:
    A = ev.csr(scipy.sparse.csr_array((0, 0), dtype=np.float32))
    F, visits = ev.frontier(A), np.zeros(1, np.int32)
    for target in ("python", "cpu"):
        everything.on(target)(F, A, visits)
    assert len(F) == 0
