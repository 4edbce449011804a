"""What a program does: statements, reductions, passes over a tile's atoms, and pieces of code with parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..diagnostics import Location
from .expressions import Array, Expr, Var


class Stmt:
    """A statement. `at`: its location in the user's source, or None if a pass of the compiler made it."""

    __slots__ = ()
    at: Location | None


Block = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Assign(Stmt):
    """`var = value`. Every element of a local array gets the value, a constant."""

    var: Var
    value: Expr
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Store(Stmt):
    """`array[indices] = value`.

    `atom`: the atom that stores, if several atoms may store to the element; they must then store the same.
    `alone`: no other atom or tile stores to the element, whatever the index looks like.
    """

    array: Array
    indices: tuple[Expr, ...]
    value: Expr
    at: Location | None = field(default=None, compare=False)
    atom: Expr | None = field(default=None, compare=False)
    alone: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class SetItem(Stmt):
    """`array[index] = value`, for a local array. The index is a variable or a constant, and within the array."""

    array: Var
    index: Expr
    value: Expr
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Stage(Stmt):
    """Copy the elements first, ..., last - 1 to where they are near, if they fit there. Targets may do nothing."""

    array: Array
    first: Expr
    last: Expr
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Scratch(Stmt):
    """Begin to use a scratch array: `length` elements, all zero if `zeros`. The length is a variable or a constant."""

    array: Array
    length: Expr
    zeros: bool = True
    at: Location | None = field(default=None, compare=False)


AtomicOperation = Literal["add", "min", "max", "exch", "cas", "and", "or", "xor"]


@dataclass(frozen=True, slots=True)
class Atomic(Stmt):
    """An atomic read-modify-write. `result`: the old value."""

    op: AtomicOperation
    array: Array
    indices: tuple[Expr, ...]
    operands: tuple[Expr, ...]
    result: Var | None
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Print(Stmt):
    """One line of texts and numbers, on targets that can print."""

    parts: tuple[str | Expr, ...]
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Assert(Stmt):
    """An assertion. `text`: the statement as the user wrote it.

    It is removed for targets that do not check (see `remarks`).
    """

    condition: Expr
    text: str
    at: Location | None = field(default=None, compare=False)


Exchanged = Literal["sum", "scan", "before", "broadcast", "gather"]


@dataclass(frozen=True, slots=True)
class Exchange(Stmt):
    """What the members of a group of `size` threads tell each other, in the setup of a schedule.

    operands: this member's number; for `broadcast` also the rank whose number it gets.
    result: the sum of all; of the ranks up to this one (`scan`) or below it (`before`); the number of that rank.
    `gather`: `result` stands for all numbers, which `Peer` reads.
    """

    op: Exchanged
    size: int
    operands: tuple[Var, ...]
    result: Var
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class If(Stmt):
    condition: Expr
    then: Block
    otherwise: Block = ()
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class While(Stmt):
    """A while loop. Each iteration runs `before`, which computes what `condition` reads."""

    before: Block
    condition: Expr
    body: Block
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class For(Stmt):
    """`for var in range(start, stop, step)`. `kind`: lanes are independent, atoms are a serial walk."""

    var: Var
    start: Expr
    stop: Expr
    step: Expr
    body: Block
    kind: Literal["range", "lanes", "atoms"] = "range"
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Break(Stmt):
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Continue(Stmt):
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Yield(Stmt):
    """What a generator method of a schedule gives to the engine: one position, or a range's start, stop and step.

    The engine's code for a tile, or for an atom, stands in its place.
    """

    over: tuple[Expr, ...]
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Inline:
    """A piece of code with parameters: run `body` with values for `params`, then read `results`."""

    params: tuple[Var, ...]
    body: Block
    results: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class LayoutCode:
    """The functions of a layout that an engine needs, as IR."""

    name: str
    num_tiles: Inline
    num_atoms: Inline
    begin: Inline
    end: Inline
    masked: bool
    items: bool = False  # whether its tiles are the items of the layout at the loop's path


Reduction = Literal[
    "sum", "product", "min", "max", "all", "any", "&", "|", "^", "argmin", "argmax", "first", "reduce"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One associative, commutative reduction, over the atoms of a tile or over all tiles.

    fields: the variables that hold the result after the loop (argmin and argmax: value, atom). A local array is one
    field, whose elements are reduced one by one.
    identity: what each field holds before the first contribution.
    combine: for `reduce`, the user's function on (a's fields, b's fields).
    """

    op: Reduction
    fields: tuple[Var, ...]
    identity: tuple[Expr, ...]
    combine: Inline | None = None
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Accumulate(Stmt):
    """A contribution to an accumulator. index: of the element, if that is a local array; a variable or a constant."""

    accumulator: Accumulator
    values: tuple[Expr, ...]
    index: Expr | None = None
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Scan(Stmt):
    """Set `results` to what the tile's atoms before this one have contributed; this one, too, unless `exclusive`.

    The accumulator's fields hold the running values of the pass. Its operation need not be commutative.
    """

    accumulator: Accumulator
    values: tuple[Expr, ...]
    results: tuple[Var, ...]
    exclusive: bool
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Pass(Stmt):
    """One walk over the atoms of the current tile. After it the accumulators' fields hold the results.

    of: if the loop is over items, the pass walks an item's tiles, which are those of this layout. Passes in its body
    then walk the atoms of the tile `atom`.
    """

    atom: Var
    accumulators: tuple[Accumulator, ...]
    body: Block
    at: Location | None = field(default=None, compare=False)
    of: LayoutCode | None = None


@dataclass(frozen=True, slots=True)
class Push(Stmt):
    """A task is made. values: those of its fields, in the order of the columns.

    body: what appends it to the list that is walked next, for targets and schedules that do not hand out tasks while
    they are made.
    """

    values: tuple[Expr, ...]
    body: Block
    at: Location | None = field(default=None, compare=False)


EFFECTS = Store | Atomic | Print | Assert  # statements that must run exactly once, in their place
