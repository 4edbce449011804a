"""The state of lowering: the names in scope, the block being written, the loops around it.

Variables are mutable in the IR, as in the targets. A name keeps its variable as long as
its type stays the same. A value of another type gets a new variable, so that straight-line
code has Python's own types. Where paths meet (the end of an `if`, the top of a loop) the
values are assigned to one variable of their common type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .. import ir
from ..diagnostics import Location, Span, refuse
from ..syntax import Expr as Expression
from ..types import POS, WEAK_INT, Scalar, promote
from .arithmetic import cast, fitted
from .values import Forbidden, LayoutValue, LocalArray, Value, describe

if TYPE_CHECKING:
    from .emits import Counting, Emitting


class Namer:
    """Makes names that are unique in a program. Each target decides how to spell them."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def fresh(self, name: str) -> str:
        candidate, n = name, 0
        while candidate in self.used:
            n += 1
            candidate = f"{name}_{n}"
        self.used.add(candidate)
        return candidate


@dataclass
class Loop:
    """A serial loop being lowered: its carried variables, and the types that they turned out to need."""

    carried: dict[str, tuple[ir.Var, ...]]
    needed: dict[str, tuple[Scalar, ...]]
    shapes: dict[str, Value]  # what each name was at the top
    assigned: dict[str, Location]
    kind: str = "while"
    lost: dict[str, Forbidden] = field(
        default_factory=dict
    )  # names that have no value at the end of the body


@dataclass
class Walk:
    """The loop over atoms being lowered. `accumulators`: by the user's names.

    `again`: whether it is in a serial loop, whose iterations follow each other.
    `conditional`: how many conditions are around it.
    """

    atom: ir.Var
    again: bool = False
    conditional: int = 0
    accumulators: list[Any] = field(default_factory=list)
    counting: Counting | None = None


@dataclass
class Tiles:
    """The loop over tiles being lowered. item: the loop over items that it is in."""

    layout: LayoutValue
    position: ir.Var
    id: Value
    accumulators: list[Any] = field(default_factory=list)
    emitting: Emitting | None = None
    item: Tiles | None = None


