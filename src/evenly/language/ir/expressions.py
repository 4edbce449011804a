"""What a program refers to (arrays, variables, numbers), and what is computed of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..diagnostics import Location
from ..types import BOOL, POS, WEAK_INT, Scalar

Path = tuple[str, ...]


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
