"""The values that a name can have while a kernel is lowered.

Only `ir.Expr` exists when the kernel runs. The other kinds are known at compile time and leave
no trace: tuples of values, arrays, layouts, functions, iterables, and the marks of names that
must not be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .. import ir
from ..diagnostics import Location
from ..types import Scalar


@dataclass(frozen=True, eq=False)
class LayoutValue:
    """A layout argument, or a layout held in a field of one: class, path and fields."""

    cls: type[Any]
    path: ir.Path
    fields: dict[str, Value]
    masked: bool

    @property
    def name(self) -> str:
        return ".".join(self.path)


@dataclass(eq=False)
class LocalArray:
    """A local array: the variable that holds it, and the one name that the user gave it ("" before that).

    calls: the functions that were being called when it was made.
    """

    var: ir.Var
    calls: tuple[str, ...]
    name: str = ""


@dataclass(eq=False)
class ScratchArray:
    """A scratch array that `name` is about to be bound to ("" before that). Then it is an ir.Array."""

    type: Scalar
    length: ir.Expr
    zeros: bool = True
    name: str = ""


@dataclass(frozen=True, eq=False)
class Task:
    """The task of a loop over the task set `of`. It is no number: T.field(t) and T.atoms(t) take it.

    fields: the variables that hold what is in its columns, by the names of the fields.
    """

    of: LayoutValue
    fields: dict[str, ir.Var]


@dataclass(frozen=True)
class Static:
    """A Python object that stands for itself: a function, a module, a type, None."""

    object: Any


@dataclass(frozen=True)
class Method:
    """A method of a layout, a schedule or a group, not yet called."""

    owner: LayoutValue | ScheduleValue | Group
    name: str


@dataclass(frozen=True)
class Conjugate:
    """`z.conjugate`, not yet called."""

    of: ir.Expr


@dataclass(frozen=True, eq=False)
class ScheduleValue:
    """`self` inside a schedule's methods. Its parameters are constants."""

    schedule: Any


@dataclass(frozen=True, eq=False)
class Group:
    """`ev.group(size)` in a schedule: index, count, rank and size of the group."""

    size: int


@dataclass(frozen=True)
class Gathered:
    """The numbers that the members of a group have gathered. `var`: the result of the exchange."""

    var: ir.Var
    size: int


@dataclass(frozen=True)
class Iterable:
    """`L.tiles()`, `L.atoms(tile)`, `ev.lanes(n)` or `range(...)`, over which a loop may run."""

    kind: Literal["tiles", "atoms", "lanes", "range"]
    layout: LayoutValue | None
    arguments: tuple[Value, ...]
    at: Location


@dataclass(frozen=True)
class Forbidden:
    """A name that is bound but must not be read here, and why."""

    message: str
    hint: str = ""


Value = (
    ir.Expr
    | ir.Array
    | LocalArray
    | ScratchArray
    | LayoutValue
    | Task
    | Static
    | Method
    | Conjugate
    | ScheduleValue
    | Group
    | Gathered
    | Iterable
    | Forbidden
    | tuple[Any, ...]
)


def spoken(array: ir.Array) -> str:
    """Return an array's name as the user writes it: A.values."""
    return array.name if array.own else ".".join(array.path)


def counted(n: int, thing: str) -> str:
    """Return a count with its noun: 1 argument, 2 arguments."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def describe(value: Value) -> str:
    """Describe a value in the user's words."""
    match value:
        case ir.Expr():
            return f"a number ({value.type.spoken.split()[1]})"
        case ir.Array(own=own):
            return f"the {'scratch ' if own else ''}array {spoken(value)}"
        case ScratchArray(name=name):
            return f"the scratch array {name}" if name else "a scratch array"
        case LocalArray(name=name):
            return f"the local array {name}" if name else "a local array"
        case LayoutValue():
            return f"the layout {value.name}"
        case Task():
            return "a task"
        case tuple():
            return f"a tuple of {len(value)}"
        case Iterable(kind=kind):
            return f"an iterable ({kind})"
        case Method(name=name):
            return f"the method {name}"
        case Conjugate():
            return "the method conjugate"
        case Gathered():
            return "the numbers of a group"
        case Static(object=None):
            return "None"
        case Static(object=thing):
            return f"{type(thing).__name__} {getattr(thing, '__name__', thing)!s}"
    return type(value).__name__.lower()
