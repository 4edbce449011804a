"""The two kernels of a backward of `spmm` that run beside each other: streams and memory, with stand-ins for a GPU's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tests.torch_operators.problems import Problem, modules

torch, ours = modules()
launching = pytest.importorskip("evenly.torch_operators.launching")


class Stream:
    """Notes which stream waits for which."""

    def __init__(self, handle: int, notes: list[Any]) -> None:
        self.cuda_stream, self.notes = handle, notes

    def wait_stream(self, other: Stream) -> None:
        self.notes.append((self.cuda_stream, "waits for", other.cuda_stream))


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What streams do, on a device whose current stream is 7 at first."""
    found: list[Any] = []
    state = {"now": 7, "made": 100}

    def new(device: Any) -> Stream:
        state["made"] += 1
        return Stream(state["made"], found)

    @contextmanager
    def current(stream: Stream) -> Iterator[None]:
        before, state["now"] = state["now"], stream.cuda_stream
        found.append(("on", stream.cuda_stream))
        yield
        state["now"] = before

    monkeypatch.setattr(torch.cuda, "Stream", new)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: Stream(state["now"], found))
    monkeypatch.setattr(torch.cuda, "stream", current)
    launching._aside.cache_clear()
    yield found
    launching._aside.cache_clear()


THERE = SimpleNamespace(is_cuda=True, device="cuda:0")
FORKED = [(101, "waits for", 7), ("on", 101), (7, "waits for", 101)]


def test_a_stream_of_its_own_begins_after_the_other_and_is_waited_for(notes: list[Any]) -> None:
    for _ in range(2):  # it is made once
        notes.clear()
        with launching.beside(THERE) as aside, aside:
            pass
        assert notes == FORKED


def test_it_is_waited_for_after_an_error(notes: list[Any]) -> None:
    def fails() -> None:
        with launching.beside(THERE) as aside:
            with aside:
                pass
            raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        fails()
    assert notes == FORKED


def test_the_part_beside_makes_no_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if values are moved first: those tensors are kept, and others read them on other streams."""
    from torch.utils._python_dispatch import TorchDispatchMode

    from evenly.torch_operators import operators

    made: list[str] = []

    class Makes(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), named: Any = None) -> Any:  # fmt: skip
            found = function(*args, **(named or {}))
            given = {x.untyped_storage().data_ptr() for x in args if isinstance(x, torch.Tensor)}
            if found.untyped_storage().data_ptr() not in given:  # no view
                made.append(str(function))
            return found

    @contextmanager
    def beside(x: Any) -> Iterator[Any]:
        yield Makes()

    monkeypatch.setattr(operators, "beside", beside)
    at_once = launching.Structure.in_panels

    def moved(self: Any, kernel: Any, order: Any, *given: Any) -> bool:
        return order is None and at_once(self, kernel, order, *given)

    monkeypatch.setattr(launching.Structure, "in_panels", moved)
    problem = Problem("empty in the middle")
    function, operands = problem.call("spmm")
    found = problem.gradients(function(*operands), operands)
    monkeypatch.undo()
    for mine, wanted in zip(found, problem.gradients(function(*operands), operands), strict=True):
        torch.testing.assert_close(mine, wanted)
    assert not made
