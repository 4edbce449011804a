"""Scratch arrays over random matrices, against plain Python and the reference; their bounds, lengths and memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.errors import EvenlyError, InputError
from evenly.targets.cpu.run import Run
from tests import batteries
from tests.emitting import emitted, typed
from tests.scratch import CASES, OWNED, agrees, distinct, histogram
from tests.test_properties import matrices

ON_CPU = [
    ("distinct", "thread"), ("distinct", "group 3"), ("histogram", "group 48"), ("histogram", "lrb"),
    ("symbolic", "dynamic"), ("symbolic", "group 3"),
]  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(matrices(), st.sampled_from(ON_CPU), st.integers(1, 40))
def test_any_matrix(matrix: sp.csr_array, chosen: tuple[str, str], m: int) -> None:
    case, schedule = chosen
    agrees(case, matrix, m, OWNED[schedule], "cpu")
    if matrix.nnz < 200:
        agrees(case, matrix, m, OWNED[schedule], "python")


@pytest.mark.parametrize("case", CASES)
def test_nasty_matrices(case: str) -> None:
    for matrix in batteries.matrices(np.float32).values():
        if matrix.nnz < 30_000:
            agrees(case, matrix.tocsr(), 50, OWNED[dict(ON_CPU)[case]], "cpu")


# With bytes for one block or two.
ON_SIMT = [
    ("distinct", "thread", 1_300_000), ("distinct", "group 3", 110_000), ("distinct", "lrb", 11_000),
    ("histogram", "group 48", 11_000), ("histogram", "dynamic", 30_000),
    ("symbolic", "warp", 15_000), ("symbolic", "lrb", 100_000), ("symbolic", "dynamic 48", 5_000),
]  # fmt: skip


@pytest.mark.simt
@pytest.mark.parametrize(("case", "schedule", "few"), ON_SIMT)
def test_on_simt(case: str, schedule: str, few: int) -> None:
    """With memory for all tiles, and for few at a time; the long rows do not fit into shared memory."""
    rng = np.random.default_rng(0)
    long = sp.random_array((3, 900), density=0.7, rng=rng)
    short = sp.random_array((60, 900), density=0.01, rng=rng)
    matrix = sp.vstack([short, long]).tocsr()
    agrees(case, matrix, 300, OWNED[schedule], "simt")
    agrees(case, matrix, 300, OWNED[schedule], "simt", seed=1, max_workspace=few)
    agrees(case, sp.csr_array((0, 5)), 3, OWNED[schedule], "simt")
    agrees(case, sp.csr_array((4, 5)), 3, OWNED[schedule], "simt")


# ---- lengths ----------------------------------------------------------------------------------------
A = ev.csr(sp.csr_array(np.tri(6, dtype=np.float32)))


def test_lengths_are_asked_for_at_each_call() -> None:
    offsets, indices = np.array([0, 1, 2], np.int32), np.arange(2000, dtype=np.int32) % 100
    grown = ev.csr((np.ones(2000, np.float32), indices, offsets), shape=(2, 100))
    out = np.zeros(2, np.int32)
    plan = distinct.plan(grown, 100, out, target="cpu", schedule="thread_mapped")
    for end in (2, 2000, 50):
        offsets[2] = end
        plan(grown, 100, out)
        np.testing.assert_array_equal(out, [1, min(end - 1, 100)])
        distinct.on("cpu")(grown, 100, out)
        np.testing.assert_array_equal(out, [1, min(end - 1, 100)])


def test_lengths_that_follow_from_numbers_are_asked_for_once(monkeypatch) -> None:
    measured, asked = Run.measured, []
    monkeypatch.setattr(Run, "measured", lambda run, of: asked.append(of) or measured(run, of))
    for kernel, times in ((histogram, 1), (distinct, 3)):
        out = np.zeros(6, np.int32)
        plan = kernel.plan(A, 100, out, target="cpu", schedule="thread_mapped")
        plan(A, 100, out)
        wanted = out.copy()
        for _ in range(2):
            plan(A, 100, out)
            np.testing.assert_array_equal(out, wanted)
        assert len(asked) == times
        asked.clear()


@ev.kernel
def after_other_loops(A, x, total, y):
    most = len(x) - 1
    for row in A.tiles():
        y[row] = 0
    both = 0
    for row in A.tiles():
        h = ev.scratch(x[row] + most, np.int32)
        if row % 2 == 0:
            more = ev.scratch(2 * row, bool)
            for i in range(len(more)):
                more[i] = True
            y[row] += len(more) + (row > 0 and more[2 * row - 1])
        for k in A.atoms(row):
            ev.atomic_add(h, A.column(k) % len(h), 1)
        for i in range(len(h)):
            both += h[i]
    total[0] = both


@pytest.mark.parametrize("schedule", ["thread_mapped", "group_mapped", "lrb"])
def test_a_kernel_with_several_loops(schedule: str) -> None:
    x, y, total = np.arange(6, dtype=np.int32), np.ones(6, np.int32), np.zeros(1, np.int64)
    for target in ("python", "cpu"):
        after_other_loops[schedule].on(target)(A, x, total, y)
        np.testing.assert_array_equal(y, [0, 0, 5, 0, 9, 0])
        assert total[0] == A.num_atoms


@ev.kernel
def of_what_is_stored(A, x):
    for row in A.tiles():
        x[row] = row
    for row in A.tiles():
        h = ev.scratch(x[row], np.int32)
        x[row] = len(h)


@ev.kernel
def of_a_total(A, x):
    total = 0
    for row in A.tiles():
        total += row
    for row in A.tiles():
        h = ev.scratch(total, np.int32)
        x[row] = len(h)


@ev.kernel
def of_an_atomic(A, x):
    for row in A.tiles():
        h = ev.scratch(ev.atomic_add(x, 0, 1), np.int32)
        x[row] = len(h)


@ev.kernel
def of_another(A, x):
    for row in A.tiles():
        h = ev.scratch(3, np.int32)
        g = ev.scratch(h[0], np.int32)
        x[row] = len(g)


@pytest.mark.parametrize("kernel", [of_what_is_stored, of_a_total, of_an_atomic, of_another])
@pytest.mark.parametrize("target", ["python", "cpu"])
def test_a_length_that_no_plan_can_know_is_refused(kernel: ev.Kernel, target: str) -> None:
    said = "the length of ev.scratch depends on what the kernel stores or computes for all tiles"
    with pytest.raises(ev.LanguageError, match=said) as caught:
        kernel.on(target)(A, np.zeros(6, np.int32))
    assert caught.value.hint.startswith("a plan needs it beforehand: compute it in a kernel before")
    assert "ev.scratch" in str(caught.value).splitlines()[2]


@ev.kernel
def in_rounds(A, x):
    while x[0] < 3:
        for _ in A.tiles():
            h = ev.scratch(3, np.int32)
            ev.atomic_add(x, 0, 1 + h[0])


def test_rounds_are_refused() -> None:
    with pytest.raises(ev.LanguageError, match="ev.scratch in a while around loops over tiles"):
        in_rounds.on("cpu")(A, np.zeros(6, np.int32))


@pytest.mark.parametrize(
    "schedule",
    [ev.MergePath(), ev.NonzeroSplit(), ev.WorkOriented(), ev.GroupMapped(32, flatten=True)],
    ids=str,
)
def test_schedules_that_split_tiles_are_refused(schedule: ev.Schedule) -> None:
    with pytest.raises(
        ev.LanguageError, match="ev.scratch under a schedule that splits tiles"
    ) as caught:
        distinct[schedule].on("cpu")(A, 3, np.zeros(6, np.int32))
    assert (
        caught.value.hint
        == "use a schedule that owns whole tiles, as ThreadMapped, GroupMapped and Lrb do"
    )


@ev.kernel
def emits_what_it_counts(A, out):
    for row in A.tiles():
        h = ev.scratch(8, np.int32)
        for k in A.atoms(row):
            ev.atomic_add(h, A.column(k) % 8, 1)
        for i in range(8):
            if h[i] > 1:
                out.emit(i)


@ev.kernel
def emits_beside_it(A, out, y):
    for row in A.tiles():
        h = ev.scratch(A.end(row) - A.begin(row), np.int32)
        for k in A.atoms(row):
            ev.atomic_add(h, k - A.begin(row), A.column(k))
            if A.column(k) % 2 == 0:
                out.emit(A.column(k))
        y[row] = sum(h[i] for i in range(len(h)))


def test_emits_do_not_depend_on_it() -> None:
    with pytest.raises(ev.LanguageError, match="out.emit depends on what the kernel stores"):
        emits_what_it_counts.on("cpu").collect(A, out=(np.int32,))
    y = np.zeros(6, np.int64)
    _, columns = emits_beside_it["group_mapped"].on("cpu").collect(A, out=(np.int32,), y=y)
    np.testing.assert_array_equal(y, [0, 1, 3, 6, 10, 15])
    np.testing.assert_array_equal(columns, [c for row in range(6) for c in range(0, row + 1, 2)])


def test_plans_tell_and_tune() -> None:
    out = np.zeros(6, np.int64)
    plan = distinct.plan(A, 4, out, schedule="thread_mapped", target="cpu", max_workspace=9999)
    assert not plan.deterministic
    assert "thread_mapped" in str(plan.profile())
    tuned = plan.tune(candidates=[ev.GroupMapped(4), "merge_path"], seconds=0.01, save=False)
    assert tuned._executable.max_workspace == 9999
    tuned(A, 4, out)
    np.testing.assert_array_equal(out, [1, 2, 3, 4, 4, 4])


# ---- bounds ------------------------------------------------------------------------------------------
@ev.kernel
def reads_at(A, n, at, y):
    for row in A.tiles():
        h = ev.scratch(n, np.int32)
        y[row] = h[at]


WAYS = [("python", {}), ("cpu", {"debug": True}), pytest.param("simt", {}, marks=pytest.mark.simt)]


@pytest.mark.parametrize(("target", "options"), WAYS)
@pytest.mark.parametrize(("n", "at"), [(3, 3), (3, -1), (0, 0)])
def test_an_index_out_of_bounds_is_found(target: str, options: dict, n: int, at: int) -> None:
    with pytest.raises(EvenlyError, match=r"scratch array|h\[|h:") as caught:
        reads_at["thread_mapped"].on(target, **options)(A, n, at, np.zeros(6, np.int32))
    assert f"{at}" in str(caught.value)


@pytest.mark.parametrize(("target", "options"), WAYS)
def test_a_negative_length_is_found(target: str, options: dict) -> None:
    with pytest.raises(EvenlyError, match="scratch array"):
        reads_at["thread_mapped"].on(target, **options)(A, -2, 0, np.zeros(6, np.int32))


# ---- memory ------------------------------------------------------------------------------------------
def test_max_workspace_says_what_is_needed() -> None:
    out = np.zeros(6, np.int32)
    said = "max_workspace: expected at least 4,800 bytes, which the scratch arrays counts, lowest of one worker take, got 4,799"
    for run in (
        lambda: histogram.on("cpu", max_workspace=4799)(A, 400, out),
        lambda: histogram.plan(A, 400, out, target="cpu", max_workspace=4799)(A, 400, out),
    ):
        with pytest.raises(InputError, match=said):
            run()
    histogram.on("cpu", max_workspace=4800)(A, 400, out)
    histogram.on("python", max_workspace=1)(A, 400, out)
    for wrong in (0, -1, 1.5, True, "1GB"):
        with pytest.raises(
            InputError, match="max_workspace: expected a number of bytes, 1 or more"
        ):
            histogram.on("cpu", max_workspace=wrong)(A, 4, out)


@pytest.mark.simt
def test_max_workspace_on_a_gpu() -> None:
    out = np.zeros(6, np.int32)
    schedule, size = ev.GroupMapped(32, block=64), 64 * 12 * 13  # 13 elements a thread
    said = "at least 9,984 bytes, which the scratch arrays counts, lowest of a block of 64 threads take"
    with pytest.raises(InputError, match=said):
        histogram[schedule].on("simt", max_workspace=size - 1)(A, 400, out)
    plan = histogram.plan(A, 400, out, schedule=schedule, target="simt", max_workspace=size)
    assert size <= plan.workspace <= size + 512
    plan(A, 400, out)
    more = histogram.plan(A, 400, out, schedule=schedule, target="simt")
    assert more.workspace >= 3 * size


@pytest.mark.simt
def test_teams_have_room_for_the_tiles_of_their_class() -> None:
    """A thread for a short tile has not the memory that a block has for the longest."""
    lengths = [1] * 50 + [3, 20, 1000]
    matrix = sp.csr_array(
        (np.ones(1073, np.float32), np.arange(1073) % 1000, np.cumsum([0, *lengths])),
        shape=(53, 1000),
    )
    schedule = ev.Lrb(block=64, lanes=4, thread=2, group=16, warp=256)
    agrees("distinct", matrix, 1000, schedule, "simt")
    plan = distinct.plan(
        ev.csr(matrix), 1000, np.zeros(53, np.int32), schedule=schedule, target="simt"
    )
    arrays = 4 * 64 * 32  # of a block: of 2,000 elements, 32 a thread
    blocks = schedule.launch(ev.csr(matrix))[0]
    assert blocks * arrays <= plan.workspace <= blocks * arrays + 4000


@ev.kernel
def counted_twice(B, x, y):
    for item in B.items():
        first = B.item_begin(item)
        h = ev.scratch(B.item_end(item) - first, np.float64)
        total = 0.0
        for row in B.tiles(item):
            h[row - first] = x[row]
            h[row - first] += sum(1.0 for _ in B.atoms(row))
            total += h[row - first] * h[row - first]  # its own place, also after an update
        y[item] = total


@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
def test_a_tile_reads_what_it_has_updated(target: str) -> None:
    items = [sp.csr_array(np.tri(n)) for n in (1, 5, 0, 40)]
    B = ev.batch(items)
    x, y = np.arange(float(B.num_tiles)), np.zeros(4)
    schedules = [ev.Nested(ev.BlockMapped(64), ev.GroupMapped(n)) for n in (2, 4)]
    for schedule in ["auto", *schedules]:
        counted_twice[schedule].on(target)(B, x, y)
        lengths = [np.diff(m.indptr) for m in items]
        wanted = [((a + b) ** 2).sum() for a, b in zip(B.split(x), lengths, strict=True)]
        np.testing.assert_array_equal(y, wanted)


@ev.kernel
def of_constant_length(A, x, y):
    """The sums of the values x of each column modulo 300, and of each of the last 4 atoms' remainders."""
    for row in A.tiles():
        sums = ev.scratch(300, np.int64)
        counts = ev.scratch(5, np.int32)
        for k in A.atoms(row):
            ev.atomic_add(sums, A.column(k) % 300, x[k])
            ev.atomic_add(counts, k % 5, 1)
        y[row] = max((sums[j] for j in ev.lanes(300)), default=0) + counts[4]


