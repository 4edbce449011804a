"""Calls like an earlier one that native code knows: they touch no Python, and whatever differs goes the long way."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import evenly as ev
from evenly.interop import fields as fields_of
from evenly.layouts import Csr
from evenly.runtime import looking
from evenly.runtime.plan import Plan
from evenly.runtime.recent import MOST, Recent
from evenly.targets.cpu.run import Run
from tests.kernels import softmax_rows, spmm, spmv

pytestmark = pytest.mark.skipif(
    fields_of.fields() is None, reason="native code cannot look at objects here"
)
ROWS, COLUMNS = 40, 30


@ev.kernel
def scaled(A, x, factor, y):
    for row in A.tiles():
        y[row] = factor * sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


def matrix(dtype: Any = np.float32) -> scipy.sparse.csr_array:
    dense = np.random.default_rng(0).integers(1, 5, (ROWS, COLUMNS)) * (np.eye(ROWS, COLUMNS) + 1)
    return scipy.sparse.csr_array(np.where(dense > 4, dense, 0).astype(dtype))


def vectors(dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(COLUMNS).astype(dtype), np.zeros(ROWS, dtype)


def known(schedule: Any = "auto") -> tuple[scipy.sparse.csr_array, tuple[Any, ...], Plan]:
    """A plan that knows its arguments at once."""
    S = matrix()
    arguments = ev.csr(S), *vectors()
    plan = spmv.plan(*arguments, schedule=schedule)
    for _ in range(2):
        plan(*arguments)
    assert at_once(plan, *arguments)
    return S, arguments, plan


def at_once(plan: Plan, *arguments: Any) -> bool:
    recent = plan._recent
    assert recent is not None
    return recent.at_once(*arguments)


def recent_of(kernel: Any, *arguments: Any) -> Recent:
    """Of one-shot calls under "auto" on target `cpu`, after two of them."""
    kernel = kernel.apart()
    for _ in range(2):
        kernel.on("cpu")(*arguments)
    (found,) = kernel.recent.values()
    return found


def forbidden(*_: Any) -> Any:
    raise AssertionError


# ---- what it does ----------------------------------------------------------------------------------
def test_a_plan_runs_without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    S, (A, x, y), plan = known()
    monkeypatch.setattr(Recent, "again", forbidden)
    monkeypatch.setattr(Run, "__call__", forbidden)
    x[:] = 2
    A.values[:] = S.data[:] = 3  # A has its own, or not
    y[:] = -1
    plan(A, x, y)
    np.testing.assert_array_equal(y, S @ x)


@pytest.mark.parametrize("made", [ev.csr, lambda S: S], ids=["layout", "SciPy"])
def test_a_plain_call_does_too(made: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    S, (x, y) = matrix(), vectors()
    A = made(S)
    for _ in range(2):
        ev.spmv(A, x, out=y)
    monkeypatch.setattr(Recent, "again", forbidden)
    y[:] = -1
    assert ev.spmv(A, x, out=y) is y
    np.testing.assert_array_equal(y, S @ x)


def test_plain_calls_of_several_kinds_take_turns() -> None:
    """The kind of the last one is asked first, and knows that it is another's turn."""
    S, (x, y) = matrix(), vectors()
    wide = S.astype(np.float64)
    calls = [(S, x, y), (ev.csr(S), x, y), (wide, x, y), (wide, *vectors(np.float64))]
    for _ in range(3):
        for i, (A, at, out) in enumerate(calls):
            at[:] = i + 1
            assert ev.spmv(A, at, out=out) is out
            np.testing.assert_array_equal(out, S @ at)


def test_several_calls_are_known() -> None:
    S, (A, x, y), plan = known()
    others = [np.zeros_like(y) for _ in range(MOST - 1)]
    for _ in range(2):
        for other in others:
            plan(A, x, other)
    for other in (y, *others):
        other[:] = -1
        assert at_once(plan, A, x, other)
        np.testing.assert_array_equal(other, S @ x)


def test_another_array_of_the_same_memory_is_the_same() -> None:
    _, (A, x, y), plan = known()
    assert at_once(plan, A, x[:], y.view())


def test_numbers_are_known_by_what_they_are() -> None:
    S, (x, y), factor = matrix(), vectors(), 2.5
    A = ev.csr(S)
    recent = recent_of(scaled, A, x, factor, y)
    assert recent.at_once(A, x, factor, y)
    assert not recent.at_once(A, x, -2.5, y)
    assert not recent.at_once(A, x, np.float64(factor), y)
    assert not recent.at_once(A, x, np.array(factor), y)
    for other in (float("-2.5"), 3.5):
        scaled.on("cpu")(A, x, other, y)
        np.testing.assert_array_equal(y, np.float32(other) * (S @ x))


