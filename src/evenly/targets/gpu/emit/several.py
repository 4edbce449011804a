"""Emit teams of several blocks, which own an item together (device/blocks.cuh)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from evenly.gpus.gpu import Gpu
from evenly.language import ir
from evenly.language.types import struct_words
from evenly.schedules.contract import Sizes

from ..sizing import Buffer, Sizing
from .parameters import Parameter
from .statements import Writer

Sized = Callable[[Sizes, int, Gpu], Sizing]

SEVERAL = 0  # in place of the threads of a team, which are not known before the launch
LEADERS = 2  # words of what a leader tells the others (from_leader in device/ops.cuh)


@dataclass(slots=True)
class Several:
    """The teams of several blocks of a kernel.

    block: threads of a block. blocks: how many a team has, as C++ text. more: the parameters that this text needs.
    name: of the team. words: of the widest value that is reduced, so far.
    """

    block: int
    blocks: str
    more: tuple[Parameter, ...] = ()
    name: str = "team"
    words: int = LEADERS

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        cells = Parameter("buffer", "long long*", name="team_cells")
        return *self.more, cells, Parameter("buffer", "void*", name="team_parts")

    def begin(self, writer: Writer) -> None:
        given = f"{self.blocks}, team_cells, team_parts"
        writer.line(f"const ev::blocks<{self.block}, team_words> {self.name}({given});")

    def end(self, writer: Writer) -> None:
        writer.line(f"{self.name}.leave();")

    def reduces(self, accumulators: Iterable[ir.Accumulator]) -> None:
        """Take note of a value that is reduced."""
        fields = (v.type for a in accumulators for v in a.fields)
        self.words = max(self.words, struct_words(fields))

    @property
    def constants(self) -> list[str]:
        """The lines that stand before the kernel, once all is written."""
        return [f"constexpr int team_words = {self.words};"]

    def sizing(self, sized: Sized) -> Sized:
        """Return how a phase is launched, with the memory in which its blocks meet."""
        return partial(_with_memory, sized, self.words)


def _with_memory(sized: Sized, words: int, sizes: Sizes, lanes: int, gpu: Gpu) -> Sizing:
    made = sized(sizes, lanes, gpu)
    blocks, each = made.grids["tiles"][0], 8 * (words + words % 2)
    cells = Buffer("team_cells", 8 * blocks // made.together, 8, "zeros")
    return replace(made, buffers=(*made.buffers, cells, Buffer("team_parts", 2 * blocks * each)))