def constant_case() -> tuple[ev.Csr, np.ndarray, np.ndarray]:
    A = ev.csr(batteries.matrices(np.float32)["power law"])
    x = np.arange(A.num_atoms, dtype=np.int64) % 97
    wanted = np.zeros(A.num_tiles, np.int64)
    for row in range(A.num_tiles):
        atoms = np.arange(A.offsets[row], A.offsets[row + 1])
        sums = np.bincount(A.indices[atoms] % 300, x[atoms], minlength=300)
        wanted[row] = sums.max() + (atoms % 5 == 4).sum()
    return A, x, wanted


@pytest.mark.parametrize("name", ["thread", "group 3", "warp", "group 48", "lrb", "dynamic"])
def test_lengths_that_are_constants_are_not_asked_for(name: str) -> None:
    A, x, wanted = constant_case()
    for target in ("cpu", "simt"):
        y = np.zeros(A.num_tiles, np.int64)
        of_constant_length[OWNED[name]].on(target)(A, x, y)
        np.testing.assert_array_equal(y, wanted)
    phases, _ = typed(of_constant_length, (A, x, y), OWNED[name])
    assert phases.lengths is None
    assert sorted(set(sum((lengths for _, lengths in phases.rooms), ()))) == [5, 300]


@pytest.mark.parametrize(("name", "size"), [("group 8", 8), ("warp", 32), ("block", 0)])
def test_arrays_of_constant_length_get_the_shared_memory_that_they_need(
    name: str, size: int
) -> None:
    """And then none of the workspace."""
    A, x, y = constant_case()
    schedule = OWNED[name]
    (code,) = emitted(of_constant_length, (A, x, y), schedule)
    teams = schedule.block // (size or schedule.block)
    fits = 2432 * teams <= 40960
    assert (f"ev::scratch<0, {2400 * teams}, {schedule.block}, true>" in code.source) == fits
    plan = of_constant_length.plan(A, x, y, schedule=schedule, target="simt")
    assert (plan.workspace <= 1024) == fits