def test_numbas_setting_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large call has the bits of the long way, under each setting."""
    numba = pytest.importorskip("numba")
    before, lengths = numba.get_num_threads(), np.array([0, 40_000, 70_001, 90_000])
    values = np.random.default_rng(1).standard_normal(90_000).astype(np.float32)
    A = ev.csr((values, np.arange(90_000) % COLUMNS, lengths), shape=(3, COLUMNS))
    x, y = vectors()[0], np.zeros(3, np.float32)
    plan, seen = spmv.plan(A, x, y, schedule=ev.MergePath()), set()
    for _ in range(2):
        plan(A, x, y)
    try:
        for n in range(1, numba.config.NUMBA_NUM_THREADS + 1):
            numba.set_num_threads(n)
            assert at_once(plan, A, x, y)
            quick = y.tobytes()
            plan._executable.run(plan._binding)
            assert y.tobytes() == quick
            seen.add(quick)
    finally:
        numba.set_num_threads(before)
    assert len(seen) == numba.config.NUMBA_NUM_THREADS


# ---- what differs ----------------------------------------------------------------------------------
class Own(np.ndarray):
    pass


def _resized(array: np.ndarray) -> None:
    array.resize(array.size + 100_000, refcheck=False)


def _retyped(array: np.ndarray) -> None:
    array.dtype = np.int32


def _reshaped(array: np.ndarray) -> None:
    array.shape = (array.size, 1)


IN_PLACE = {"resized": _resized, "retyped": _retyped, "reshaped": _reshaped}
ANOTHER: dict[str, Callable[[np.ndarray], Any]] = {
    "shorter": lambda a: a[:-1],
    "later": lambda a: a[1:],
    "apart": lambda a: a[::2],
    "backwards": lambda a: a[::-1],
    "a copy": lambda a: a.copy(),
    "a table": lambda a: a.reshape(2, -1),
    "other numbers": lambda a: a.view(np.int32),
    "foreign bytes": lambda a: a.view(a.dtype.newbyteorder()),
    "a class of one's own": lambda a: a.view(Own),
    "masked": np.ma.masked_array,
    "a list": lambda a: a.tolist(),
    "a number": lambda a: 1.0,
    "nothing": lambda a: None,
    "text": lambda a: "x",
    "a type": lambda a: np.ndarray,
}


@pytest.mark.parametrize("position", [1, 2])
@pytest.mark.parametrize("change", ANOTHER)
def test_another_argument_is_not_known(change: str, position: int) -> None:
    _, arguments, plan = known()
    other = list(arguments)
    other[position] = ANOTHER[change](other[position])
    assert not at_once(plan, *other)
    assert at_once(plan, *arguments)


@pytest.mark.parametrize("position", [1, 2])
@pytest.mark.parametrize("change", IN_PLACE)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_array_that_was_changed_in_place_is_not_known(change: str, position: int) -> None:
    _, arguments, plan = known()
    IN_PLACE[change](arguments[position])
    assert not at_once(plan, *arguments)


def test_an_output_that_became_read_only_is_refused() -> None:
    _, (A, x, y), plan = known()
    y.flags.writeable = False
    assert not at_once(plan, A, x, y)
    with pytest.raises(ev.InputError, match="y: "):
        plan(A, x, y)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("field", ["values", "indices", "offsets"])
@pytest.mark.parametrize("change", ["retyped", "reshaped"])
def test_an_array_in_a_layout_is_looked_at(change: str, field: str) -> None:
    _, (A, x, y), plan = known()
    array = getattr(A, field)
    if array.dtype == np.int32:
        array.dtype = np.float32
    IN_PLACE[change](array)
    if change == "retyped" and field != "values":
        array.dtype = np.uint32
    assert not at_once(plan, A, x, y)


def test_other_numbers_of_arguments_are_not_known() -> None:
    _, (A, x, y), plan = known()
    for arguments in ((), (A,), (A, x), (A, x, y, y)):
        assert not at_once(plan, *arguments)
        with pytest.raises(ev.InputError, match="expected 3 arguments"):
            plan(*arguments)


def test_arguments_in_another_order_are_not_known() -> None:
    _, (A, x, y), plan = known()
    for arguments in ((x, A, y), (A, y, x), (A, A, A), (x, x, x)):
        assert not at_once(plan, *arguments)


def test_a_layout_in_the_place_of_a_dead_one_is_another() -> None:
    _, (mine, x, y), plan = known()
    parts = mine.values, mine.indices, mine.offsets
    for _ in range(100):  # until one lies where the one before did
        A = Csr(parts[2], parts[1], parts[0], COLUMNS)
        for _ in range(2):
            plan(A, x, y)
        assert at_once(plan, A, x, y)
        gone, where = weakref.ref(A), id(A)
        del A
        assert gone() is None
        A = Csr(parts[2], parts[1], parts[0], COLUMNS)
        assert not at_once(plan, A, x, y)
        if id(A) == where:
            return
    pytest.skip("none came to lie there")


def test_what_is_known_keeps_no_argument_alive() -> None:
    S, _, plan = known()
    arguments = ev.csr(S), *vectors()
    for _ in range(2):
        plan(*arguments)
    assert at_once(plan, *arguments)
    alive = [weakref.ref(argument) for argument in arguments]
    del arguments
    assert not any(argument() is not None for argument in alive)


# ---- a matrix of SciPy -----------------------------------------------------------------------------
CHANGES: dict[str, Callable[[Any], Any]] = {
    "data": lambda S: setattr(S, "data", S.data.copy()),
    "indices": lambda S: setattr(S, "indices", S.indices.copy()),
    "indptr": lambda S: setattr(S, "indptr", S.indptr.copy()),
    "a list": lambda S: setattr(S, "data", S.data.tolist()),
    "masked": lambda S: setattr(S, "data", np.ma.masked_array(S.data)),
    "wide": lambda S: setattr(S, "indices", S.indices.astype(np.int64)),
    "last": lambda S: S.indptr.__setitem__(-1, S.indptr[-1] - 1),
    "first": lambda S: S.indptr.__setitem__(0, 1),
    "resized": lambda S: S.resize(ROWS, COLUMNS - 1),
    "shape": lambda S: setattr(S, "_shape", (ROWS, COLUMNS + 1)),
    "deleted": lambda S: delattr(S, "indices"),
}


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("change", CHANGES)
def test_a_matrix_is_looked_at(change: str, index_type: Any) -> None:
    S, (x, y) = matrix(), vectors()
    S.indices, S.indptr = S.indices.astype(index_type), S.indptr.astype(index_type)
    recent = recent_of(spmv, S, x, y)
    assert recent.at_once(S, x, y)
    CHANGES[change](S)
    assert not recent.at_once(S, x, y)


def test_the_same_arrays_in_another_format_are_another_matrix() -> None:
    S, (x, y) = matrix(), vectors()
    recent = recent_of(spmv, S, x, y)
    other = scipy.sparse.csc_array((COLUMNS, ROWS))
    other.data, other.indices, other.indptr, other._shape = S.data, S.indices, S.indptr, S._shape
    assert not recent.at_once(other, x, y)


def test_an_error_of_an_attribute_is_not_left_behind() -> None:
    S, (x, y) = matrix(), vectors()
    recent = recent_of(spmv, S, x, y)
    indices = S.indices
    del S.indices
    for _ in range(3):
        assert not recent.at_once(S, x, y)
    S.indices = indices
    assert recent.at_once(S, x, y)


def test_references_are_let_go() -> None:
    S, (x, y) = matrix(), vectors()
    recent = recent_of(spmv, S, x, y)
    held = (S, S.data, S.indices, S.indptr, S._shape, x, y)
    before = [sys.getrefcount(part) for part in held]
    for _ in range(100):
        assert recent.at_once(S, x, y)
        assert not recent.at_once(S, x, S.data)
    assert [sys.getrefcount(part) for part in held] == before


# ---- threads ---------------------------------------------------------------------------------------
def test_a_call_that_another_thread_is_in_goes_the_long_way() -> None:
    from evenly.targets.cpu import again

    S, (A, x, y), plan = known()
    (call,) = plan._recent._calls
    call.memo.record[again.BUSY] = 1
    y[:] = -1
    assert not at_once(plan, A, x, y)
    plan(A, x, y)
    np.testing.assert_array_equal(y, S @ x)
    call.memo.record[again.BUSY] = 0
    assert at_once(plan, A, x, y)


def test_python_runs_meanwhile() -> None:
    """Another thread sees that one is in the call, which it could not while that has the interpreter's lock."""
    from evenly.targets.cpu import again

    n = 30_000
    A = ev.csr((np.ones(n, np.float32), np.zeros(n, np.int32), np.array([0, n])), shape=(1, 1))
    x, y = np.ones(1, np.float32), np.zeros(1, np.float32)
    plan = spmv.plan(A, x, y)
    for _ in range(2):
        plan(A, x, y)
    (call,) = plan._recent._calls
    calling = threading.Thread(target=lambda: [plan(A, x, y) for _ in range(5000)])
    calling.start()
    seen = False
    while calling.is_alive() and not seen:
        seen = bool(call.memo.record[again.BUSY])
    calling.join()
    assert seen


