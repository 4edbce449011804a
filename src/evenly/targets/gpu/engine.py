"""The contract of engines. An engine executes a phase under a schedule on a GPU.

To add one, add a file in engines/, the header in device/ that its kernels call, and a line to TABLE in
engines/__init__.py. A schedule names its engine: `engine = "..."`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evenly.gpus.gpu import Gpu
from evenly.schedules.contract import Sizes, launch_of

from .emit.code import PhaseCode

if TYPE_CHECKING:
    from .emit.unit import Unit

Division = Literal["methods", "merge", "nonzero"]
Counts = npt.NDArray[np.int64]


class Teams(NamedTuple):
    """Who takes each tile, where an engine hands out whole tiles in an order of its own. Three arrays, (tiles,) int64.

    tiles: the tiles, in the order in which they are handed out. first: the first thread of the launch that takes that
    tile. size: how many threads take it together; thread `first + r` has every size-th of its atoms from r on.
    """

    tiles: Counts
    first: Counts
    size: Counts


class Engine:
    """An engine. It has no state: everything about a phase is in the PhaseCode that `emit` returns.

    owners: a schedule may name this engine if its `owner` is one of these.
    parameters: the parameters that such a schedule must have.
    runs_methods: whether the engine runs the schedule's own `setup`, `tiles` and `atoms`.
    rule: for engines whose blocks take equal shares, how the work is cut: a struct in device/rules.cuh.
    on_cpu: how target `cpu` divides the work: as the schedule's methods say ("methods"), tiles and atoms evenly
      ("merge"), or atoms evenly ("nonzero").
    """

    owners: ClassVar[tuple[str, ...]] = ("thread", "group")
    parameters: ClassVar[tuple[str, ...]] = ()
    runs_methods: ClassVar[bool] = False
    rule: ClassVar[str] = ""
    on_cpu: ClassVar[Division] = "merge"

    def emit(self, unit: Unit, phase: Any, name: str) -> PhaseCode:
        """Emit the kernels of a phase, with names that begin with `name`, and how to launch them.

        Raises InputError for a phase that the engine cannot run under this schedule.
        """
        raise NotImplementedError

    def blocks(self, schedule: Any, sizes: Sizes, gpu: Gpu) -> int:
        """Return the number of blocks of the main kernel, where the host knows the counts of the layout."""
        return launch_of(schedule, sizes)[0]

    def shared_bytes(self, schedule: Any, value_bytes: int) -> int:
        """Return the bytes of shared memory of a block, where they may exceed what a block can have; else 0.

        value_bytes: bytes of a tile's accumulators.
        """
        return 0

    def shares(self, schedule: Any, offsets: Counts, blocks: int) -> tuple[int, Counts] | None:
        """Return the threads of a group, and the number of atoms that each group takes, in order: (n,) int64.

        Return None if that can only be found by running the schedule's methods.
        offsets: where each tile begins, (tiles + 1,) int64.
        """
        return None

    def teams(self, schedule: Any, offsets: Counts, blocks: int) -> Teams | None:
        """Return who takes each tile; None if the groups of `shares` take all atoms in order."""
        return None
