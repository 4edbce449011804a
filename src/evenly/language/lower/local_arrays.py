"""Local arrays: `h = ev.local(8, np.int32)` makes a small array of the tile's own.

It is read and stored in any order, except in loops over atoms (see `item_accumulators`). An element that is read is put
into a variable at once, so no expression holds an old one.
"""

from __future__ import annotations

from .. import ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..intrinsics import CONVERSIONS
from ..types import DATA_TYPES, POS, Scalar
from . import expressions
from .arithmetic import cast, constant
from .context import Context
from .values import LocalArray, ScratchArray, Static, Value, counted, describe

MOST = 1024  # bytes of a local array: it lives in the registers and the stack of one thread
SERIAL = "for k in range(A.begin(row), A.end(row))"
HINT = f"one operation on its elements: +=, *=, &=, |=, ^=, min, max; a serial loop may do anything: {SERIAL}"
# What NumPy takes Python's types for.
_PYTHON = {"int": "int64", "float": "float64", "complex": "complex128"}


def make(cx: Context, node: s.Call) -> LocalArray:
    """Lower `ev.local(n, type)`. Its elements are zero."""
    if node.keywords or len(node.arguments) != 2:
        refuse(node.at, "ev.local takes a length and a type", "ev.local(8, np.float32)")
    check_tile(cx, node, "ev.local", "a local array")
    check_before_atoms(cx, node, "ev.local", "a local array")
    length, t = _length(cx, node.arguments[0]), type_of(cx, node.arguments[1], "ev.local")
    size = length * t.dtype.itemsize
    if size > MOST:
        refuse(
            node.at,
            f"a local array of {size:,} bytes",
            f"at most {MOST:,}; a larger one is an argument of the kernel, with a row for each tile",
        )
    var = ir.Var(cx.namer.fresh("local"), t, length)
    cx.emit(ir.Assign(var, cast(constant(False if t.is_bool else 0), t)))
    return LocalArray(var, cx.calls)


def check_tile(cx: Context, node: s.Call, call: str, made: str) -> None:
    """Check that a call that makes an array of the tile's own is in a loop over tiles."""
    if cx.tiles is None or cx.positions:
        refuse(
            node.at,
            f"{call} outside a loop over tiles",
            f"{made} belongs to a tile: make it in the loop; arrays for all tiles are arguments",
        )


def check_before_atoms(cx: Context, node: s.Call, call: str, made: str) -> None:
    """Check that it is in no loop over atoms."""
    if cx.walk is not None:
        refuse(
            node.at,
            f"{call} in a loop over atoms",
            f"{made} belongs to a tile: make it before the loop",
        )


def _length(cx: Context, node: s.Expr) -> int:
    n = expressions.value(cx, node)
    if not isinstance(n, ir.Const) or not n.type.is_integer:
        refuse(
            node.at,
            "the length of ev.local must be an integer that is known when the kernel is compiled",
            "a literal or a captured number; an array of another length is an argument of the kernel",
        )
    if n.value < 1:
        refuse(node.at, f"a local array of {counted(int(n.value), 'element')}", "1 or more")
    return int(n.value)


def type_of(cx: Context, node: s.Expr, made_by: str) -> Scalar:
    """Return the type of an array's elements that `made_by`, such as ev.local, is given."""
    given = expressions.value(cx, node)
    known = isinstance(given, Static) and getattr(type(given.object), "__hash__", None) is not None
    name = CONVERSIONS.get(given.object) if known and isinstance(given, Static) else None
    if name is None:
        refuse(
            node.at,
            f"{describe(given)} as the type of {made_by}",
            "a type of numbers: np.int32, np.float32 and the like",
        )
    return DATA_TYPES[_PYTHON.get(name, name)]


def named(cx: Context, array: LocalArray, name: str, at: Location) -> None:
    """Bind `name = array`. A local array has one name, by which loops over atoms know what they change."""
    if array.name:
        refuse(at, f"{name} would be a second name of {describe(array)}", f"use {array.name}")
    if cx.loop is not None and isinstance(cx.env.get(name), LocalArray):
        refuse(at, f"{name} becomes another local array in the loop", "give it another name")
    array.name = name
    cx.env[name] = array


def check_tuple(v: Value, at: Location) -> None:
    """Check that a value to bind is no tuple with a local array in it, or a scratch array without a name."""
    if isinstance(v, tuple):
        for item in v:
            if isinstance(item, LocalArray | ScratchArray):
                refuse(at, f"{describe(item)} in a tuple", "give it a name of its own")
            check_tuple(item, at)


def index_of(cx: Context, array: LocalArray, node: s.Subscript) -> ir.Expr:
    """Return the index of a subscript, in a variable or as a constant."""
    name, n = array.name, array.var.length
    if len(node.indices) != 1:
        refuse(node.at, f"{name} has 1 axis, got {len(node.indices)} indices")
    at = node.indices[0].at
    i = expressions.number(cx, node.indices[0])
    if not i.type.is_integer:
        refuse(at, f"{i.type.spoken} as an index", "indices are integers: int(x) truncates")
    if isinstance(i, ir.Const):
        if i.value < 0:
            refuse(at, "a negative index", f"count from the start: {n} - {-int(i.value)}")
        if i.value >= n:
            refuse(at, f"index {i.value} of {describe(array)}", f"it has {counted(n, 'element')}")
        return i
    return cx.assign("at", cast(ir.Within(i, n, name, i.type, at), POS))


def read(cx: Context, array: LocalArray, node: s.Subscript) -> ir.Expr:
    return cx.assign("item", ir.Item(array.var, index_of(cx, array, node), array.var.type))


def check_store(cx: Context, array: LocalArray, at: Location) -> None:
    """Refuse a store that is not where a local array is stored into like any array."""
    if cx.pure:
        refuse(at, f"a store {cx.pure}", "store in the kernel itself")
    if cx.calls != array.calls:
        refuse(at, f"a store into {describe(array)} in a function", "store where it is made")
    if cx.walk is not None:
        refuse(at, f"a store into {describe(array)} in a loop over atoms", HINT)


def check_lanes(cx: Context, body: tuple[s.Stmt, ...]) -> None:
    """Check that a loop over lanes stores into no local array from outside: lanes would share it."""
    for name, at in stored(cx, body).items():
        refuse(
            at,
            f"{name} is stored in a loop over lanes, which share it",
            "make it in the loop, or use range()",
        )


def stored(cx: Context, body: tuple[s.Stmt, ...]) -> dict[str, Location]:
    """Return the local arrays that a block stores into, with the place of the first store."""
    found: dict[str, Location] = {}
    for node in body:
        for target in targets_of(node):
            if isinstance(cx.env.get(target), LocalArray):
                found.setdefault(target, node.at)
        for block in s.blocks(node):
            for name, at in stored(cx, block).items():
                found.setdefault(name, at)
    return found


def targets_of(node: s.Stmt) -> list[str]:
    """Return the names of the arrays that a statement itself stores into."""
    targets: tuple[s.Expr, ...] = ()
    if isinstance(node, s.Assign):
        targets = tuple(x for t in node.targets for x in s.target_leaves(t))
    elif isinstance(node, s.Update):
        targets = (node.target,)
    bases = (t.base for t in targets if isinstance(t, s.Subscript))
    return [b.name for b in bases if isinstance(b, s.Name)]