@ev.kernel
def of_items(B, x, y):
    """Each item's numbers in reverse, through an array of constant length and one of computed length."""
    for item in B.items():
        first, last = B.item_begin(item), B.item_end(item)
        h, g = ev.scratch(40, np.float32), ev.scratch(last - first, np.float32)
        for row in B.tiles(item):
            h[ev.distinct(last - 1 - row)] = x[row]
        for row in B.tiles(item):
            g[row - first] = h[row - first]
        for row in B.tiles(item):
            y[row] = g[row - first]


@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
def test_arrays_of_constant_length_of_items(target: str) -> None:
    """They get the shared memory that they need; stores at distinct places are plain."""
    B = ev.batch([sp.eye_array(n, dtype=np.float32).tocsr() for n in (3, 1, 40)])
    x, y = np.arange(44, dtype=np.float32), np.zeros(44, np.float32)
    schedule = ev.Nested(ev.GroupMapped(8, block=64), ev.ThreadMapped(), stage=64)
    of_items[schedule].on(target)(B, x, y)
    np.testing.assert_array_equal(y, np.concatenate([part[::-1] for part in B.split(x)]))
    (code,) = emitted(of_items, (B, x, y), schedule)
    assert "ev::scratch<0, 1280, 64, true>" in code.source
    assert "ev::scratch<1, 64, 64>" in code.source
    assert "store_contended" not in code.source and "atomic_load" not in code.source