def test_threads_call_one_plan() -> None:
    S, (A, x, y), plan = known(ev.MergePath())
    expected = S @ x
    right = []

    def often() -> None:
        for _ in range(2000):
            plan(A, x, y)
        right.append(np.array_equal(y, expected))

    threads = [threading.Thread(target=often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 4


# ---- what only Python can tell ---------------------------------------------------------------------
def test_other_interpreters_go_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "fields", lambda: None)
    S, (x, y) = matrix(), vectors()
    A = ev.csr(S)
    plan = spmv.plan(A, x, y)
    for _ in range(3):
        plan(A, x, y)
        np.testing.assert_array_equal(y, S @ x)
    assert not at_once(plan, A, x, y)


FACTOR = 2.0


@ev.kernel
def captured(A, y):
    for row in A.tiles():
        y[row] = FACTOR


def test_captured_globals_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    A, y = ev.csr(matrix()), vectors()[1]
    recent = recent_of(captured, A, y)
    assert recent.at_once(A, y)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert not recent.at_once(A, y)
    captured.on("cpu")(A, y)
    assert (y == 3).all()
    monkeypatch.delitem(globals(), "FACTOR")
    assert not recent.at_once(A, y)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)


def test_a_global_that_shadows_a_builtin_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    A, (x, y) = ev.csr(matrix()), vectors()
    recent = recent_of(summed, A, x, y)
    assert recent.at_once(A, x, y)
    monkeypatch.setitem(globals(), "abs", ev.func(halved_of))
    assert not recent.at_once(A, x, y)
    summed.on("cpu")(A, x, y)
    np.testing.assert_array_equal(y, x[0] / 2)
    monkeypatch.delitem(globals(), "abs")
    summed.on("cpu")(A, x, y)
    np.testing.assert_array_equal(y, x[0])


