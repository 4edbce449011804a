"""The boxes by which threads of target `cpu` hand each other tasks, explored under weak memory (fixtures/crew.cu)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.targets.simt.planted import mistaken

import evenly as ev

pytestmark = pytest.mark.simt
SOURCE = (Path(__file__).parent / "fixtures" / "crew.cu").read_text()


LISTED = -1  # who has the root: nobody


def crew(workers: int, nodes: int, holder: int = LISTED) -> tuple[Any, ...]:
    sizes = 1, 1, 1, workers, 1, 16 * workers, 64, 1
    words = [np.zeros(n, np.int32) for n in sizes]
    words[2][0] = holder != LISTED  # absent
    return *words, nodes, holder


@pytest.mark.parametrize(
    ("workers", "nodes"), [(2, 1), (2, 3), pytest.param(3, 1, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("holder", [LISTED, 1])
@pytest.mark.parametrize("memory", ["relaxed", "sequential"])
def test_all_executions_run_every_task_once_and_end(
    workers: int, nodes: int, memory: str, holder: int
) -> None:
    given = crew(workers, nodes, holder)
    found = ev.SimtProgram(SOURCE).explore("crew", workers, 1, *given, memory=memory)
    assert found.complete, found.reason
    for outcome in found.outcomes:
        attention, busy, absent, boxes, *_, sum_ = outcome.arrays
        assert (attention[0], busy[0], absent[0], boxes.any()) == (0, 0, 0, False)
        assert sum_[0] == nodes * (nodes + 1) // 2


MISTAKES = {
    "tasks are seen before they are there": ("store(count, release)", "store(count, cuda::memory_order_relaxed)"),
    "tasks are read before they are seen": ("box.load(acquire);", "box.load(cuda::memory_order_relaxed);"),
    "a box is full before the tasks are there": (
        "for (int i = 0; i < count; ++i) stacks", "word(boxes[other]).store(count, release);\n for (int i = 0; i < count; ++i) stacks"
    ),
    "who is given tasks is not counted": ("word(*crew.busy).fetch_add(1, both);\n      word(*crew.attention)", "word(*crew.attention)"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake: str) -> None:
    program = mistaken(SOURCE, *MISTAKES[mistake])
    with pytest.raises(ev.SimtError):
        walked(program)


def walked(program: ev.SimtProgram) -> None:
    for nodes in (3, 5):
        found = program.explore("crew", 2, 1, *crew(2, nodes))
        if any(outcome.arrays[1][0] for outcome in found.outcomes):
            raise ev.SimtError("busy", "workers are miscounted")
