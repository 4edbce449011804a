"""The doors by which threads of target `cpu` enter each other's calls, explored under weak memory (fixtures/pool.cu)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.targets.simt.planted import mistaken

import evenly as ev

pytestmark = pytest.mark.simt
SOURCE = (Path(__file__).parent / "fixtures" / "pool.cu").read_text()


def explored(program: ev.SimtProgram, calls: int, workers: int, patient: bool, **how: Any) -> Any:
    sizes = 1, 1, 1, 1, 1, 1, 1, workers, 1, 1
    given = *(np.zeros(n, np.int32) for n in sizes), calls, workers, patient
    found = program.explore("pool", 2, 1, *given, **how)
    for outcome in found.outcomes:
        _, asleep, *_, door, _, _, results, _, _ = outcome.arrays
        if asleep[0] or door[0] & 15 or results.tolist() != [calls * (calls + 1) // 2] * workers:
            raise ev.SimtError("pool", "a worker ran twice or never, or a helper is lost")
    return found


@pytest.mark.parametrize(("workers", "patient"), [(1, False), (2, True)])
@pytest.mark.parametrize("memory", ["relaxed", "sequential"])
def test_all_executions_run_every_worker_once_and_end(
    workers: int, patient: bool, memory: str
) -> None:
    found = explored(ev.SimtProgram(SOURCE), 1, workers, patient, memory=memory)
    assert found.complete, found.reason


@pytest.mark.parametrize("patient", [True, False])
def test_a_door_may_be_opened_again(patient: bool) -> None:
    found = explored(ev.SimtProgram(SOURCE), 2, 1, patient, preemptions=2)
    assert found.complete, found.reason


MISTAKES = {
    "helpers enter before the call is there": ("place * helpers, release)", "place * helpers, relaxed)"),
    "a door that is closed lets helpers in": ("door.fetch_and(~places, both);", ""),
    "a call ends before its helpers leave": ("while (patient && (door.load(acquire) & inside) != 0) {}", "return;"),
    "results are read before they are there": ("fetch_add(-1, both);\n    if", "fetch_add(-1, relaxed);\n    if"),
    "a helper looks before it counts itself": (
        "word(*pool.asleep).fetch_add(1, both);\n  if (word(*pool.opened).fetch_add(0, both) == opened) sleeps(pool.called);",
        "const bool late = word(*pool.opened).fetch_add(0, both) == opened;\n  word(*pool.asleep).fetch_add(1, both);\n  if (late) sleeps(pool.called);",
    ),
    "nobody wakes a call that waits": ("(before & inside) == 1) word", "(before & inside) == 2) word"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake: str) -> None:
    program = mistaken(SOURCE, *MISTAKES[mistake])
    with pytest.raises(ev.SimtError):
        walked(program)


def walked(program: ev.SimtProgram) -> None:
    for patient in (True, False):
        explored(program, 1, 1, patient)
