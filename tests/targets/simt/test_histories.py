"""Histories of operations: what is refused, and what a long one costs."""

import numpy as np
import pytest

import evenly as ev
from evenly.targets.simt import histories

pytestmark = pytest.mark.simt

program = ev.SimtProgram("""
__global__ void adds(int* n, int times) {
  for (int i = 0; i < times; i++) {
    ev::invoke("enqueue", 1);
    atomicAdd(n, 1);
    ev::respond(1);
  }
}
__global__ void forgets(int* n) {
  ev::invoke("enqueue", 7);
  if (atomicAdd(n, 1) == 0) ev::respond(1);
}
""")


def zero() -> np.ndarray:
    return np.zeros(1, np.int32)


def test_an_operation_that_the_model_does_not_know_is_no_finding_about_the_kernel() -> None:
    stack = histories.stack()
    with pytest.raises(ev.InputError, match=r"expected one of pop, push, got 'enqueue'"):
        program.launch("adds", 1, 1, zero(), 1, model=stack)
    with pytest.raises(ev.InputError, match=r"expected one of pop, push, got 'enqueue'"):
        program.explore("adds", 1, 1, zero(), 1, model=stack)


def test_a_call_without_respond_is_reported() -> None:
    with pytest.raises(ev.SimtError, match=r"ev::respond is missing.*\n.*1\.0: enqueue\(7\)") as e:
        program.launch("forgets", 2, 1, zero(), model=histories.queue())
    assert e.value.kind == "linearisability"


@pytest.mark.parametrize("model", [3, "queue", histories.queue])
def test_a_model_has_to_be_one(model: object) -> None:
    for run in (program.launch, program.explore):
        with pytest.raises(ev.InputError, match=r"model: expected a model with `first` and `step`"):
            run("adds", 1, 1, zero(), 1, model=model)


def test_histories_may_be_longer_than_the_stack_of_python() -> None:
    program.launch("adds", 1, 32, zero(), 35, model=histories.queue())


def test_no_history_is_written_where_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "read", lambda text: pytest.fail("the history was read"))
    program.launch("adds", 1, 32, zero(), 3)
