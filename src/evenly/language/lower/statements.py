"""Lower statements: assignments, stores and branches. Loops are in `loops`, `reductions` and `tiles`."""

from __future__ import annotations

from .. import ir, walk
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import INT64, Scalar
from ..walk import subexpressions
from . import (
    accumulators,
    expressions,
    item_accumulators,
    local_arrays,
    loops,
    remarks,
    scratch,
    subscripts,
)
from .arithmetic import binary, cast, in_range
from .context import Context, leaves
from .values import (
    LayoutValue,
    LocalArray,
    ScratchArray,
    Static,
    Task,
    Value,
    counted,
    describe,
    spoken,
)


def block(cx: Context, statements: tuple[s.Stmt, ...]) -> None:
    for statement in statements:
        if cx.ended:
            return
        lower(cx, statement)


def lower(cx: Context, node: s.Stmt) -> None:
    with cx.standing(node.at):
        _lower(cx, node)


def _lower(cx: Context, node: s.Stmt) -> None:
    match node:
        case s.Assign() | s.Update() if accumulators.contributes(cx, node):
            accumulators.contribute(cx, node)
        case s.Assign() | s.Update() if item_accumulators.contributes(cx, node):
            item_accumulators.contribute(cx, node)
        case s.Assign(targets=targets, value=right):
            stored = all(isinstance(t, s.Subscript) for t in targets)
            assign(cx, targets, expressions.value(cx, right, large=stored), node.at)
        case s.Update():
            update(cx, node)
        case s.Evaluate(value=expression):
            evaluate(cx, expression)
        case s.Print() | s.Assert():
            remarks.lower(cx, node)
        case s.If():
            branch(cx, node)
        case s.While():
            loops.lower_while(cx, node)
        case s.For():
            loops.lower_for(cx, node)
        case s.Break() | s.Continue():
            loops.leave(cx, node)
        case s.Yield():
            loops.lower_yield(cx, node)
        case s.Return():
            refuse(
                node.at, "return inside a kernel", "a kernel stores its results into output arrays"
            )


def evaluate(cx: Context, expression: s.Expr) -> None:
    cx.statement = expression
    v = expressions.value(cx, expression)
    if not isinstance(expression, s.Call):
        refuse(expression.at, "an expression whose value is not used", "assign it or store it")
    if isinstance(v, ir.Expr) and not isinstance(v, ir.Var):
        refuse(
            expression.at,
            "a call whose value is not used",
            "assign the result; a function that acts returns nothing",
        )


# ---- assignment ------------------------------------------------------------------------------
def assign(cx: Context, targets: tuple[s.Expr, ...], v: Value, at: Location) -> None:
    if len(targets) > 1 and isinstance(v, ir.Expr) and not isinstance(v, ir.Const):
        v = cx.assign("value", v)
    for target in targets:
        _assign(cx, target, v, at)


def _assign(cx: Context, target: s.Expr, v: Value, at: Location) -> None:
    match target:
        case s.Name(name=name):
            if isinstance(v, Static) and v.object is None:
                refuse(
                    at,
                    "None is not a value of the kernel language",
                    "a function that is called for a value must return one",
                )
            if isinstance(v, LocalArray):
                local_arrays.named(cx, v, name, at)
                return
            if isinstance(v, ScratchArray):
                scratch.named(cx, v, name, at)
                return
            local_arrays.check_tuple(v, at)
            if isinstance(v, ir.Array | LayoutValue) and cx.loop is not None and name in cx.env:
                refuse(at, f"{name} becomes {describe(v)} inside a loop")
            cx.bind(name, v, at)
        case s.TupleOf(items=items):
            _unpack(cx, items, v, at)
        case s.Subscript():
            store(cx, target, v, at)
        case _:
            refuse(target.at, "this cannot be assigned to")


