"""A new target is one class and one line in `targets.TABLE`: nothing else of evenly has to know it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.interop.fakes import OnCuda
from tests.kernels import spmv

import evenly as ev
from evenly import targets
from evenly.cli import main
from evenly.interop.generators import rmat, stencil
from evenly.language.diagnostics import LanguageError
from evenly.language.phases import Phases
from evenly.schedules import TABLE as SCHEDULES
from evenly.targets.contract import Executable, Target, Typed
from evenly.targets.cpu.copies import CpuCopies
from evenly.targets.python import Reference
from evenly.tuning.locality import Places


class Stub(Target):
    """Phases are compiled to what the reference runs."""

    name = "stub"

    def device(self, binding: Any = None) -> str:
        return "a stand-in"

    def build(
        self, typed: Typed, schedule: Any, wide: bool, debug: bool
    ) -> tuple[Executable, Phases]:
        self.typed = typed
        return super().build(typed, schedule, wide, debug)

    def compile(self, *given: Any) -> Executable:
        return Reference(self.typed)


@pytest.fixture(autouse=True)
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(targets.TABLE, "stub", (__name__, "Stub"))
    monkeypatch.setattr(targets, "_working", {})


def arguments(matrix: Any) -> tuple[Any, ...]:
    rows, columns = matrix.shape
    return ev.csr(matrix), np.ones(columns, np.float32), np.full(rows, np.nan, np.float32)


# ---- what it does ------------------------------------------------------------------------------------
@pytest.mark.parametrize("schedule", ["auto", *SCHEDULES])
def test_it_runs_kernels(schedule: str) -> None:
    matrix = rmat(6, dtype=np.float32)
    A, x, y = arguments(matrix)
    for run in (
        spmv[schedule].on("stub"),
        spmv.plan(A, x, y, schedule=schedule, target="stub"),
        spmv.on("stub").plan(A, x, y),
    ):
        run(A, x, y)
        np.testing.assert_allclose(y, matrix @ x, rtol=1e-5)
        y[:] = np.nan


def test_a_bound_call() -> None:
    matrix = rmat(6, dtype=np.float32)
    A, x, y = arguments(matrix)
    with spmv.plan(A, x, y, target="stub").bind(A, x, y) as call:
        for factor in (1, 2):
            x[:] = factor
            call()
            np.testing.assert_allclose(y, matrix @ x, rtol=1e-5)


def test_a_plan_reads_no_offsets_of_equal_tiles() -> None:
    A, x, y = arguments(rmat(4, dtype=np.float32))
    A = ev.csr((A.values[:32], A.indices[:32], np.arange(0, 33, 2)), shape=(16, 16))
    plan = spmv.plan(A, x, y, target="stub")
    A.offsets[:] = 0
    plan(A, x, y)
    np.testing.assert_allclose(y, (A.values.reshape(16, 2) * x[A.indices.reshape(16, 2)]).sum(1))


def test_verify_and_explain() -> None:
    A, *_ = arguments(stencil(5, dtype=np.float32))
    assert str(ev.verify("merge_path", A, "stub")).endswith(" and on stub")
    assert ev.verify("merge_path", A, "auto").target == "cpu"
    assert "on stub" in str(ev.explain(A, "stub"))
    assert ev.explain(A, "stub").choice.schedule == ev.explain(A, "cpu").choice.schedule


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[2] / "examples" / "karate.mtx")
    assert main(["spmv", file, "--target", "stub", "--validate"]) == 0
    assert "Errors: 0" in capsys.readouterr().out
    assert main(["info"]) == 0
    assert "  stub    works: a stand-in\n" in capsys.readouterr().out


def test_it_is_tuned_once_its_times_mean_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stub, "clock", "a walk")
    monkeypatch.setattr(Stub, "copies", CpuCopies)
    monkeypatch.setattr(Stub, "seconds", 0.01)
    given = arguments(rmat(4, dtype=np.float32))
    tuning = spmv.plan(*given, target="stub").tune(candidates=ev.MergePath(), save=False).tuning
    assert " on stub (a stand-in)\n" in str(tuning)
    assert "microseconds of a walk, > the choice, the first within 2% of the fastest:" in str(
        tuning
    )


# ---- what it does not --------------------------------------------------------------------------------
def refused(text: str) -> Any:
    return pytest.raises(ev.InputError, match=f"^{re.escape(text)}")


def test_what_it_does_not_have() -> None:
    given = arguments(rmat(4, dtype=np.float32))
    plan = spmv.plan(*given, target="stub")
    with refused("stream: expected none on target 'stub'"):
        plan.bind(*given, stream=7)
    with refused("plan.tune: expected a plan on target 'cuda' or 'cpu', whose times mean "):
        plan.tune()
    with refused("plan.launches: expected a plan on target 'cuda', got one on 'stub'"):
        _ = plan.launches
    with refused("plan.counters: expected a plan on target 'simt', got one on 'stub'"):
        plan.counters()
    with refused("seed: expected no options for target 'stub', got seed=1"):
        spmv.on("stub", seed=1)(*given)
    with refused("debug: expected target 'cpu' or 'python', which check indices and divisions"):
        spmv.on("stub", debug=True)(*given)


def test_kernels_that_it_cannot_run() -> None:
    @ev.kernel
    def prints(A, x, y):
        for row in A.tiles():
            print(row)

    @ev.kernel
    def asserts(A, x, y):
        for row in A.tiles():
            assert x[row] > 2

    given = arguments(rmat(4, dtype=np.float32))
    with pytest.raises(LanguageError, match="print on target 'stub'"):
        prints.on("stub")(*given)
    assert spmv.on("stub").plan(*given).target == "stub"
    asserts.on("stub").plan(*given)  # which nobody checks there


def test_arrays_in_another_place() -> None:
    @ev.kernel
    def copied(P, x, y):
        for place in P.tiles():
            y[place] = x[place]

    x, y = (OnCuda(np.ones(3)) for _ in range(2))
    with refused("x: expected arrays where target 'stub' can reach them, got an array on cuda"):
        copied.on("stub")(Places(3), x, y)


def test_names() -> None:
    assert targets.available()["stub"] == ""
    assert targets.best_target()[0] != "stub"
    with refused(
        f"target: expected one of {', '.join(sorted(['auto', *targets.TABLE]))}, got 'stubb'"
    ):
        spmv.on("stubb")(*arguments(rmat(4, dtype=np.float32)))
