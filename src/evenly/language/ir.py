"""The typed program: what a kernel means once its argument types are known.

Every node of the intermediate representation is declared here. Layouts, tuples and function
calls have been resolved: only scalars, flat arrays and loops are left, so that a target has
little to handle. Nodes are frozen; `Var` is compared by identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .diagnostics import Location, Span
from .types import BOOL, POS, WEAK_INT, Scalar

Path = tuple[str, ...]


# ---- what a program refers to ------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Array:
    """An array argument, or an array field of a layout argument (`path` leads to it).

    `ids`: whether its integers are ids (a layout's index array), which are weak; otherwise they are data.
    `grows`: whether it is of a frontier. Kernels then read one part of it, and store into another.
    `staged`: the name of the copy of a part of it that is read where that is near; "" for the array itself.
    `own`: whether it is a scratch array: each tile that is being run has one of its own.
    `of_call`: whether it is of a frontier or of a set of tasks, on which no other call works at the same time.
    """

    name: str
    dtype: Scalar
    ndim: int
    path: Path
    ids: bool = False
    grows: bool = False
    staged: str = ""
    own: bool = False
    of_call: bool = False


class Expr:
    __slots__ = ()
    type: Scalar


@dataclass(frozen=True, slots=True)
class Const(Expr):
    value: Any  # a bool, an int, a float or a complex, according to `type`
    type: Scalar


@dataclass(eq=False, slots=True)
class Var(Expr):
    """A local variable. Statements assign it; as an expression it is read.

    length: of a local array, whose elements have the type `type`; 0: the variable is a number.
    """

    name: str
    type: Scalar
    length: int = 0

    def __repr__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True, slots=True)
class Param(Expr):
    """A scalar argument, or an integer field of a layout argument."""

    name: str
    type: Scalar
    path: Path


@dataclass(frozen=True, slots=True)
class Extent(Expr):
    """The length of one axis of an array."""

    array: Array
    axis: int
    type: Scalar = WEAK_INT


@dataclass(frozen=True, slots=True)
class Element(Expr):
    """A read of one element. `once`: whether it is indexed by the atom itself, so read once (streaming)."""

    array: Array
    indices: tuple[Expr, ...]
    type: Scalar
    once: bool = False
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Item(Expr):
    """A read of one element of a local array. The index is a variable or a constant, and within the array."""

    array: Var
    index: Expr
    type: Scalar


@dataclass(frozen=True, slots=True)
class Within(Expr):
    """The index of an element of a local or scratch array, the user's `name`. Targets that check look at its bounds.

    length: of a local array; that of a scratch array is a variable or a constant.
    """

    index: Expr
    length: int | Expr
    name: str
    type: Scalar
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    op: str  # - ~ not
    operand: Expr
    type: Scalar


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """An operation whose operands have the node's type (except the shift count and the exponent of `**`)."""

    op: str
    left: Expr
    right: Expr
    type: Scalar
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Compare(Expr):
    op: str
    left: Expr
    right: Expr
    type: Scalar = BOOL


@dataclass(frozen=True, slots=True)
class Logic(Expr):
    """Short-circuit `and` / `or` of two truth values."""

    op: str
    left: Expr
    right: Expr
    type: Scalar = BOOL


@dataclass(frozen=True, slots=True)
class Select(Expr):
    """`then if condition else otherwise`; only the chosen side is evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr
    type: Scalar


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    operand: Expr
    type: Scalar


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """An intrinsic of the table in `intrinsics`, on arguments of the types that it takes."""

    name: str
    arguments: tuple[Expr, ...]
    type: Scalar


@dataclass(frozen=True, slots=True)
class Processor(Expr):
    """A property of the processor that runs a schedule.

    what: thread_index, thread_count, group_index, group_count, group_rank. `size`: the group's.
    """

    what: str
    size: int = 1
    type: Scalar = POS


@dataclass(frozen=True, slots=True)
class Peer(Expr):
    """The number of the member `index` of a group, of those that an Exchange with the result `of` has gathered."""

    of: Var
    size: int
    index: Expr
    type: Scalar = POS
    at: Location | None = field(default=None, compare=False)


# ---- statements ----------------------------------------------------------------------------
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


# ---- programs --------------------------------------------------------------------------------
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
    source_at: Location | None = field(default=None, compare=False)
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
