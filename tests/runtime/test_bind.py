"""Bound calls: a plan with its arguments, which checks once, and then only launches."""

from __future__ import annotations

import gc
import pickle
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import evenly as ev
from evenly.interop.streams import handle_of
from evenly.targets.cpu.run import Run
from evenly.tuning.locality import renumbered, renumbering
from tests.batteries import matrices
from tests.kernels import SCHEDULES, softmax_rows, spmv


def case(name: str = "power law") -> tuple[Any, tuple[Any, ...]]:
    matrix = matrices(np.float32)[name]
    rows, columns = matrix.shape
    return matrix, (
        ev.csr(matrix),
        np.arange(columns, dtype=np.float32),
        np.zeros(rows, np.float32),
    )


@pytest.mark.parametrize("target", ["cpu", "python", pytest.param("simt", marks=pytest.mark.simt)])
@pytest.mark.parametrize("schedule", ["thread_mapped", "merge_path"])
@pytest.mark.parametrize("kernel", [spmv, softmax_rows], ids=lambda k: k.name)
def test_it_is_the_plan_on_these_arguments(kernel: Any, schedule: str, target: str) -> None:
    _, (A, x, y) = case()
    plan = kernel.plan(A, x, y, schedule=schedule, target=target)
    with plan.bind(A, x, y) as call:
        for factor in 1, 3:
            x[:] = np.linspace(-factor, factor, len(x))  # read live
            plan(A, x, y)
            expected = y.tobytes()
            y[:] = -1
            call()
            assert y.tobytes() == expected


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=str)
def test_every_schedule(schedule: Any) -> None:
    matrix, (A, x, y) = case("many empty between")
    with spmv.plan(A, x, y, schedule=schedule, target="cpu").bind(A, x, y) as call:
        call()
    np.testing.assert_allclose(y, matrix @ x, rtol=1e-4, atol=1e-4)


def test_calls_of_one_plan_take_turns() -> None:
    """Each call has its own memory for values that a kernel keeps from one pass to the next."""
    _, (A, x, y) = case()
    plan = softmax_rows.plan(A, x, y, schedule="merge_path", target="cpu")
    others = [np.zeros_like(y) for _ in range(3)]
    calls = [plan.bind(A, x, other) for other in others]
    for _ in range(2):
        for call in calls:
            call()
    plan(A, x, y)
    assert all(other.tobytes() == y.tobytes() for other in others)


def test_other_arguments_than_the_plans() -> None:
    _, arguments = case()
    matrix, (A, x, y) = case("a tile longer than a block")
    with spmv.plan(*arguments, target="cpu").bind(A, y=y, x=x) as call:
        call()
    np.testing.assert_allclose(y, matrix @ x, rtol=1e-4)


@pytest.mark.parametrize("name", ["locality", "equal tiles"])
def test_of_plans_that_know_more(name: str) -> None:
    rng = np.random.default_rng(0)
    columns = rng.zipf(1.5, (200, 4)).clip(max=300) - 1
    offsets = np.arange(201, dtype=np.int32) * 4
    data = rng.random(800, dtype=np.float32), columns.astype(np.int32).ravel(), offsets
    matrix = scipy.sparse.csr_array(data, shape=(200, 300))
    A, x, y = ev.csr(matrix), rng.random(300, dtype=np.float32), np.zeros(200, np.float32)
    plan = spmv.plan(A, x, y, target="cpu")
    if name == "locality":
        plan = plan.tune(seconds=0.05, save=False, locality=True)
    with plan.bind(A, x, y) as call:
        for _ in range(2):
            x += 1
            call()
            np.testing.assert_allclose(y, matrix @ x, rtol=1e-4)


# ---- what it keeps ---------------------------------------------------------------------------------
def test_arrays_live_as_long_as_it_is_open() -> None:
    matrix, (A, x, y) = case()
    alive = weakref.ref(x)
    call = spmv.plan(A, x.copy(), y, target="cpu").bind(A, x, y)
    expected = matrix @ x
    del x
    gc.collect()
    call()
    np.testing.assert_allclose(y, expected, rtol=1e-4)
    call.close()
    gc.collect()
    assert alive() is None


