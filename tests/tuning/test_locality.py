"""`plan.tune(locality=True)`: columns renumbered by how often they occur."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import evenly as ev
from evenly.algorithms.linalg.spmv import spmv_atoms, spmv_rows
from evenly.arguments import Binding, spec_of
from evenly.choosing.candidates import candidates
from evenly.language.renumbering import gathers_by_ids
from evenly.layouts import convert
from evenly.targets.cpu import CpuTarget
from evenly.targets.cpu.copies import CpuCopies
from evenly.tuning import locality
from evenly.tuning.locality import Renumbered, renumbered, renumbering
from evenly.tuning.tuned import RENUMBERED
from tests.batteries import matrices, names, vector
from tests.kernels import row_norms, spmm, spmv


def arguments(matrix):
    return ev.csr(matrix), vector(matrix.shape[1]), np.full(matrix.shape[0], -7, np.float32)


def on_new_numbers(kernel, schedule, *args, target="cpu"):
    plan = kernel[schedule].on(target).plan(*args)
    binding = Binding(dict(zip(kernel.parameters, args, strict=True)))
    written = {path[0] for path in plan._outputs}
    return renumbered(plan, renumbering(kernel.program(plan._specs), written, binding))


def found(kernel, **values):
    program = kernel.program(tuple(spec_of(v, n) for n, v in values.items()))
    return gathers_by_ids(program, {"y"})


# ---- which kernels can ---------------------------------------------------------------------------------
@ev.kernel
def named(A, x, w, y):
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            column = A.column(k)
            more = w[column] * A.value(k)
            if x[column] > 0:
                total += more
        y[row] = total


@ev.kernel
def uses_the_number(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[A.column(k)] * A.column(k) for k in A.atoms(row))


@ev.kernel
def compares_it(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[A.column(k)] for k in A.atoms(row) if A.column(k) > row)


@ev.kernel
def reads_elsewhere(A, x, y):
    for row in A.tiles():
        y[row] = x[0] + sum(x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def reads_the_neighbour(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[A.column(k)] + x[A.column(k) - 1] for k in A.atoms(row) if A.value(k) > 9)


@ev.kernel
def may_read_less(A, x, y):
    """A kernel for which x need not have an entry for every column."""
    for row in A.tiles():
        y[row] = sum(x[A.column(k)] for k in A.atoms(row) if A.value(k) > 0)


@ev.kernel
def scatters(A, x, y):
    for row in A.tiles():
        for k in A.atoms(row):
            ev.atomic_add(y, A.column(k), x[row])


@ev.kernel
def updates(A, x, y):
    for row in A.tiles():
        y[row] = 0.0
    for row in A.tiles():
        x[row] = sum(y[A.column(k)] for k in A.atoms(row))


@ev.kernel
def loses_bits(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[int(np.float32(A.column(k)))] for k in A.atoms(row))


@ev.kernel
def changes_its_mind(A, x, y):
    for row in A.tiles():
        total = 0.0
        for k in A.atoms(row):
            column = A.column(k)
            if A.value(k) > 1:
                column = 0
            total += x[column]
        y[row] = total


def test_a_product_gathers_by_its_columns() -> None:
    A, x, y = arguments(matrices()["power law"])
    there = found(spmv, A=A, x=x, y=y)
    assert there is not None
    assert (there.ids, there.layout, there.bound) == (("A", "indices"), ("A",), "num_columns")
    assert there.vectors == (("x",),)
    both = found(named, A=A, x=x, w=x, y=y)
    assert both is not None
    assert set(both.vectors) == {("x",), ("w",)}


@pytest.mark.parametrize(
    "kernel",
    [
        uses_the_number,
        compares_it,
        reads_elsewhere,
        reads_the_neighbour,
        may_read_less,
        scatters,
        updates,
        loses_bits,
        changes_its_mind,
    ],
)
def test_columns_that_are_used_otherwise_stay(kernel) -> None:
    A, x, y = arguments(matrices()["power law"])
    assert found(kernel, A=A, x=x, y=y) is None


def test_matrices_are_gathered_from_as_they_are() -> None:
    A, _, _ = arguments(matrices()["power law"])
    dense = np.ones((A.num_columns, 3), np.float32)
    assert found(spmm, A=A, X=dense, Y=np.empty((A.num_tiles, 3), np.float32)) is None


# ---- what comes out -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", names())
def test_the_same_bits(name) -> None:
    A, x, y = arguments(matrices()[name])
    x = (x + np.random.default_rng(2).random(len(x))).astype(np.float32)
    for schedule in candidates("cpu"):
        spmv[schedule].on("cpu")(A, x, expected := y.copy())
        plan = on_new_numbers(spmv, schedule, A, x, y)
        for _ in range(2):
            y[:] = -7
            plan(A, x, y)
            np.testing.assert_array_equal(y, expected)


SPMV = {"csr": spmv_rows, "coo": spmv_atoms, "subset": spmv_rows}


@pytest.mark.parametrize("layout", SPMV)
def test_over_layouts(layout) -> None:
    matrix = matrices()["power law"]
    A = {"csr": ev.csr(wide(matrix)), "coo": ev.coo(matrix)}.get(layout)
    A = ev.subset(ev.csr(matrix), np.array([7, 0, 200, 201])) if A is None else A
    x = vector(matrix.shape[1])
    y = np.zeros(matrix.shape[0], np.float32)
    SPMV[layout].on("python")(A, x, y)
    expected, y[:] = y.copy(), 0
    on_new_numbers(SPMV[layout], ev.MergePath(), A, x, y)(A, x, y)
    np.testing.assert_array_equal(y, expected)


def wide(matrix):
    return matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)


@pytest.mark.parametrize("layout", ["csc", "ell", "sell", "dia", "bcsr"])
def test_layouts_without_such_ids(layout) -> None:
    """Layouts whose columns are tiles, computed, or also mark padding."""
    matrix = matrices()["power law"]
    _, x, y = arguments(matrix)
    assert found(spmv_atoms, A=convert(matrix, layout), x=x, y=y) is None


def test_the_most_frequent_come_first() -> None:
    matrix = matrices()["power law"]
    A, x, y = arguments(matrix)
    plan = on_new_numbers(spmv, ev.ThreadMapped(), A, x, y)
    numbering = plan._executable.numbering
    often = np.bincount(A.indices, minlength=A.num_columns)
    assert (np.diff(often[numbering.order]) <= 0).all()
    np.testing.assert_array_equal(numbering.order[numbering.numbered.indices], A.indices)
    assert numbering.numbered.values is A.values


def test_values_and_vectors_are_read_at_each_call() -> None:
    matrix = matrices()["power law"].copy()
    A, x, y = arguments(matrix)
    plan = on_new_numbers(spmv, ev.MergePath(), A, x, y)
    plan(A, x, y)
    matrix.data[:] = 2
    x[:] = np.arange(len(x)) % 5
    plan(A, x, y)
    np.testing.assert_array_equal(y, matrix @ x)
    other = np.ones(len(x) + 3, np.float32)
    plan(A, other, y)
    np.testing.assert_array_equal(y, matrix @ other[: len(x)])


def test_another_layout_runs_as_it_is() -> None:
    A, x, y = arguments(matrices()["power law"])
    plan = on_new_numbers(spmv, ev.MergePath(), A, x, y)
    plan(A, x, y)
    B, z, w = arguments(matrices()[names()[-1]])
    plan(B, z, w)
    spmv.on("python")(B, z, expected := w.copy())
    np.testing.assert_allclose(w, expected, rtol=1e-5)


def test_columns_that_were_changed_are_noticed() -> None:
    matrix = matrices()["power law"].copy()
    A, x, y = arguments(matrix)
    plan = on_new_numbers(spmv, ev.ThreadMapped(), A, x, y)
    plan.check()
    A.values[:] = 3
    plan.check()
    A.indices[0], A.indices[1] = A.indices[1], A.indices[0]
    with pytest.raises(
        ev.InputError, match=r"A\.indices: expected the structure that the plan was made for"
    ):
        plan.check()


def test_the_memory_counts() -> None:
    A, x, y = arguments(matrices()["power law"])
    plain = spmv[ev.ThreadMapped()].on("cpu").plan(A, x, y)
    plan = on_new_numbers(spmv, ev.ThreadMapped(), A, x, y)
    more = A.indices.nbytes + 4 * A.num_columns + x.nbytes
    assert plan.workspace == plain.workspace + more


def test_two_threads_at_once() -> None:
    matrix = matrices()["power law"]
    A, _, _ = arguments(matrix)
    inputs_ = [vector(matrix.shape[1], seed=i) for i in range(4)]
    plan = on_new_numbers(
        spmv, ev.MergePath(), A, inputs_[0], np.empty(matrix.shape[0], np.float32)
    )
    wrong = []

    def run(x) -> None:
        y = np.empty(matrix.shape[0], np.float32)
        for _ in range(50):
            plan(A, x, y)
            if not np.array_equal(y, matrix @ x):
                wrong.append(x)

    threads = [threading.Thread(target=run, args=(x,)) for x in inputs_]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_matrix_of_scipy_is_numbered_by_its_arrays() -> None:
    matrix = matrices()["power law"].copy()
    _, x, y = arguments(matrix)
    plan = on_new_numbers(spmv_rows, ev.MergePath(), ev.csr(matrix), x, y)
    for _ in range(2):
        plan(ev.csr(matrix), x, y)
    assert len(plan._executable._buffers) == 1
    other = matrix.copy()
    other.indices[:] = other.indices[::-1].copy()
    for M in (matrix, other, matrix):
        plan(ev.csr(M), x, y)
        np.testing.assert_array_equal(y, M @ x)


def test_calls_share_the_memory_of_their_vectors() -> None:
    A, x, y = arguments(matrices()["power law"])
    plan = on_new_numbers(spmv, ev.MergePath(), A, x, y)
    for out in [np.empty_like(y) for _ in range(5)]:
        plan(A, x, out)
    (buffers,) = plan._executable._buffers.values()
    assert [v.shape for v in buffers.vectors.values()] == [x.shape]


def test_threads_that_come_first_together_share_one_room(monkeypatch) -> None:
    """Two threads make the first call at once. Both keep the memory that both use."""
    A, x, y = arguments(matrices()["power law"])
    executable = on_new_numbers(spmv, ev.MergePath(), A, x, y)._executable
    binding = Binding({"A": A, "x": x, "y": y})
    others, empty = [], locality.arrays.empty

    def meanwhile(*given):
        if not others:
            others.append(None)
            others[0] = executable._moved(binding)
        return empty(*given)

    monkeypatch.setattr(locality.arrays, "empty", meanwhile)
    buffers, _, moved = executable._moved(binding)
    assert buffers is others[0][0]
    assert moved.arguments["x"] is buffers.vectors["x"] is others[0][2].arguments["x"]


def test_a_call_while_another_is_under_way_waits_for_nothing() -> None:
    """A call of a signal handler, or in a child that was forked during a call, could wait for ever."""
    A, x, y = arguments(matrices()["power law"])
    plan = on_new_numbers(spmv, ev.MergePath(), A, x, y)
    plan(A, x, y)
    expected, y[:] = y.copy(), 0
    (buffers,) = plan._executable._buffers.values()
    with buffers.turn:
        plan(A, x, y)
    np.testing.assert_array_equal(y, expected)


def test_on_the_emulator() -> None:
    A, x, y = arguments(matrices()["power law"])
    on_new_numbers(spmv, ev.MergePath(), A, x, y, target="simt")(A, x, y)
    np.testing.assert_array_equal(y, matrices()["power law"] @ x)


# ---- tuning ---------------------------------------------------------------------------------------------
class Told(CpuCopies):
    """Copies whose clocks return given times: a stand-in for a machine without noise."""

    renumbered = 1.0

    def clock(self, plan):
        return Ticking(self.renumbered if isinstance(plan._executable, Renumbered) else 2.0)


class Ticking:
    def __init__(self, us) -> None:
        self.estimate = us

    def warm(self):
        return self.estimate

    def flushed(self):
        return None


def test_it_is_taken_where_it_is_faster(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("EVENLY_TUNING", str(tmp_path / "winners.jsonl"))
    monkeypatch.setattr(CpuTarget, "copies", Told)
    A, x, y = arguments(matrices()["power law"])
    plan = spmv.plan(A, x, y).tune(candidates=[ev.MergePath(), ev.ThreadMapped()], locality=True)
    tuning = plan.tuning
    assert tuning.locality
    assert tuning.schedule == plan.schedule == ev.MergePath()
    assert tuning.times == {
        f"{ev.MergePath()}{RENUMBERED}": 1.0,
        f"{ev.ThreadMapped()}{RENUMBERED}": 1.0,
        str(ev.MergePath()): 2.0,
        str(ev.ThreadMapped()): 2.0,
    }
    assert f"> {ev.MergePath()}, columns renumbered" in str(tuning)
    assert isinstance(plan._executable, Renumbered)
    plan(A, x, y)
    np.testing.assert_array_equal(y, matrices()["power law"] @ x)
    # what is remembered is the schedule alone: another plan keeps no copy that nobody asked for
    later = spmv.plan(A, x, y)
    assert later.tuning is not None
    assert later.schedule == ev.MergePath()
    assert not later.tuning.locality
    assert not isinstance(later._executable, Renumbered)


def test_and_left_where_it_is_not(monkeypatch) -> None:
    monkeypatch.setattr(CpuTarget, "copies", type("Slow", (Told,), {"renumbered": 1.99}))
    A, x, y = arguments(matrices()["power law"])
    plan = spmv.plan(A, x, y).tune(candidates=[ev.MergePath()], locality=True, save=False)
    assert not plan.tuning.locality
    assert plan.tuning.times[f"{ev.MergePath()}{RENUMBERED}"] == 1.99
    assert not isinstance(plan._executable, Renumbered)


def test_measured_for_real() -> None:
    A, x, y = arguments(matrices()["power law"])
    plan = spmv.plan(A, x, y).tune(
        candidates=["merge_path"], seconds=0.2, locality=True, save=False
    )
    assert len(plan.tuning.times) == 2
    plan(A, x, y)
    np.testing.assert_array_equal(y, matrices()["power law"] @ x)


def test_other_kernels_are_refused() -> None:
    A, _, y = arguments(matrices()["power law"])
    with pytest.raises(
        ev.InputError, match=r"locality: expected a kernel that reads vectors by ids"
    ):
        row_norms.plan(A, y).tune(locality=True)
