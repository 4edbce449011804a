"""The buffers of a phase that hold zeros between launches lie one after the other; how many blocks run tasks."""

from __future__ import annotations

import pytest

import evenly as ev
from evenly.gpus.gpu import Gpu
from evenly.schedules.contract import Sizes
from evenly.targets.gpu.engines.tasks import TaskEngine
from evenly.targets.gpu.sizing import ONE, Buffer, Sizing


def test_buffers_of_zeros_do_not_overlap() -> None:
    kinds = ("flags", 300, "zeros"), ("mail", 1000, "run"), ("count", 8, "zeros"), ("words", 256, "zeros")  # fmt: skip
    buffers = tuple(Buffer(name, nbytes, 4, holds) for name, nbytes, holds in kinds)
    found = Sizing({"tiles": ONE}, {}, buffers).zeros()
    assert found == {"flags": (0, 300), "count": (512, 520), "words": (768, 1024)}
    assert Sizing({"tiles": ONE}, {}).zeros() == {}


@pytest.mark.parametrize(
    ("size", "block", "blocks"),
    [(1, 256, 4), (32, 128, 8), (64, 64, 16), (128, 128, 16), (512, 512, 4)],
)
def test_enough_warps_or_groups_run_tasks(size: int, block: int, blocks: int) -> None:
    """Half as many blocks as run at once, but 16 takers a multiprocessor if there can be so many."""
    schedule = ev.TaskPool(size, block)
    made = TaskEngine().sizing(schedule, 0, 8, Sizes(1_000_000, 0), 0, Gpu(132))
    assert made.grids["tiles"] == (132 * blocks, 1)
