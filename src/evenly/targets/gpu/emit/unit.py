"""The data that all kernels of one program share while they are emitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenly.gpus.gpu import together
from evenly.language import ir, walk
from evenly.language.following import Following
from evenly.language.phases import Phase
from evenly.language.specs import LayoutSpec

from .code import KernelCode
from .contended import contended
from .expressions import References, Text
from .known import UNKNOWN, Words
from .lines import origins
from .parameters import Parameter, parameters_of, view_lines


@dataclass(frozen=True)
class Unit:
    """A program's schedule, its layouts, the arrays that it writes, and whether its positions are wide.

    running: the condition of the loop that a phase is in: its kernels do nothing where that is false, so that several
    rounds can be launched without a look at it. None: the phase is in no such loop.
    following: the pair of passes that the phase is one of, of which the second may follow the first at once.
    """

    name: str
    schedule: Any
    layouts: dict[ir.Path, LayoutSpec]
    written: frozenset[ir.Path]
    wide: bool
    running: ir.Array | None = None
    following: Following | None = None

    def text(self, phase: Phase | None = None, streaming: bool = False) -> Text:
        """Return a printer of expressions for a kernel of a phase; without one, for code that a single thread runs."""
        at_once = contended(phase) if phase else frozenset()
        return Text(self.wide, self.written, streaming, at_once)

    @property
    def position(self) -> int:
        """The bytes of a position."""
        return 8 if self.wide else 4

    @property
    def position_type(self) -> str:
        """The line that defines `pos`."""
        return f"using pos = {'long long' if self.wide else 'int'};"

    def kernel(
        self,
        name: str,
        block: int,
        grid: str,
        references: References,
        before: list[str],
        body: list[str],
        extra: list[Parameter],
        views: bool = True,
        min_blocks: int = 0,
        carveout: int = -1,
        always: bool = False,
        cooperative: bool = False,
        facts: tuple[Words, ...] = (),
        known_blocks: int = 0,
    ) -> KernelCode:
        """Emit a kernel.

        before: lines that precede it. views: whether it begins with a view of each array.
        min_blocks: the number of blocks that a multiprocessor must be able to hold; 0: the compiler decides.
        known_blocks: the same if the host knows one of the `facts`.
        carveout, cooperative, facts: see KernelCode. always: whether it runs even after the last round (see `running`).
        """
        parameters = [*parameters_of(references, self.written), *extra]
        guard = []
        if self.running and not always:
            parameters.append(Parameter("array", "const bool*", self.running.path, name="running"))
            guard = ["  if (!*running) return;"]
        declared = [p.text for p in parameters]
        shown = view_lines(references, self.written) if views else []
        if cooperative:
            min_blocks = together(block)
        least = f", {min_blocks}" if min_blocks else ""
        if facts and known_blocks > min_blocks:
            least = f", EV_KNOWN ? {known_blocks} : {min_blocks}"
        lines = [
            *(UNKNOWN if facts else ()),
            self.position_type,
            "",
            *before,
            "",
            f"EV_KERNEL({block}{least}) {name}({_wrapped(declared)}) {{",
            *guard,
            *shown,
            *body,
            "}",
        ]
        source = "\n".join(lines) + "\n"
        given = name, source, block, grid, tuple(parameters), origins(lines), carveout, cooperative
        return KernelCode(*given, facts=facts)


def _wrapped(items: list[str]) -> str:
    """Return a parameter list, broken into lines."""
    return ",\n    ".join(items)


def device_counts(layout: ir.LayoutCode) -> bool:
    """Whether the number of tiles or atoms is only known on the device."""
    return any(
        isinstance(e, ir.Element)
        for code in (layout.num_tiles, layout.num_atoms)
        for e in walk.inline_expressions(code)
    )
