"""Rounds of which several are launched without a look at the condition between them, as a CUDA graph does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices
from tests.kernels import SCHEDULES
from tests.runtime.test_frontiers import search, square
from tests.runtime.test_rounds import steps

import evenly as ev
from evenly.language import ir
from evenly.language.phases import Loop, Phases
from evenly.targets.cuda.conditional import AT_ONCE, rounds_of

pytestmark = pytest.mark.simt


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops go on for as many rounds as a conditional node has, whatever their conditions say meanwhile."""

    def order(self: Phases, holds: Callable[[ir.Array], bool]) -> Iterator[int]:
        def parts(of: tuple[int | Loop, ...]) -> Iterator[int]:
            for part in of:
                if isinstance(part, int):
                    yield part
                    continue
                while holds(part.condition):
                    for _ in range(rounds_of(part)):
                        yield from parts(part.body)

        return parts(self.nested)

    monkeypatch.setattr(Phases, "order", order)


ENGINES = ("thread", "flat 32", "dynamic", "lrb", "work", "merge", "nonzero")


def check(schedule: str, n: int, kernel: Any = steps) -> None:
    """Each round adds to y once: n of the rounds of two nodes are wanted."""
    matrix = matrices(np.float32)["empty in the middle"]
    A, y = ev.csr(matrix), np.zeros(matrix.shape[0])
    kernel[SCHEDULES[schedule]].on("simt")(A, n, y)
    np.testing.assert_array_equal(y, 2 * n * np.diff(matrix.indptr))


@pytest.mark.parametrize("schedule", ENGINES)
def test_rounds_that_are_not_wanted_do_nothing(schedule: str, several: None) -> None:
    check(schedule, AT_ONCE + 1)


@pytest.mark.parametrize("schedule", ["thread", "lrb", "merge"])
def test_lists_change_places_in_wanted_rounds_alone(schedule: str, several: None) -> None:
    search(square(matrices(np.float32)["unsorted columns"]), SCHEDULES[schedule], "simt", False)


def test_without_the_look_at_the_condition_they_would(
    several: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Phases, "running", lambda self, number: None)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        check("thread", AT_ONCE + 1, steps.copy())  # compiled anew