def _unpack(cx: Context, items: tuple[s.Expr, ...], v: Value, at: Location) -> None:
    if not isinstance(v, tuple):
        refuse(at, f"{describe(v)} cannot be unpacked into {counted(len(items), 'name')}")
    if len(v) != len(items):
        refuse(at, f"a tuple of {len(v)} cannot be unpacked into {counted(len(items), 'name')}")
    if _overlap(cx, items, v):  # all values before the first assignment: `a, b = b, a` swaps
        v = tuple(
            cx.assign("value", x) if isinstance(x, ir.Expr) and not isinstance(x, ir.Const) else x
            for x in v
        )
    for item, x in zip(items, v, strict=True):
        _assign(cx, item, x, at)


def _overlap(cx: Context, items: tuple[s.Expr, ...], values: tuple[Value, ...]) -> bool:
    """Whether an assignment to one of `items` could change another's value."""
    names = [i.name for i in items if isinstance(i, s.Name)]
    if len(names) < len(items):
        return True
    targets = {
        leaf for n in names for leaf in leaves(cx.env.get(n, ())) if isinstance(leaf, ir.Var)
    }
    return any(
        part in targets
        for x in values
        for leaf in leaves(x)
        for part in subexpressions(leaf)
        if isinstance(part, ir.Var)
    )


def bind_loop(cx: Context, target: s.Expr, v: Value) -> None:
    """Bind a loop's target to the loop's own variable, not to a copy, so that it is recognised as an index."""
    if isinstance(target, s.Name):
        cx.env[target.name] = v
        return
    if not isinstance(target, s.TupleOf) or not isinstance(v, tuple) or len(v) != len(target.items):
        refuse(target.at, f"{describe(v)} cannot be unpacked here")
    for item, x in zip(target.items, v, strict=True):
        bind_loop(cx, item, x)


def update(cx: Context, node: s.Update) -> None:
    if isinstance(node.target, s.Name):
        before = expressions.number(cx, node.target)
        by = expressions.number(cx, node.value, large=True)
        after = binary(node.op, before, by, node.at, cx.positions)
        cx.bind(node.target.name, in_range(after, INT64, node.at), node.at)
        return
    if not isinstance(node.target, s.Subscript):
        refuse(node.target.at, "this cannot be updated")
    base = expressions.value(cx, node.target.base)
    if isinstance(base, LocalArray):
        update_item(cx, base, node.target, node)
        return
    array = _stored_array(cx, base, node.target)
    indices = _held(cx, subscripts.array_indices(cx, array, node.target))
    old = subscripts.read(array, indices, False, node.target.at)
    mark = len(cx.block)
    right = expressions.number(cx, node.value, large=True)
    new = binary(node.op, _read_before(cx, old, mark), right, node.at)
    cx.emit(ir.Store(array, indices, convert(array, new, node.at), node.at))