@ev.kernel
def summed(A, x, y):
    for row in A.tiles():
        y[row] = abs(x[0])


def halved_of(v):
    return v / 2


def test_what_else_decides_is_asked_in_python() -> None:
    factor = 2.0

    @ev.kernel
    def closed(A, y):
        for row in A.tiles():
            y[row] = factor

    A, y = ev.csr(matrix()), vectors()[1]
    recent = recent_of(closed, A, y)
    assert not recent.at_once(A, y)
    factor = 3.0
    closed.on("cpu")(A, y)
    assert (y == 3).all()


def test_kernels_of_several_phases_go_the_long_way() -> None:
    A, (x, y) = ev.csr(matrix()), vectors()
    plan = softmax_rows.plan(A, x, y, schedule=ev.MergePath())
    for _ in range(3):
        plan(A, x, y)
    assert not at_once(plan, A, x, y)


def test_checks_go_the_long_way() -> None:
    A, (x, y) = ev.csr(matrix()), vectors()
    for _ in range(3):
        spmv.on("cpu", debug=True)(A, x, y)
    A.indices[0] = COLUMNS
    with pytest.raises(ev.InputError):
        spmv.on("cpu", debug=True)(A, x, y)


def test_lanes_have_room() -> None:
    S, A = matrix(), ev.csr(matrix())
    for lanes in (3, 100_000):  # more than a run keeps memory for
        X, Y = np.ones((COLUMNS, lanes), np.float32), np.zeros((ROWS, lanes), np.float32)
        plan = spmm.plan(A, X, Y, schedule=ev.MergePath())
        for _ in range(3):
            Y[:] = -1
            plan(A, X, Y)
            np.testing.assert_array_equal(Y, S @ X)
        assert at_once(plan, A, X, Y) is (lanes == 3)


# ---- exceptions that Python raises while attributes are read ---------------------------------------------
class Asked(scipy.sparse.csr_array):
    """A matrix whose shape, once in a while, is an exception."""

    raises: BaseException | None = None

    @property
    def shape(self):
        if Asked.raises is not None:
            found, Asked.raises = Asked.raises, None
            raise found
        return super().shape


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RecursionError, RuntimeError])
def test_an_exception_reaches_the_caller(error) -> None:
    matrix, x, y = Asked(scipy.sparse.eye_array(4, format="csr")), np.ones(4), np.zeros(4)
    for _ in range(4):
        ev.spmv(matrix, x, y)
    before = sys.getrefcount(matrix.data)
    for _ in range(20):
        Asked.raises = error("now")
        with pytest.raises(error, match="now"):
            ev.spmv(matrix, x, y)
    assert sys.getrefcount(matrix.data) < before + 5  # frames of the last one's traceback have it
    y[:] = 0
    ev.spmv(matrix, x, y)  # and it is known again
    np.testing.assert_array_equal(y, x)


def test_no_attribute_is_asked_of_another_kind_of_object() -> None:
    class Other:
        @property
        def shape(self):
            raise SystemExit("asked")

    matrix, x, y = scipy.sparse.eye_array(4, format="csr"), np.ones(4), np.zeros(4)
    for _ in range(4):
        ev.spmv(matrix, x, y)
    known = sys.modules["evenly.algorithms.linalg.spmv"]._checked.latest
    assert known
    for recent in known.values():
        assert recent.at_once(Other(), x, y) is False
