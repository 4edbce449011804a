"""The contract of engines: what executes a phase under a schedule on a GPU.

To add an engine is to add one file in engines/, the header in device/ that its kernels call, and one line
to TABLE in engines/__init__.py. A schedule names it: `engine = "..."`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from evenly.gpus.gpu import Gpu
from evenly.schedules.contract import Sizes, launch_of

from .emit.code import PhaseCode

if TYPE_CHECKING:
    from .emit.unit import Unit

Counts = npt.NDArray[np.int64]


class Engine:
    """An engine. It has no state: what it knows of a phase is in the PhaseCode that it gives.

    owners: of the schedules that may name it. parameters: that these must have.
    runs_methods: whether it runs the schedule's own `setup`, `tiles` and `atoms`.
    on_cpu: how target `cpu` divides the work: as the schedule's methods say, tiles and atoms evenly ("merge"),
    or atoms evenly ("nonzero").
    """

    owners: ClassVar[tuple[str, ...]] = ("thread", "group")
    parameters: ClassVar[tuple[str, ...]] = ()
    runs_methods: ClassVar[bool] = False
    on_cpu: ClassVar[Literal["methods", "merge", "nonzero"]] = "merge"

    def emit(self, unit: Unit, phase: Any, name: str) -> PhaseCode:
        """The kernels of a phase, whose names begin with `name`, and how they are launched.

        Raises InputError for a phase that it cannot run under this schedule.
        """
        raise NotImplementedError

    def blocks(self, schedule: Any, sizes: Sizes, gpu: Gpu) -> int:
        """How many blocks the main kernel has."""
        return launch_of(schedule, sizes)[0]

    def shared_bytes(self, schedule: Any, value_bytes: int) -> int:
        """Shared memory that a block takes for accumulators of so many bytes a tile, where that may be too much."""
        return 0

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts] | None:
        """The threads of a group, and the atoms that each group takes, in order: (n,) int64.

        offsets: (tiles + 1,) int64, where tiles begin. None: the schedule's methods have to be walked.
        """
        return None
