"""Sums that gather, in blocks of atoms with a mask: where they are emitted, what they compute, and when they are chosen."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
import scipy.sparse
from tests.batteries import matrices, names, vector
from tests.kernels import CASES, spmv

import evenly as ev
from evenly.targets.cpu import machine, masked
from evenly.targets.cpu.primitives import wide_vectors

SCHEDULES = [ev.ThreadMapped(), ev.MergePath(), ev.NonzeroSplit()]
FAR = 1_000_000
# Costs by which one size is chosen whatever the tiles are, and LLVM does not know that.
ALWAYS = {
    always: {size: (FAR * (size != always), 1, {}) for size in masked.COSTS}
    for always in masked.COSTS
}


@pytest.fixture
def quick(monkeypatch) -> None:
    """A processor whose gathers are quick, and workers that look at tiles however few they have."""
    monkeypatch.setattr(machine, "gathers_quickly", lambda: True)
    monkeypatch.setattr(masked, "EACH", 1)
    monkeypatch.setattr(masked, "WORTH", 2)


def planned(matrix, schedule, dtype=np.float32):
    matrix = scipy.sparse.csr_array(matrix, dtype=dtype)
    A, x, y = (
        ev.csr(matrix),
        vector(matrix.shape[1]).astype(dtype),
        np.empty(matrix.shape[0], dtype),
    )
    return spmv.copy().plan(A, x, y, schedule=schedule), (A, x, y), matrix @ x


def source_of(kernel, *given, schedule=None) -> str:
    return kernel.copy().plan(*given, schedule=schedule or ev.ThreadMapped())._executable.source


# ---- what is computed ------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", ALWAYS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_products(quick, monkeypatch, schedule, dtype, size) -> None:
    monkeypatch.setattr(masked, "COSTS", ALWAYS[size])
    plan = None
    for name in names():
        matrix = matrices()[name]
        made, given, expected = planned(matrix, schedule, dtype)
        plan = plan or made
        plan(*given)
        np.testing.assert_array_equal(given[2], expected, err_msg=name)


@pytest.mark.parametrize("length", [*range(20), 31, 32, 33, 63, 64, 65, 1000])
def test_every_length(quick, monkeypatch, length) -> None:
    monkeypatch.setattr(masked, "COSTS", ALWAYS[8])
    matrix = scipy.sparse.csr_array(np.tile(np.arange(1000) < length, (3, 1)).astype(np.float32))
    plan, given, expected = planned(matrix, ev.MergePath())
    plan(*given)
    np.testing.assert_array_equal(given[2], expected)


@pytest.mark.parametrize("name", CASES)
def test_other_kernels(quick, monkeypatch, name) -> None:
    monkeypatch.setattr(masked, "COSTS", ALWAYS[16])
    matrix = matrices()["power law"]
    case = CASES[name]
    given = case.arguments(ev.csr(matrix), matrix, np.float32)
    expected = case.arguments(ev.csr(matrix), matrix, np.float32)
    case.kernel.copy()[ev.ThreadMapped()].on("cpu")(*given)
    case.kernel.on("python")(*expected)
    for at in case.outputs:
        np.testing.assert_allclose(given[at], expected[at], rtol=1e-5, atol=1e-6)


def test_numbers_that_are_none_do_not_spread(quick, monkeypatch) -> None:
    """Atoms outside the mask are not read: x has a NaN where only the next row gathers."""
    monkeypatch.setattr(masked, "COSTS", ALWAYS[16])
    matrix = scipy.sparse.csr_array(np.kron(np.eye(4), np.ones((1, 5))).astype(np.float32))
    A, x, y = ev.csr(matrix), np.ones(20, np.float32), np.empty(4, np.float32)
    x[5:10] = np.nan
    spmv.copy()[ev.ThreadMapped()](A, x, y)
    np.testing.assert_array_equal(y, [5, np.nan, 5, 5])


# ---- when blocks are chosen --------------------------------------------------------------------------------
def bits(lengths) -> bytes:
    """Return the result for rows of these lengths, whose last bits tell in which order a row is added up."""
    rng = np.random.default_rng(5)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, 1000, offsets[-1]).astype(np.int32)
    A = ev.csr((rng.random(offsets[-1], np.float32), columns, offsets), shape=(len(lengths), 1000))
    y = np.empty(len(lengths), np.float32)
    spmv.copy()[ev.ThreadMapped()](A, rng.random(1000, np.float32), y)
    return y.tobytes()


RANDOM = np.random.default_rng(3)
CHOSEN = {
    "empty and of one atom": (RANDOM.integers(0, 2, 2000), 1),
    "equal and short": (np.full(2000, 7), 1),
    "sorted": (np.sort(RANDOM.integers(0, 9, 2000)), 1),
    "short, of many lengths": (RANDOM.choice([2, 3, 4, 5, 6, 7, 7, 12], 2000), 8),
    "of about ten atoms": (RANDOM.poisson(10, 2000), 16),
    "equal and long": (np.full(2000, 60), 16),
    "short but for one": (np.array([*np.full(1000, 7), 20_000, *np.full(1000, 7)]), 1),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_what_a_worker_chooses(quick, monkeypatch, name) -> None:
    lengths, expected = CHOSEN[name]
    found = bits(lengths)
    alike = []
    for size, costs in ALWAYS.items():
        monkeypatch.setattr(masked, "COSTS", costs)
        if bits(lengths) == found:
            alike.append(size)
    assert expected in alike
    assert alike == [expected] or max(lengths) < 2  # of which the orders cannot be told apart


def test_a_worker_of_little_work_looks_at_nothing(monkeypatch) -> None:
    monkeypatch.setattr(machine, "gathers_quickly", lambda: True)
    lengths = RANDOM.integers(2, 8, 1000)
    found = bits(lengths)
    monkeypatch.setattr(machine, "gathers_quickly", lambda: False)
    assert bits(lengths) == found


# ---- where blocks are emitted ------------------------------------------------------------------------------
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


def test_sums_of_floats_alone_are_in_blocks(quick) -> None:
    matrix = matrices()["power law"]
    A, x, y = ev.csr(matrix), vector(matrix.shape[1]), np.empty(matrix.shape[0], np.float32)
    for schedule in SCHEDULES:
        assert "wide_vectors()" in source_of(spmv, A, x, y, schedule=schedule)
    for kernel in (greatest, rooted, counted):
        assert "wide_vectors()" not in source_of(kernel, A, x, y)
    halves = x.astype(np.float16)
    assert "wide_vectors()" not in source_of(spmv, A, halves, y)
    assert "wide_vectors()" not in source_of(
        spmv, A, x.astype(np.complex64), y.astype(np.complex64)
    )


def test_not_where_gathers_are_slow(monkeypatch) -> None:
    monkeypatch.setattr(machine, "gathers_quickly", lambda: False)
    matrix = matrices()["power law"]
    A, x, y = ev.csr(matrix), vector(matrix.shape[1]), np.empty(matrix.shape[0], np.float32)
    assert "wide_vectors()" not in source_of(spmv, A, x, y)


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