def _held(cx: Context, indices: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    return tuple(i if isinstance(i, ir.Var | ir.Const) else cx.assign("at", i) for i in indices)


# ---- stores ------------------------------------------------------------------------------------
def _stored_array(cx: Context, array: Value, target: s.Subscript) -> ir.Array:
    if not isinstance(array, ir.Array):
        refuse(target.at, f"{describe(array)} cannot be stored into", "an array argument can")
    if len(array.path) > 1 and array.path[:-1] != cx.changing and not array.own:
        refuse(
            target.at,
            f"{spoken(array)} belongs to a layout, which is read-only",
            "pass the array as an argument of its own",
        )
    if array.staged:
        refuse(target.at, f"a store into a copy of {spoken(array)}", "ev.stage is for reading")
    if cx.pure:
        refuse(target.at, f"a store {cx.pure}", "store in the kernel itself")
    return array


def store(cx: Context, target: s.Subscript, v: Value, at: Location) -> None:
    base = expressions.value(cx, target.base)
    if isinstance(base, LocalArray):
        store_item(cx, base, target, v, at)
        return
    array = _stored_array(cx, base, target)
    mark = len(cx.block)
    indices = subscripts.array_indices(cx, array, target)
    v = _read_before(cx, expressions.as_number(v, at), mark)
    value = convert(array, v, at)
    constant = walk.is_constant(value)
    tells = cx.walk is not None and not cx.walk.again and not constant
    # A task stores where those that made it may have stored something else, and nobody else stores.
    alone = cx.tiles is not None and isinstance(cx.tiles.id, Task) and not constant
    alone = alone or any(_promised(cx, i) for i in indices)
    atom = cx.walk.atom if cx.walk and tells and not alone else None
    cx.emit(ir.Store(array, indices, value, at, atom, alone))


def _promised(cx: Context, index: ir.Expr) -> bool:
    """Whether the kernel says that the index is distinct."""
    while isinstance(index, ir.Cast | ir.Within):
        index = index.operand if isinstance(index, ir.Cast) else index.index
    return index in cx.promised


def store_item(cx: Context, array: LocalArray, target: s.Subscript, v: Value, at: Location) -> None:
    """Lower `h[i] = v` for a local array, where it is an ordinary array."""
    local_arrays.check_store(cx, array, target.at)
    mark = len(cx.block)
    index = local_arrays.index_of(cx, array, target)
    e = _read_before(cx, expressions.as_number(v, at), mark)
    cx.emit(ir.SetItem(array.var, index, converted(e, array.var.type, array.name, at), at))


def update_item(cx: Context, array: LocalArray, target: s.Subscript, node: s.Update) -> None:
    local_arrays.check_store(cx, array, target.at)
    index = local_arrays.index_of(cx, array, target)
    old = cx.assign("item", ir.Item(array.var, index, array.var.type))
    new = binary(node.op, old, expressions.number(cx, node.value), node.at, cx.positions)
    value = converted(new, array.var.type, array.name, node.at)
    cx.emit(ir.SetItem(array.var, index, value, node.at))


def _read_before(cx: Context, e: ir.Expr, mark: int) -> ir.Expr:
    """Return `e` as it was before the statements from `mark` on: atomics may have changed what it reads."""
    changed = {
        s_.array for s_ in walk.statements(tuple(cx.block[mark:])) if isinstance(s_, ir.Atomic)
    }
    if not any(isinstance(x, ir.Element) and x.array in changed for x in subexpressions(e)):
        return e
    var = cx.variable("read", e.type)
    cx.block.insert(mark, ir.Assign(var, e, cx.at))
    return var


def convert(array: ir.Array, v: ir.Expr, at: Location) -> ir.Expr:
    """Convert `v` to an element of `array`."""
    return converted(v, array.dtype, spoken(array), at)


def converted(v: ir.Expr, t: Scalar, name: str, at: Location) -> ir.Expr:
    """Convert `v` to an element. A float does not silently become an integer, nor a complex number real."""
    if v.type.is_complex and not t.is_complex:
        hint = "store its z.real, z.imag or abs(z)"
        refuse(at, f"{v.type.spoken} stored into {name} of {t}", hint)
    if v.type.is_float and not t.is_inexact:
        hint = "convert it: int(x) truncates"
        refuse(at, f"{v.type.spoken} stored into {name} of {t}", hint)
    if t.is_bool and not v.type.is_bool:
        refuse(at, f"{v.type.spoken} stored into {name} of bool", "compare it: x != 0")
    return cast(in_range(v, t, at), t)


# ---- branches ----------------------------------------------------------------------------------
def branch(cx: Context, node: s.If) -> None:
    test = expressions.condition(cx, node.condition)
    if isinstance(test, ir.Const):
        block(cx, node.then if test.value else node.otherwise)
        return
    a = cx.branch(lambda: block(cx, node.then))
    b = cx.branch(lambda: block(cx, node.otherwise))
    cx.merge(a, b, node.at)
    if not node.last:
        for name in s.assigned((node,)):
            if name in cx.env:  # it may be assigned only under an `if` that is decided
                cx.note(node.at, cx.env[name], name)
    cx.emit(ir.If(test, tuple(a.block), tuple(b.block)))
