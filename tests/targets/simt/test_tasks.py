"""The mail of tasks: explored completely under weak memory for two workers, and with planted mistakes that are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.targets.simt.mutants import MAIL as SOURCE
from tests.targets.simt.mutants import Alone, Place, Program, planted, tasks

import evenly as ev

pytestmark = pytest.mark.simt
ACQUIRE, RELEASE = "fence<acquire>();", "fence<release>();"


def workers(blocks: int, nodes: int, beforehand: int = 0) -> tuple[Any, ...]:
    pool, mail, flags = np.zeros(256, np.int64), np.zeros(2 * blocks, np.int32), np.zeros(2 * blocks, np.int32)  # fmt: skip
    return pool, mail, flags, np.zeros(256, np.int32), np.zeros(1, np.int32), nodes, beforehand


@pytest.mark.parametrize(
    ("blocks", "nodes", "beforehand"), [(2, 3, 0), (2, 4, 0), (3, 1, 0), (2, 3, 1), (2, 4, 2)]
)
@pytest.mark.parametrize("memory", ["relaxed", "sequential"])
def test_all_executions_run_every_task_once_and_end(
    blocks: int, nodes: int, beforehand: int, memory: str
) -> None:
    program = ev.SimtProgram(SOURCE.read_text())
    given = workers(blocks, nodes, beforehand)
    found = program.explore("workers", blocks, 1, *given, memory=memory)
    assert found.complete, found.reason
    for outcome in found.outcomes:
        flags, sum_ = outcome.arrays[2], outcome.arrays[4]
        assert not flags.any()
        assert sum_[0] == nodes * (nodes + 1) // 2


def of_two_lanes(blocks: int) -> tuple[Any, ...]:
    return tuple(np.zeros(n, t) for n, t in zip((256, 3 * blocks, 3 * blocks, 8, 1), (np.int64, *[np.int32] * 4), strict=True))  # fmt: skip


@pytest.mark.parametrize("memory", ["relaxed", "sequential"])
def test_all_executions_of_mails_that_are_sent_together_end(memory: str) -> None:
    given = of_two_lanes(2)
    found = ev.SimtProgram(SOURCE.read_text()).explore("two_mails", 2, 2, *given, memory=memory)
    assert found.complete, found.reason
    assert [(outcome.arrays[2].any(), int(outcome.arrays[4][0])) for outcome in found.outcomes] == [(False, 3)]  # fmt: skip


def test_mails_that_are_sent_together_come_to_three_workers() -> None:
    program = ev.SimtProgram(SOURCE.read_text())
    for seed in range(100):
        given = of_two_lanes(3)
        program.launch("two_mails", 3, 2, *given, seed=seed)
        assert not given[2].any() and given[4][0] == 3


def test_more_mails_than_are_wanted_have_boxes_of_their_own() -> None:
    """Several workers see the same one that waits, and each sends four."""
    program = ev.SimtProgram(SOURCE.read_text())
    for seed in range(200):
        pool, mail, flags = np.zeros(256, np.int64), np.zeros(15, np.int32), np.zeros(15, np.int32)
        data, total = np.zeros(201, np.int32), np.zeros(1, np.int32)
        program.launch("four_mails", 3, 4, pool, mail, flags, data, total, 200, seed=seed)
        assert not flags.any() and total[0] == 200 * 201 // 2


def explored(program: Program) -> None:
    for nodes in (3, 4, 5):
        program.explore("workers", 2, 1, *workers(2, nodes))
    program.explore("workers", 2, 1, *workers(2, 3, 1))


def together(program: Program) -> None:
    program.explore("two_mails", 2, 2, *of_two_lanes(2))


def many_mails(program: Program) -> None:
    """Boxes are used again, for other workers."""
    for seed in range(30):
        program.launch("workers", 3, 1, *workers(3, 255, seed % 3), seed=seed)


MISTAKES = {
    "a mail is written while the one before it is read": (ACQUIRE, 0, many_mails, "race"),
    "a mail is seen before it is there": (RELEASE, 1, explored, "race"),
    "one of two mails is seen before it is there": (RELEASE, 1, together, "race"),
    "a task is drawn before one has begun": (RELEASE, 0, explored, "deadlock"),
    "a mail is read before it is seen": (ACQUIRE, 1, explored, "race"),
    "a box is free before its mail is read": (RELEASE, 2, many_mails, "race"),
    "the last one misses one that has begun": (ACQUIRE, 2, explored, "deadlock"),
}


def test_many_mails_are_right() -> None:
    many_mails(ev.SimtProgram(SOURCE.read_text()))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_missing_fence_is_found(tmp_path: Path, mistake: str) -> None:
    fence, nth, run, kind = MISTAKES[mistake]
    with planted(tmp_path, Place("tasks.cuh", fence, nth), lambda line: line.replace(fence, "")):
        program = Alone(SOURCE)
        with pytest.raises(ev.SimtError) as caught:
            run(program)
    assert caught.value.kind == kind


@pytest.mark.parametrize("kernel", ["by_group", "by_warp", "by_block"])
def test_no_task_is_kept_for_another_round_where_stacks_have_room(kernel: str) -> None:
    """Also not if more mails were sent than takers wait for."""
    tasks(kernel, nodes=120, seeds=40, kept=0)