def test_what_a_renumbered_plan_made_lives_too() -> None:
    """The reordered copies belong to the call. They are so large that freed memory would be reused at once."""
    rng = np.random.default_rng(0)
    columns = rng.zipf(1.5, 400_000).clip(max=300_000).astype(np.int32) - 1
    offsets = np.arange(0, 400_001, 4, dtype=np.int32)
    matrix = scipy.sparse.csr_array((np.ones(400_000), columns, offsets), shape=(100_000, 300_000))
    x, y = rng.random(300_000), np.zeros(100_000)
    plan = spmv.plan(ev.csr(matrix), x, y, target="cpu").tune(
        candidates=["thread_mapped"], seconds=0.01, save=False, locality=True
    )
    plan = renumbered(plan, renumbering(plan._program, ["y"], plan._binding))
    call = plan.bind(*plan._binding.arguments.values())
    del plan
    gc.collect()
    others = [np.full(300_000, 7.0) for _ in range(20)]
    call()
    np.testing.assert_allclose(y, matrix @ x)
    assert all((other == 7.0).all() for other in others)


def test_who_calls_in_the_midst_of_a_call_gets_its_own_run() -> None:
    """A signal handler may call between two phases."""
    _, (A, x, y) = case()
    plan = softmax_rows.plan(A, x, y, schedule="merge_path", target="cpu")
    plan(A, x, y)
    expected = y.copy()
    call = plan.bind(A, x, y)
    check, calls = Run.natively, []

    def interrupted(self: Run, *given: Any) -> None:
        check(self, *given)
        if not calls:
            calls.append(1)
            call()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "natively", interrupted)
        y[:] = -1
        call()
    np.testing.assert_array_equal(y, expected)


def test_it_does_not_pickle() -> None:
    _, (A, x, y) = case()
    call = spmv.plan(A, x, y, target="cpu").bind(A, x, y)
    with pytest.raises(ev.InputError, match=r"^pickling <Plan spmv .*; hint: pickle the plan, and"):
        pickle.dumps(call)


def test_closed() -> None:
    _, (A, x, y) = case()
    plan = spmv.plan(A, x, y, schedule=ev.ThreadMapped(64), target="cpu")
    with plan.bind(A, x, y) as call:
        assert str(call) == f"<{plan!r}.bind(...)>"
    call.close()
    with pytest.raises(ev.InputError) as caught:
        call()
    assert str(caught.value) == (
        "<Plan spmv under ThreadMapped(block=64, items=5) on cpu>.bind(...): "
        "expected an open call, got one that has been closed"
    )


def test_another_thread_is_refused() -> None:
    _, (A, x, y) = case()
    raised: list[Exception] = []
    with spmv.plan(A, x, y, target="cpu").bind(A, x, y) as call:

        def refused(function: Callable[[], None]) -> None:
            try:
                function()
            except ev.InputError as error:
                raised.append(error)

        for function in call, call.close:
            thread = threading.Thread(target=refused, args=(function,))
            thread.start()
            thread.join()
        assert not y.any()
        call()
        assert y.any()
    for error in raised:
        assert str(error).endswith(
            "expected the thread that bound the call, got another thread; "
            "hint: let each thread bind its own: plan.bind(...)"
        )
    assert len(raised) == 2


# ---- what it refuses -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda A, x, y: (A, x.astype(np.float64), y), "x: expected the type that the plan was made for"),
        (lambda A, x, y: (A, x[:-1], y), "x: expected"),
        (lambda A, x, y: (A, x, x[: len(y)]), "y: expected"),
        (lambda A, x, y: (A, x), r"spmv: expected 3 arguments \(A, x, y\), got 2, without y"),
    ],
)  # fmt: skip
def test_arguments_are_checked_once(change: Any, text: str) -> None:
    _, arguments = case()
    plan = spmv.plan(*arguments, target="cpu")
    with pytest.raises(ev.InputError, match=text):
        plan.bind(*change(*arguments))


def test_streams_are_cudas() -> None:
    _, arguments = case()
    with pytest.raises(ev.InputError) as caught:
        spmv.plan(*arguments, target="cpu").bind(*arguments, stream=7)
    assert str(caught.value) == (
        "stream: expected none on target 'cpu', got int; hint: streams are CUDA's"
    )


class Ours:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 7


@pytest.mark.parametrize(
    "stream",
    [
        7,
        Ours(),
        types.SimpleNamespace(__cuda_stream__=(0, 7)),
        types.SimpleNamespace(ptr=7),
        types.SimpleNamespace(cuda_stream=7),
        types.SimpleNamespace(handle=types.SimpleNamespace(value=7)),
    ],
    ids=["handle", "cuda.core", "an attribute", "CuPy", "PyTorch", "Numba"],
)
def test_streams_of_other_libraries(stream: Any) -> None:
    assert handle_of(stream) == 7


@pytest.mark.parametrize("stream", ["default", True, 1.0])
def test_what_is_no_stream(stream: Any) -> None:
    with pytest.raises(ev.InputError) as caught:
        handle_of(stream)
    assert str(caught.value) == (
        "stream: expected a stream of CuPy, PyTorch or cuda.core, or its handle, "
        f"got {type(stream).__name__}"
    )
