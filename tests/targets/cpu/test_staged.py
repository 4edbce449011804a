"""Sums that gather, with staged terms: where they are emitted, what they compute, and how a worker tries both ways."""

from __future__ import annotations

import math
import re

import numba
import numpy as np
import pytest
import scipy.sparse
from tests.batteries import matrices, names, vector
from tests.kernels import CASES, spmv
from tests.language.building import lowered

import evenly as ev
from evenly.language.cutting import cut
from evenly.targets.cpu import CpuTarget, loading, machine, staged, trial_words, trials
from evenly.targets.cpu.primitives import wide_vectors

SCHEDULES = [ev.ThreadMapped(), ev.MergePath(), ev.NonzeroSplit()]
LENGTHS = [*range(41), 63, 64, 65, staged.CHUNK - 1, staged.CHUNK, staged.CHUNK + 1, 1000]
load = loading.load


@pytest.fixture(params=[False, True], ids=["slow gathers", "quick gathers"])
def gathers(monkeypatch, request) -> None:
    monkeypatch.setattr(machine, "gathers_quickly", lambda: request.param)


def stages(monkeypatch, always: bool) -> None:
    """Have workers stage all that they can, or nothing. Their trials go on."""

    def changed(text: str):
        return load(re.sub(r"if trial_stages\(\w+\):", f"if {always}:", text))

    monkeypatch.setattr(loading, "load", changed)


