"""Kernels, functions, plans, schedules and layouts in other processes, and the errors where they cannot be pickled."""

from __future__ import annotations

import importlib.util
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.language.diagnostics import LanguageError
from tests.kernels import spmv

FACTOR = 2.0


def plain(A, y, by=3.0):
    for t in A.tiles():
        y[t] = sum(twice(A.value(k)) for k in A.atoms(t)) * by * FACTOR


@ev.func
def twice(v):
    return 2.0 * v


kernel = ev.kernel(plain)  # whose own name leads to the function


class Nested:
    @ev.schedule
    class Mapped:
        owner = "thread"
        block: int = 64

        def launch(self, layout):
            return 1, self.block

        def tiles(self, state):
            return range(ev.thread_index(), state.num_tiles, ev.thread_count())

        def atoms(self, state, tile):
            return range(state.begin(tile), state.end(tile), 1)

    @ev.layout
    class Pairs:
        values: ev.Array
        num_tiles: int

        @property
        def num_atoms(self):
            return 2 * self.num_tiles

        def begin(self, tile):
            return 2 * tile

        def end(self, tile):
            return 2 * tile + 2

        def value(self, k):
            return self.values[k]

    @staticmethod
    @ev.kernel
    def inner(A, y):
        for t in A.tiles():
            y[t] = 1.0


A = Nested.Pairs(np.arange(6.0), 3)
SUMS = 12 * np.array([1.0, 5.0, 9.0])


def run(call: Callable[..., Any], *args: Any) -> list[float]:
    y = np.zeros(3)
    call(*args, y)
    return list(y)


def refused() -> None:
    Nested.inner(A, np.zeros(3, np.int32))


def same(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def test_kernels_and_functions_are_themselves() -> None:
    for thing in (spmv, twice, Nested.inner):
        assert same(thing) is thing
    assert same(kernel).function is plain
    assert same(spmv.copy()).function is spmv.function
    for apart in (spmv.copy(), kernel.copy()):
        assert run_spmv(same(apart)) if apart.name == "spmv" else run(same(apart), A) == list(SUMS)


def run_spmv(call: Any) -> bool:
    M, y = ev.csr((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2)), np.zeros(2)
    call(M, np.ones(2), y)
    return bool((y == 1).all())


def test_choices_layouts_and_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.zeros(3)
    bound = kernel[Nested.Mapped(32)].on("cpu", debug=True)
    found = same(bound)
    assert (found.schedule, found.target, found.debug) == (Nested.Mapped(32), "cpu", True)
    assert run(found, same(A)) == list(SUMS)
    for plan in (bound.plan(A, y), kernel.plan(A, y, by=3.0), kernel.plan(A, y, target="python")):
        monkeypatch.setattr(plain, "__defaults__", (7.0,))
        again = same(plan)
        assert (repr(again), again.debug) == (repr(plan), plan.debug)
        assert run(again, A) == list(SUMS)  # the defaults, too, as they were
        monkeypatch.setattr(plain, "__defaults__", (3.0,))


@ev.kernel
def by_name_only(A, y, /, *, by=2.0):
    for t in A.tiles():
        y[t] = by * sum(A.value(k) for k in A.atoms(t))


def test_a_plan_of_a_kernel_with_parameters_that_are_given_by_name() -> None:
    for schedule in ("thread_mapped", "auto"):
        again = same(by_name_only.plan(A, np.zeros(3), by=12.0, schedule=schedule, target="cpu"))
        y = np.zeros(3)
        again(A, y, by=12.0)
        assert list(y) == list(SUMS)


def test_a_plan_of_another_kernel_than_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan keeps what it captured. It is refused in a process where that differs."""
    written = pickle.dumps(kernel.plan(A, np.zeros(3), schedule="merge_path", target="cpu"))
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    with pytest.raises(ev.InputError) as caught:
        pickle.loads(written)
    assert str(caught.value).endswith(
        "expected the kernel as it was when the plan was made, and what it captures, got another one in "
        "this process; hint: make the plan here"
    )


def test_what_no_name_leads_to() -> None:
    @ev.kernel
    def local(A, y):
        for t in A.tiles():
            y[t] = 1.0

    @ev.func
    def function(v):
        return v

    for thing, what in (
        (local, "a kernel"),
        (function, "a function"),
        (local["merge_path"], "a kernel"),
    ):
        with pytest.raises(ev.InputError) as caught:
            pickle.dumps(thing)
        name = "function" if what == "a function" else "local"
        assert str(caught.value) == (
            f"pickling {name}: expected {what} that its module has under its name, got one that is not {__name__}."
            f"test_what_no_name_leads_to.<locals>.{name}; hint: define it at the top of a module, from where other "
            "processes can import it"
        )


def test_a_plan_on_new_numbers() -> None:
    plan = kernel.plan(A, np.zeros(3), target="cpu").run_by(lambda executable: executable)
    with pytest.raises(
        ev.InputError, match=r"expected a plan whose layouts have their own numbers"
    ):
        pickle.dumps(plan)


def test_refusals_cross_processes() -> None:
    with pytest.raises(LanguageError) as caught:
        refused()
    again = same(caught.value)
    assert (str(again), again.location) == (str(caught.value), caught.value.location)


def test_in_processes_that_start_anew() -> None:
    context = multiprocessing.get_context("spawn")
    y = np.zeros(3)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        calls = [kernel, kernel[Nested.Mapped()].on("cpu"), kernel.plan(A, y, target="cpu")]
        for done in [pool.submit(run, call, A) for call in calls]:
            assert done.result() == list(SUMS)
        with pytest.raises(LanguageError, match="float"):
            pool.submit(refused).result()


@pytest.mark.skipif(not importlib.util.find_spec("cloudpickle"), reason="no cloudpickle here")
def test_with_cloudpickle() -> None:
    import cloudpickle

    closed = cloudpickle.loads(cloudpickle.dumps(lambda y: kernel(A, y)))
    assert run(closed) == list(SUMS)
    factor = 3.0

    @ev.func
    def times(v):
        return v * factor

    @ev.kernel
    def local(A, y):
        for t in A.tiles():
            y[t] = sum(times(A.value(k)) for k in A.atoms(t))

    written = cloudpickle.dumps((local, local["merge_path"].on("cpu")))
    factor = 4.0
    for found in pickle.loads(written):
        assert run(found, A) == [3.0, 15.0, 27.0]