@ev.kernel
def half_stored(A, y):
    for row in A.tiles():
        h = ev.scratch(64, np.int32, zeros=False)
        for k in A.atoms(row):
            if k % 2 == 0:
                h[k - A.begin(row)] = A.column(k)
        y[row] = h[0]


def test_elements_that_nothing_is_known_of() -> None:
    """Where nothing is said, they are zero. The reference and simt find a kernel that reads one before it stores it."""
    A = ev.csr((np.ones(4, np.float32), np.int32([5, 6, 7, 8]), np.int32([0, 3, 4])), shape=(2, 9))
    y = np.zeros(2, np.int32)
    half_stored["thread_mapped"].on("python")(A, y)
    assert y[0] == 5 and y[1] not in (0, 8)
    (code,) = emitted(half_stored, (A, y), OWNED["group 8"])
    assert ", true, false>(team" in code.source
    with pytest.raises(
        ev.SimtError, match="was not written|not been written|uninitiali[sz]ed|never written"
    ):
        half_stored["warp_mapped"].on("simt")(A, y)


@ev.kernel
def promised(A, order, x, y):
    for row in A.tiles():
        for k in A.atoms(row):
            y[ev.distinct(order[k])] += x[k]


@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path", "warp_mapped"])
@pytest.mark.parametrize("target", ["python", "cpu", "simt"])
def test_updates_at_indices_that_the_kernel_says_are_distinct(schedule: str, target: str) -> None:
    A, x, _ = constant_case()
    order = np.random.default_rng(0).permutation(A.num_atoms)
    y = np.ones(A.num_atoms, np.int64)
    promised[schedule].on(target)(A, order, x, y)
    wanted = np.ones(A.num_atoms, np.int64)
    wanted[order] += x
    np.testing.assert_array_equal(y, wanted)


def test_what_a_store_reads_is_emitted_in_one_order() -> None:
    """Else each process may emit another text, which the cache on disk does not have."""
    A, x, _ = constant_case()
    args = A, np.zeros(A.num_atoms, np.int64), x, np.zeros(A.num_atoms, np.int64)
    texts = {emitted(promised, args, ev.MergePath())[0].source for _ in range(20)}
    assert len(texts) == 1


@ev.kernel
def stored(A, order, x, y):
    for row in A.tiles():
        for k in A.atoms(row):
            y[ev.distinct(order[k])] = x[k]


@pytest.mark.simt
def test_simt_finds_a_broken_promise() -> None:
    A, x, _ = constant_case()
    order = np.zeros(A.num_atoms, np.int64)
    with pytest.raises(ev.SimtError, match="data race on array y"):
        promised["warp_mapped"].on("simt")(A, order, x, np.zeros(A.num_atoms, np.int64))
    with pytest.raises(ev.SimtError, match="data race on array y"):
        stored["warp_mapped"].on("simt")(A, order, x, np.zeros(A.num_atoms, np.int64))
