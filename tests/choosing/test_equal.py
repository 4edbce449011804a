"""Plans of layouts whose tiles all have the same number of atoms read no offsets."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.choosing.equal import WithoutOffsets
from evenly.runtime.plan import Plan
from tests.batteries import equal_rows, matrices, vector
from tests.kernels import CASES, ENGINES, spmv, tolerance

BOTH = ["cpu", pytest.param("simt", marks=pytest.mark.simt)]
GARBAGE = 1_000_000


def arguments(matrix: sp.csr_array) -> tuple[ev.Layout, np.ndarray, np.ndarray]:
    return ev.csr(matrix), vector(matrix.shape[1]), np.full(matrix.shape[0], np.nan, np.float32)


def reads_none(plan: Plan) -> bool:
    return isinstance(plan._executable, WithoutOffsets)


# ---- what is read -------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", BOTH)
@pytest.mark.parametrize("schedule", ENGINES, ids=str)
def test_offsets_are_not_read(schedule, target: str) -> None:
    A, x, y = arguments(equal_rows(300, 7))
    plan = spmv[schedule].on(target).plan_as_auto(A, x, y)
    A.offsets[1:-1] = GARBAGE
    plan(A, x, y)
    np.testing.assert_array_equal(y, equal_rows(300, 7) @ x)


def test_auto_does_so_and_schedules_by_name_do_not() -> None:
    A, x, y = arguments(equal_rows(300, 7))
    assert reads_none(spmv.plan(A, x, y))
    assert not reads_none(spmv.plan(A, x, y, schedule=ev.ThreadMapped()))
    assert not reads_none(spmv.plan(A, x, y, target="python"))


@pytest.mark.parametrize("name", ["no tiles", "one empty tile", "no atoms", "power law", "stencil"])
def test_tiles_of_unequal_length_and_without_atoms_are_left_as_they_are(name: str) -> None:
    A, x, y = arguments(matrices()[name])
    assert not reads_none(spmv.plan(A, x, y))


def test_one_atom_elsewhere_is_enough() -> None:
    matrix = equal_rows(300, 7)
    matrix.indptr[150] += 1
    A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y)
    assert not reads_none(plan)
    plan(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)


@ev.kernel
def begins(A, y):
    for row in A.tiles():
        y[row] = A.begin(row) + sum(A.value(k) for k in A.atoms(row))


def test_a_kernel_that_reads_offsets_itself_reads_them() -> None:
    A, _, y = arguments(equal_rows(30, 7))
    plan = begins.plan(A, y)
    assert not reads_none(plan)


@ev.kernel
def added(A, B, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
    for row in B.tiles():
        y[row] += sum(B.value(k) * x[B.column(k)] for k in B.atoms(row))


@pytest.mark.parametrize("target", BOTH)
def test_one_of_two_layouts(target: str) -> None:
    first, second = equal_rows(400, 3), matrices()["power law"]
    second.resize(400, 50)
    A, x, y = arguments(first)
    B = ev.csr(second)
    for args in ((A, B), (B, A)):
        plan = added.plan(*args, x, y, target=target)
        assert plan._executable.known == {"AB"[args.index(A)]: 3}
        plan(*args, x, y)
        np.testing.assert_array_equal(y, first @ x + second @ x)


# ---- it gives what the reference gives ----------------------------------------------------------------
EVERYTHING = {
    "kernel": st.sampled_from(sorted(CASES)),
    "schedule": st.sampled_from(ENGINES),
    "rows": st.integers(1, 300),
    "size": st.integers(1, 40),
}


READ_THEMSELVES = ("top_three",)  # kernels that ask where a tile begins and ends


@settings(max_examples=20)  # most of them compile
@given(**EVERYTHING)
def test_any_kernel_under_any_schedule(kernel, schedule, rows, size) -> None:
    agrees(kernel, schedule, rows, size, "cpu")


@pytest.mark.simt
@settings(max_examples=20)
@given(**EVERYTHING, seed=st.integers(0, 2**40))
def test_any_kernel_and_any_order_of_threads(kernel, schedule, rows, size, seed) -> None:
    agrees(kernel, schedule, rows, size, "simt", seed=seed)


def agrees(kernel, schedule, rows, size, target, **options) -> None:
    case, matrix = CASES[kernel], equal_rows(rows, size)
    A = ev.csr(matrix)
    got, wanted = (case.arguments(A, matrix, np.float32) for _ in range(2))
    plan = case.kernel[schedule].on(target, **options).plan_as_auto(*got)
    assert reads_none(plan) == (kernel not in READ_THEMSELVES)
    plan(*got)
    case.kernel.on("python")(*wanted)
    for place in case.outputs:
        np.testing.assert_allclose(got[place], wanted[place], **tolerance(np.float32))


# ---- other arguments, and changes ---------------------------------------------------------------------
@pytest.mark.parametrize("target", BOTH)
def test_other_layouts_are_run_as_they_are(target: str) -> None:
    A, x, y = arguments(equal_rows(300, 7))
    plan = spmv.plan(A, x, y, target=target)
    for other in (matrices()["power law"], equal_rows(20, 3), equal_rows(300, 6)):
        B, u, v = arguments(other)
        for _ in range(2):
            plan(B, u, v)
            np.testing.assert_array_equal(v, other @ u)
        plan(A, x, y)
        np.testing.assert_array_equal(y, equal_rows(300, 7) @ x)


@pytest.mark.parametrize("target", BOTH)
def test_the_same_offsets_in_another_layout_are_read(target: str) -> None:
    """They may have been changed in place since then."""
    A, x, y = arguments(equal_rows(300, 7))
    plan = spmv.plan(A, x, y, target=target)
    A.offsets[150] += 3
    B = ev.csr((A.values, A.indices, A.offsets), shape=(300, 50))
    plan(B, x, y)
    np.testing.assert_array_equal(y, sp.csr_array((B.values, B.indices, B.offsets)) @ x)


def test_a_matrix_that_scipy_changes_in_place() -> None:
    """SciPy does so when it sums duplicates: the array of offsets is the same, but the matrix has fewer atoms."""
    matrix = equal_rows(300, 7)
    x, y = vector(50), np.full(300, np.nan, np.float32)
    plan = spmv.plan(matrix, x, y)
    assert reads_none(plan)
    for _ in range(3):
        plan(matrix, x, y)
        np.testing.assert_array_equal(y, matrix @ x)
        matrix.sum_duplicates()
    assert matrix.nnz < 2100


@pytest.mark.parametrize("target", BOTH)
def test_check_sees_other_offsets_and_a_new_plan_follows_them(target: str) -> None:
    matrix = equal_rows(300, 7)
    A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y, target=target)
    plan.check()
    A.offsets[150] += 1
    with pytest.raises(ev.InputError, match="A: expected the structure that the plan was made for"):
        plan.check()
    for _ in range(2):
        plan = spmv.plan(A, x, y, target=target)
        plan.check()
        plan(A, x, y)
        changed = sp.csr_array((A.values, A.indices, A.offsets), shape=matrix.shape)
        np.testing.assert_array_equal(y, changed @ x)
        A.offsets[150] -= 1  # and back


def test_calls_without_a_plan_follow_every_change() -> None:
    matrix = equal_rows(300, 7)
    A, x, y = arguments(matrix)
    for change in (0, 1, 1, -2):
        A.offsets[150] += change
        changed = sp.csr_array((A.values, A.indices, A.offsets), shape=matrix.shape)
        for _ in range(3):
            spmv(A, x, y)
            np.testing.assert_array_equal(y, changed @ x)


# ---- tune, explain ------------------------------------------------------------------------------------
def test_tuned_plans_read_none_either(sure, winners_file) -> None:
    A, x, y = arguments(equal_rows(300, 7))
    few = [ev.ThreadMapped(), ev.MergePath()]
    tuned = spmv.plan(A, x, y).tune(candidates=few, seconds=0.02)
    assert reads_none(tuned)
    recalled = spmv.plan(A, x, y)
    assert recalled.tuning is not None
    assert reads_none(recalled)


def test_schedules_that_were_measured_look_again() -> None:
    A, x, y = arguments(equal_rows(300, 7))
    spmv.plan(A, x, y)
    A.offsets[150] += 1
    assert not reads_none(spmv[ev.MergePath()].on("cpu").plan_as_auto(A, x, y))
    assert not ev.explain(A).equal


def test_tune_looks_again() -> None:
    matrix = equal_rows(300, 7)
    A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y)
    A.offsets[150] += 1
    tuned = plan.tune(candidates=[ev.ThreadMapped()], seconds=0.02, save=False)
    assert not reads_none(tuned)
    tuned(A, x, y)
    np.testing.assert_array_equal(y, sp.csr_array((A.values, A.indices, A.offsets)) @ x)


def test_columns_numbered_anew_read_none() -> None:
    from evenly.arguments import Binding
    from evenly.tuning.locality import renumbered, renumbering

    matrix = equal_rows(300, 7)
    A, x, y = arguments(matrix)
    plan = spmv.plan(A, x, y)
    binding = Binding({"A": A, "x": x, "y": y})
    nearer = renumbered(plan, renumbering(spmv.program(plan._specs), {"y"}, binding))
    right = matrix @ x
    nearer.check()
    A.offsets[1:-1] = GARBAGE
    nearer(A, x, y)
    np.testing.assert_array_equal(y, right)
    with pytest.raises(ev.InputError, match="A: expected the structure"):
        nearer.check()


def test_explain_says_so() -> None:
    line = "tiles of equal length: a plan works out where they begin"
    assert line in str(ev.explain(equal_rows(300, 7), target="cuda"))
    assert line not in str(ev.explain(matrices()["power law"], target="cuda"))
    assert line not in str(ev.explain(equal_rows(300, 7), target="python"))