# ---- what is computed ------------------------------------------------------------------------------------
def of_lengths(lengths, dtype):
    """A matrix with rows of these lengths, and a vector: numbers whose sums tell in which order they were added up."""
    rng = np.random.default_rng(5)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, 1000, offsets[-1]).astype(np.int32)
    values = rng.standard_normal(offsets[-1]).astype(dtype)
    return ev.csr((values, columns, offsets), shape=(len(lengths), 1000)), rng.random(1000).astype(
        dtype
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_both_ways_give_the_same_bits(gathers, monkeypatch, schedule, dtype) -> None:
    rng = np.random.default_rng(4)
    A, x = of_lengths([*LENGTHS, *rng.permutation(LENGTHS), *rng.geometric(0.2, 3000)], dtype)
    found = []
    for always in (False, True):
        stages(monkeypatch, always)
        y = np.empty(A.num_tiles, dtype)
        spmv.copy()[schedule](A, x, y)
        found.append(y)
    assert found[0].tobytes() == found[1].tobytes()
    wanted = np.empty(A.num_tiles, dtype)
    spmv.on("python")(A, x, wanted)
    np.testing.assert_allclose(
        found[1], wanted, rtol=1e-4 if dtype == np.float32 else 1e-12, atol=1e-4
    )


@ev.kernel
def three_sums(A, x, counts, y):
    for row in A.tiles():
        total = 1.5
        squares = 0.0
        count = 0
        for k in A.atoms(row):
            v = x[A.column(k)]
            total -= A.value(k) * v
            squares += v * v + A.value(k)
            count += counts[A.column(k)]
        y[row] = total + squares * count


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_several_sums_of_zeros_infinities_and_nan(gathers, monkeypatch, dtype) -> None:
    """Which NaN a sum of two is, by its sign, the order of operands decides: all else has the same bits."""
    rng = np.random.default_rng(6)
    A, x = of_lengths([*LENGTHS, *rng.geometric(0.2, 3000)], dtype)
    A.values[rng.random(A.num_atoms) < 0.3] = -0.0
    A.values[rng.random(A.num_atoms) < 0.01] = np.inf
    x[:300], x[300:303] = -0.0, (np.nan, np.inf, -np.inf)
    counts = rng.integers(-(2**31), 2**31, 1000).astype(np.int64) << 30  # sums wrap
    found = []
    for always in (False, True):
        stages(monkeypatch, always)
        y = np.empty(A.num_tiles, dtype)
        three_sums.copy()[SCHEDULES[0]](A, x, counts, y)
        found.append(np.where(np.isnan(y), dtype(np.nan), y))
    assert 0 < np.isnan(found[0]).sum() < A.num_tiles / 2
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_products(gathers, monkeypatch, schedule) -> None:
    stages(monkeypatch, True)
    plan = None
    for name in names():
        matrix = scipy.sparse.csr_array(matrices()[name], dtype=np.float32)
        A, x = ev.csr(matrix), vector(matrix.shape[1]).astype(np.float32)
        y = np.empty(matrix.shape[0], np.float32)
        plan = plan or spmv.copy().plan(A, x, y, schedule=schedule)
        plan(A, x, y)
        np.testing.assert_array_equal(y, matrix @ x, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_other_kernels(monkeypatch, name) -> None:
    stages(monkeypatch, True)
    matrix = matrices()["power law"]
    case = CASES[name]
    given = case.arguments(ev.csr(matrix), matrix, np.float32)
    expected = case.arguments(ev.csr(matrix), matrix, np.float32)
    case.kernel.copy()[ev.ThreadMapped()].on("cpu")(*given)
    case.kernel.on("python")(*expected)
    for at in case.outputs:
        np.testing.assert_allclose(given[at], expected[at], rtol=1e-5, atol=1e-6)


def test_numbers_that_are_none_do_not_spread(gathers, monkeypatch) -> None:
    """Terms of other tiles are not added: x has a NaN where only the next row gathers."""
    stages(monkeypatch, True)
    matrix = scipy.sparse.csr_array(np.kron(np.eye(4), np.ones((1, 5))).astype(np.float32))
    A, x, y = ev.csr(matrix), np.ones(20, np.float32), np.empty(4, np.float32)
    x[5:10] = np.nan
    spmv.copy()[ev.ThreadMapped()](A, x, y)
    np.testing.assert_array_equal(y, [5, np.nan, 5, 5])


# ---- where terms are staged --------------------------------------------------------------------------------
@ev.kernel
def greatest(A, x, y):
    for row in A.tiles():
        y[row] = max((A.value(k) * x[A.column(k)] for k in A.atoms(row)), default=0.0)


@ev.kernel
def rooted(A, x, y):
    for row in A.tiles():
        y[row] = sum(math.sqrt(x[A.column(k)]) for k in A.atoms(row))


@ev.kernel
def counted(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.column(k) for k in A.atoms(row))


@ev.kernel
def differences(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[A.column(k)] - x[row] for k in A.atoms(row))


@ev.kernel
def in_place(A, x, y):
    for row in A.tiles():
        ev.atomic_max(x, row, sum(A.value(k) * x[A.column(k)] for k in A.atoms(row)))


@ev.kernel
def of_some(A, x, y):
    for row in A.tiles():
        if y[row] > 0:
            y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def repeated(A, x, y):
    for row in A.tiles():
        total = y[row]
        for _ in range(A.column(row)):
            total += sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
        y[row] = total


@ev.kernel
def of_others(A, x, y):
    for row in A.tiles():
        if y[row] < 0:
            continue
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def is_staged(kernel, A, x, y, schedule=SCHEDULES[0], debug=False) -> bool:
    phases = cut(lowered(kernel.function, {"A": A, "x": x, "y": y}), schedule.owns_tiles)
    return "trial_stages(" in CpuTarget().emit(phases, schedule, debug).text


def test_what_is_staged() -> None:
    matrix = matrices()["power law"]
    A, x, y = ev.csr(matrix), vector(max(matrix.shape)), np.empty(matrix.shape[0], np.float32)
    for schedule in SCHEDULES:
        assert is_staged(spmv, A, x, y, schedule)
    assert not is_staged(spmv, A, x, y, debug=True)
    # Of a tile without a sum, a column may be anything.
    for kernel in (greatest, rooted, counted, differences, in_place, of_some, repeated, of_others):
        assert not is_staged(kernel, A, x, y)
    assert not is_staged(spmv, A, x.astype(np.float16), y)
    assert not is_staged(spmv, A, x.astype(np.complex64), y.astype(np.complex64))


# ---- trials ------------------------------------------------------------------------------------------------
class Worker:
    """Runs pieces of equal tiles, as emitted code does, by a clock that stands still in between."""

    def __init__(self, monkeypatch, atoms: int, *costs: int) -> None:
        self.time, self.atoms, self.costs = 0, atoms, costs
        monkeypatch.setattr(trials, "now", lambda: self.time)
        self.trial = np.empty(trial_words.TRIAL, np.int64)
        tiles = 1_000_000
        trials.trial_begins.py_func(self.trial, tiles, tiles * atoms)

    def piece(self, atoms: int | None = None) -> tuple[bool, int]:
        """Run a piece. Return whether it was staged, and how many tiles it has."""
        way, tiles = bool(self.trial[trial_words.STAGED]), trials.trial_tiles.py_func(self.trial)
        self.time += tiles * self.costs[way]
        trials.trial_ends.py_func(self.trial, tiles, atoms or tiles * self.atoms, staged.MOST)
        return way, int(tiles)


@pytest.mark.parametrize(("costs", "quicker"), [((30, 20), True), ((20, 30), False)])
def test_the_quicker_way_goes_on_for_longer_and_longer(monkeypatch, costs, quicker) -> None:
    worker = Worker(monkeypatch, 7, *costs)
    one, lasts = trials.PIECE // 8, trials.SHORTEST
    for _ in range(7):
        tried = [worker.piece() for _ in range(4)]
        assert tried == [(way, one) for way in (False, True, True, False)]
        assert worker.piece() == (quicker, lasts * one)
        lasts = min(2 * lasts, trials.LONGEST)


def test_another_outcome_begins_with_a_short_run(monkeypatch) -> None:
    worker = Worker(monkeypatch, 7, 30, 20)
    runs = [worker.piece() for _ in range(15)][4::5]
    worker.costs = (20, 30)
    runs += [worker.piece() for _ in range(5)][4:]
    assert [tiles // (trials.PIECE // 8) for _, tiles in runs] == [16, 32, 64, 16]
    assert [way for way, _ in runs] == [True, True, True, False]


def test_an_unrolled_run_that_is_slower_than_the_trial_said_is_followed_by_a_staged_one(
    monkeypatch,
) -> None:
    worker, one = Worker(monkeypatch, 7), trials.PIECE // 8
    runs = []
    for _ in range(2):
        worker.costs = (20, 30)  # the branches of a trial's tiles are foreseen
        tried = [worker.piece()[0] for _ in range(4)]
        assert tried == [False, True, True, False]
        worker.costs = (40, 30)  # and those of all tiles are not
        runs += [worker.piece(), worker.piece()]
    assert runs == [(False, 16 * one), (True, 32 * one), (False, 16 * one), (True, 128 * one)]


def test_costs_that_drift_a_little_end_no_run(monkeypatch) -> None:
    worker, one = Worker(monkeypatch, 7, 30, 33), trials.PIECE // 8
    for _ in range(4):
        worker.piece()
    worker.costs = (36, 40)
    assert worker.piece() == (False, 16 * one)
    assert [worker.piece() for _ in range(4)] == [(w, one) for w in (False, True, True, False)]
    assert worker.piece() == (False, 32 * one)


def test_a_piece_with_a_long_tile_does_not_count(monkeypatch) -> None:
    worker = Worker(monkeypatch, 7, 30, 20)
    for _ in range(3):
        worker.piece()
    took = worker.trial[trial_words.TOOK : trial_words.TOOK + 2].copy()
    worker.piece(4 * trials.PIECE)
    assert worker.trial[trial_words.TURN] == 3
    np.testing.assert_array_equal(worker.trial[trial_words.TOOK : trial_words.TOOK + 2], took)


def test_long_tiles_after_short_ones_are_not_staged(monkeypatch) -> None:
    worker = Worker(monkeypatch, 7, 30, 20)
    worker.piece()
    assert worker.piece(4 * trials.PIECE)[0]
    assert not any(worker.piece(4 * trials.PIECE)[0] for _ in range(20))
    assert [worker.piece()[0] for _ in range(5)] == [False, True, True, False, True]


@pytest.mark.parametrize("atoms", [0, 40])
def test_long_tiles_and_empty_ones_are_not_tried(monkeypatch, atoms) -> None:
    worker = Worker(monkeypatch, atoms, 30, 20)
    assert not any(worker.piece()[0] for _ in range(20))


def test_a_worker_of_little_work_tries_nothing(monkeypatch) -> None:
    monkeypatch.setattr(trials, "now", lambda: 0)
    trial = np.empty(trial_words.TRIAL, np.int64)
    trials.trial_begins.py_func(trial, 1000, 7000)
    assert trials.trial_tiles.py_func(trial) == 1000
    assert not trials.trial_stages.py_func(trial)


# ---- processors --------------------------------------------------------------------------------------------
def test_the_function_may_use_wide_vectors() -> None:
    @numba.njit
    def function(n):
        wide_vectors()
        return n

    function(1)
    (text,) = function.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in text


@pytest.mark.parametrize(
    ("guard", "features", "name", "expected"),
    [
        ("Not affected\n", "+avx2,+avx512f", "sapphirerapids", True),
        ("Vulnerable: No microcode\n", "+avx512f", "icelake-server", True),
        ("Mitigation: Microcode\n", "+avx512f", "icelake-server", False),
        ("Unknown: Dependent on hypervisor status\n", "+avx512f", "icelake-server", False),
        ("Not affected\n", "+avx2,-avx512f", "alderlake", False),
        ("Not affected\n", "+avx512f", "znver4", False),
        (None, "+avx512f", "sapphirerapids", False),
    ],
)
def test_processors(monkeypatch, tmp_path, guard, features, name, expected) -> None:
    from numba.core import registry

    codegen = type(registry.cpu_target.target_context.codegen())
    monkeypatch.setattr(codegen, "magic_tuple", lambda self: ("x86_64", name, features))
    file = tmp_path / "gather_data_sampling"
    if guard is not None:
        file.write_text(guard)
    monkeypatch.setattr(machine, "SAMPLING", file)
    assert machine.gathers_quickly.__wrapped__() is expected