@dataclass
class Context:
    captured: Mapping[str, Any]
    local: frozenset[str] = (
        frozenset()
    )  # the names that this function assigns somewhere: they hide captured ones
    namer: Namer = field(default_factory=Namer)
    env: dict[str, Value] = field(default_factory=dict)
    block: list[ir.Stmt] = field(default_factory=list)
    owned: set[int] = field(
        default_factory=set
    )  # id() of the variables that this function may assign in place
    loop: Loop | None = None
    walk: Walk | None = None
    tiles: Tiles | None = None
    positions: bool = False  # in a layout's or schedule's method: integers are as wide as positions
    schedule: bool = False
    generator: bool = False  # in a schedule's method that may yield
    setup: bool = False  # in a schedule's setup, where groups may exchange numbers
    top_level: bool = False  # between the statements of the kernel itself
    foreign: tuple[LayoutValue, ...] = ()  # layouts of which another tile's atoms are being walked
    pure: str = ""  # why effects are refused here; "" if they are not
    statement: Expression | None = (
        None  # the last one that was a statement: a function called so may have effects
    )
    in_lanes: bool = False
    counts: bool = False  # the program counts what tiles emit, and has no other effects
    emits: bool = False  # the program emits, or counts what would be emitted
    changing: ir.Path = ()  # the layout whose own method is being inlined that may change its arrays
    lengths: dict[ir.Path, ir.Expr] = field(default_factory=dict)  # of scratch arrays
    promised: set[ir.Var] = field(default_factory=set)  # distinct in the innermost loop around
    ended: bool = False  # the rest of this block is unreachable
    calls: tuple[str, ...] = ()
    at: Location | None = None  # the code being lowered; emitted statements get this location

    # ---- bounds ----------------------------------------------------------------------------
    # The upper bounds of ids: each stays below this attribute of this layout.
    _bounds: dict[int, tuple[ir.Expr, ir.Path, str]] = field(default_factory=dict)
    requirements: set[ir.Requirement] = field(default_factory=set)
    conditional: int = 0  # how many conditions are around the code being lowered

    def below(self, e: Value, layout: LayoutValue, bound: str) -> Value:
        """Note that `e` is an id that stays below `layout.bound`."""
        if isinstance(e, ir.Expr):
            self._bounds[id(e)] = e, layout.path, bound
        return e

    def require(self, array: ir.Array, axis: int, index: ir.Expr) -> None:
        """Note that `array` is indexed by `index`. If that is an id, the array must be long enough for all such ids.

        Nothing is noted under a condition, because the kernel may be checking the length itself.
        """
        if id(index) in self._bounds and len(array.path) == 1 and not self.conditional:
            _, layout, bound = self._bounds[id(index)]
            self.requirements.add(ir.Requirement(array.path, axis, layout, bound))

    # ---- types, for the reference ----------------------------------------------------------
    sites: tuple[Span, ...] = ()  # the calls that lead to the code being lowered
    meets: dict[ir.Meet, ir.Types] = field(default_factory=dict)

    def note(self, at: Location, value: Value, name: str = "") -> None:
        """Note the types that `value` (of `name`) has from `at` on, whichever path is taken.

        If code is lowered again with different types, the note is None: the reference keeps the path's own type.
        """
        key, types = (self.sites, at.place, name), types_of(value)
        self.meets[key] = types if self.meets.get(key, types) == types else None

    # ---- constants of types that turn out later ----------------------------------------------
    _fitted: list[tuple[ir.Expr, Scalar, Location]] = field(default_factory=list)

    def fit(self, e: ir.Expr, t: Scalar, at: Location | None) -> ir.Expr:
        """Convert `e` to `t`, which may change when a loop is lowered again. `check_fits` then checks that it fits."""
        if at is not None and isinstance(e, ir.Const):
            self._fitted.append((e, t, at))
        return cast(e, t)

    def check_fits(self) -> None:
        """Refuse the first constant that does not fit into its final type."""
        for e, t, at in self._fitted:
            fitted(e, t, at)

    # ---- writing -----------------------------------------------------------------------
    def emit(self, statement: ir.Stmt) -> None:
        if self.counts and isinstance(statement, ir.EFFECTS):
            if isinstance(statement, ir.Atomic) and statement.result is not None:
                zero = ir.Const(statement.result.type.dtype.type(0).item(), statement.result.type)
                self.emit(ir.Assign(statement.result, zero, statement.at))
            return
        self.block.append(statement if statement.at else replace(statement, at=self.at))  # type: ignore[type-var]

    @contextmanager
    def standing(self, at: Location) -> Iterator[None]:
        """Give statements emitted in this context the location `at`; in a layout's method, that of its call."""
        outer = self.at
        if outer is None or not self.positions:
            self.at = at
        try:
            yield
        finally:
            self.at = outer

    def variable(self, name: str, type_: Scalar) -> ir.Var:
        var = ir.Var(self.namer.fresh(name), type_)
        self.owned.add(id(var))
        self._keep.append(var)
        return var

    _keep: list[ir.Var] = field(default_factory=list)  # so that no id() is ever reused

    def assign(self, name: str, value: ir.Expr) -> ir.Var:
        """Assign `value` to a new variable."""
        var = self.variable(name, value.type)
        self.emit(ir.Assign(var, value))
        if id(value) in self._bounds:
            self._bounds[id(var)] = var, *self._bounds[id(value)][1:]
        return var

    @contextmanager
    def without_effects(self, why: str) -> Iterator[None]:
        """Refuse effects in this context, because Python might not run this code."""
        outer, self.pure = self.pure, self.pure or why
        try:
            yield
        finally:
            self.pure = outer

    @contextmanager
    def writing(self) -> Iterator[list[ir.Stmt]]:
        """Write into a new block. Names bound in it stay bound (unlike in `branch`)."""
        outer, self.block = self.block, []
        ended, self.ended = self.ended, False
        try:
            yield self.block
        finally:
            self.block, self.ended = outer, ended

    # ---- names -------------------------------------------------------------------------
    def bind(self, name: str, value: Value, at: Location) -> None:
        """Bind a name: `name = value`."""
        if isinstance(value, tuple):
            self.env[name] = tuple(self._copy(name, item, at) for item in value)
            return
        if not isinstance(value, ir.Expr):
            if isinstance(value, Forbidden):
                refuse(at, value.message, value.hint)
            self.env[name] = value
            return
        current = self.env.get(name)
        if isinstance(current, ir.Var) and id(current) in self.owned and current.type == value.type:
            self.emit(ir.Assign(current, value))
        else:
            self.env[name] = self._copy(name, value, at)

    def _copy(self, name: str, value: Value, at: Location) -> Value:
        if isinstance(value, tuple):
            return tuple(self._copy(name, item, at) for item in value)
        if isinstance(value, ir.Const) or not isinstance(value, ir.Expr):
            return value
        if isinstance(value, ir.Var) and id(value) not in self.owned:
            return value  # it never changes: under another name, a tile or atom is the same one
        return self.assign(name, value)

    def snapshot(self) -> tuple[Any, ...]:
        return (
            dict(self.env), set(self.owned), set(self.namer.used), dict(self.meets), self.ended,
            len(self._fitted),
        )  # fmt: skip

    def restore(self, saved: tuple[Any, ...]) -> None:
        env, owned, used, meets, self.ended, fits = saved
        del self._fitted[fits:]
        self.env, self.owned, self.namer.used = dict(env), set(owned), set(used)
        self.meets = dict(meets)

    # ---- where paths meet ----------------------------------------------------------------
    def branch(self, lower: Callable[[], Any]) -> Branch:
        """Lower one side of an `if` from the present state, and restore the state."""
        env = dict(self.env)
        self.conditional += 1
        with self.writing() as block:
            result = lower()
            ended = self.ended
        self.conditional -= 1
        made = Branch(block, self.env, ended, result)
        self.env = env
        return made

    def merge(self, a: Branch, b: Branch, at: Location) -> None:
        """Merge the names of both sides after an `if`."""
        self.ended = a.ended and b.ended
        if a.ended or b.ended:
            self.env = b.env if a.ended else a.env
            return
        names = [*a.env, *(name for name in b.env if name not in a.env)]
        self.env = {name: self._met(name, a, b, at) for name in names}

    def _met(self, name: str, a: Branch, b: Branch, at: Location) -> Value:
        if name not in a.env or name not in b.env:
            return Forbidden(
                f"{name} has no value on every path to here",
                "assign it before the if, or in both branches",
            )
        return self.meet(name, a.env[name], b.env[name], a, b)

    def meet(self, name: str, x: Value, y: Value, a: Branch, b: Branch) -> Value:
        """Return one value for `x` at the end of `a` and `y` at the end of `b`."""
        if x is y or (isinstance(x, ir.Const) and x == y and repr(x) == repr(y)):
            return x
        if isinstance(x, tuple) and isinstance(y, tuple) and len(x) == len(y):
            return tuple(self.meet(name, i, j, a, b) for i, j in zip(x, y, strict=True))
        if not (isinstance(x, ir.Expr) and isinstance(y, ir.Expr)):
            if isinstance(x, Forbidden) or isinstance(y, Forbidden):
                return x if isinstance(x, Forbidden) else y
            if x == y:
                return x
            if isinstance(x, LocalArray) and isinstance(y, LocalArray):
                said = f"{name} is another local array on each path to here"
                return Forbidden(said, "make it before the if")
            return Forbidden(f"{name} is {describe(x)} on one path and {describe(y)} on the other")
        var = self.variable(name, promote(x.type, y.type))
        for branch, v in ((a, x), (b, y)):
            branch.block.append(ir.Assign(var, self.fit(v, var.type, self.at), self.at))
        return var


@dataclass
class Branch:
    block: list[ir.Stmt]
    env: dict[str, Value]
    ended: bool
    result: Any


def leaves(value: Value) -> tuple[ir.Expr, ...]:
    """Return the numbers in a value, or () if it has none, or has other things in it."""
    if isinstance(value, ir.Expr):
        return (value,)
    if isinstance(value, tuple):
        return tuple(leaf for item in value for leaf in leaves(item))
    return ()


def types_of(value: Value) -> ir.Types:
    """Return the types of the numbers in a value, in its shape."""
    if isinstance(value, ir.Expr):
        return WEAK_INT if value.type is POS else value.type
    return tuple(map(types_of, value)) if isinstance(value, tuple) else None


def same_shape(a: Value, b: Value) -> bool:
    """Whether both are numbers, or tuples of equal shape."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_shape, a, b))
    return isinstance(a, ir.Expr) and isinstance(b, ir.Expr)


def rebuild(value: Value, new: Iterator[ir.Expr]) -> Value:
    """Return `value` with its numbers replaced, in order."""
    if isinstance(value, ir.Expr):
        return next(new)
    if isinstance(value, tuple):
        return tuple(rebuild(item, new) for item in value)
    return value
