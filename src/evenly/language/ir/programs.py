"""A whole kernel: loops over tiles, statements outside of them, and rounds of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..diagnostics import Location, Span
from ..types import Scalar
from .expressions import Path, Var
from .statements import Accumulator, Assign, Block, LayoutCode


@dataclass(frozen=True, slots=True)
class TaskCode:
    """The tasks of a loop over tasks.

    loads: what gives each field of the loop's task its value, from the columns of the list. The body begins with them.
    types: those of the columns. ranged: whether the first two fields are the task's range of atoms.
    """

    loads: tuple[Assign, ...]
    types: tuple[Scalar, ...]
    ranged: bool


@dataclass(frozen=True, slots=True)
class TileLoop:
    """`for tile in layout.tiles()`: `accumulators` are those of the whole grid. tasks: if its tiles are tasks."""

    layout: LayoutCode
    path: Path
    tile: Var
    accumulators: tuple[Accumulator, ...]
    body: Block
    at: Location | None = field(default=None, compare=False)
    tasks: TaskCode | None = None


@dataclass(frozen=True, slots=True)
class Scalars:
    """Statements outside all tile loops; they run once."""

    body: Block


@dataclass(frozen=True, slots=True)
class Rounds:
    """`while condition:` around loops over tiles. Each round runs `test`, which sets `condition`, then `steps`."""

    test: Block
    condition: Var
    steps: tuple[Step, ...]
    at: Location | None = field(default=None, compare=False)


Piece = TileLoop | Scalars
Step = Piece | Rounds


@dataclass(frozen=True, slots=True)
class Requirement:
    """A length that indices need: the array's axis is at least as long as the layout's `bound` (an attribute)."""

    array: Path
    axis: int
    layout: Path
    bound: str


# The type of a number, the types of a tuple's items, or None for anything else.
Types = Scalar | tuple["Types", ...] | None
# The key of a value where paths meet: the calls that lead there, the place, and the name that gets the value
# ("" for an expression).
Meet = tuple[tuple[Span, ...], Span, str]


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel's typed program.

    meets: the types of values where paths meet, for the reference, which runs one path at a time.
    """

    name: str
    steps: tuple[Step, ...]
    requirements: frozenset[Requirement] = frozenset()
    meets: Mapping[Meet, Types] = field(default_factory=dict, compare=False)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The steps in order, with the test and the steps of each while in its place."""
        return pieces(self.steps)


def pieces(steps: tuple[Step, ...]) -> tuple[Piece, ...]:
    """Return the loops over tiles and the statements in these steps, in order."""
    found: list[Piece] = []
    for step in steps:
        if isinstance(step, Rounds):
            found += (Scalars(step.test), *pieces(step.steps))
        else:
            found.append(step)
    return tuple(found)
