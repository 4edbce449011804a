"""The elements of local arrays as accumulators: a loop over atoms takes one operation on them.

`h[i] += v` contributes to an element of an array that starts anew in the loop, and is then combined with `h`. The whole
array takes the same operation, and the loop does not read it. So the order of atoms, and with it the schedule, makes no
difference.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from .. import combine, ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..spread import MOST_SPREAD
from ..types import POS, promote
from . import accumulators
from .accumulators import UPDATES, Accumulating, Contribution
from .arithmetic import unary
from .context import Context
from .local_arrays import HINT, index_of, stored, targets_of
from .values import LocalArray


@dataclass(frozen=True)
class AccumulatingArray(Accumulating):
    """A local array while its loop accumulates into its elements. Reading it is refused."""

    array: LocalArray | None = None


def contribution(node: s.Stmt, name: str) -> tuple[s.Subscript, Contribution] | None:
    """Return `node` as one step of an accumulation into an element of `name`, or None."""
    match node:
        case s.Update(target=s.Subscript(base=s.Name(name=base)) as target, op=op, value=value):
            if base == name and op in UPDATES:
                return target, Contribution(UPDATES[op], (value,), op == "-")
        case s.Assign(targets=(s.Subscript(base=s.Name(name=base)) as target,), value=value):
            step = accumulators.assigned_step(value, lambda e: s.alike(e, target))
            if base == name and step is not None:
                return target, step
    return None


def accumulating(cx: Context, body: tuple[s.Stmt, ...]) -> dict[str, ir.Reduction]:
    """Return the local arrays that a loop over atoms changes, each with its one operation."""
    found: dict[str, ir.Reduction] = {}
    for name, at in stored(cx, body).items():
        array = cx.env[name]
        assert isinstance(array, LocalArray)
        ops: dict[ir.Reduction, None] = {}
        _only_accumulates(name, body, ops)
        if len(ops) > 1:
            refuse(at, f"{name} is accumulated by {' and '.join(sorted(ops))}", HINT)
        (op,) = ops
        _check_type(array, op, at)
        found[name] = op
    return found


def _only_accumulates(name: str, body: tuple[s.Stmt, ...], ops: dict[ir.Reduction, None]) -> None:
    """Collect the operations on elements of `name`, and refuse any other use."""
    for node in body:
        step = contribution(node, name)
        if step is None and name in targets_of(node):
            _misused(name, node)
        read = s.expressions(node) if step is None else (*step[0].indices, *step[1].values)
        for e in read:
            place = s.reads(e, name)
            if place is not None:
                refuse(place.at, f"{name} is read in the loop over atoms that accumulates it", HINT)
        if step is not None:
            ops[step[1].op] = None
        for inner in s.blocks(node):
            _only_accumulates(name, inner, ops)


def _misused(name: str, node: s.Stmt) -> NoReturn:
    if isinstance(node, s.Update):
        refuse(node.at, f"an element of {name} is changed by {node.op}= in a loop over atoms", HINT)
    refuse(
        node.at,
        f"an element of {name} is assigned in the loop over atoms: the last one to write would win, and they have "
        "no order",
        HINT,
    )


def _check_type(array: LocalArray, op: ir.Reduction, at: Location) -> None:
    t = array.var.type
    if op in ("&", "|", "^") and t.is_inexact:
        refuse(at, f"'{op}' needs integers or truth values, and {array.name} holds {t}")
    if op in ("min", "max") and t.is_complex:
        refuse(at, f"{op} of {t.spoken}", "it takes real numbers: z.real, z.imag or abs(z)")
    if op in ("any", "all") and not t.is_bool:
        refuse(at, f"{array.name} holds {t}, and accumulates truth values", "make it of bool")
    if op in ("sum", "product") and t.is_bool:
        refuse(
            at,
            f"{array.name} holds bool, and adds up truth values",
            "make it of int32 to count them, or accumulate with or, and",
        )


def start(cx: Context, ops: dict[str, ir.Reduction]) -> list[AccumulatingArray]:
    """Let each local array of `ops` take contributions, until the environment is restored."""
    states = []
    for name, op in ops.items():
        array = cx.env[name]
        assert isinstance(array, LocalArray)
        t = array.var.type
        acc = _accumulator(cx, name, array, op, cx.at)
        said = f"{name} is read in the loop over atoms that accumulates it"
        state = AccumulatingArray(said, HINT, op, acc, [t], False, array)
        cx.env[name] = state
        states.append(state)
    return states


def _accumulator(
    cx: Context, name: str, array: LocalArray, op: ir.Reduction, at: Location | None
) -> ir.Accumulator:
    t = array.var.type
    part = ir.Var(cx.namer.fresh(name), t, array.var.length)
    return ir.Accumulator(op, (part,), (combine.identity(op, t),), at=at)


def partial(cx: Context, name: str, whole: AccumulatingArray) -> AccumulatingArray:
    """Return a tile's own part of an array that its item accumulates."""
    assert whole.array is not None and whole.accumulator is not None
    acc = _accumulator(cx, name, whole.array, whole.op, whole.accumulator.at)
    return replace(whole, accumulator=acc, grid=False)


def pass_on(cx: Context, part: AccumulatingArray, whole: AccumulatingArray) -> None:
    """Let the item accumulate what its tile has accumulated."""
    assert part.accumulator is not None and whole.accumulator is not None
    (array,) = part.accumulator.fields

    def one(i: ir.Expr) -> None:
        assert whole.accumulator is not None
        cx.emit(ir.Accumulate(whole.accumulator, (ir.Item(array, i, array.type),), i))

    _each_element(cx, array, one)


def contributes(cx: Context, node: s.Assign | s.Update) -> bool:
    return any(isinstance(cx.env.get(name), AccumulatingArray) for name in targets_of(node))


def contribute(cx: Context, node: s.Assign | s.Update) -> None:
    """Lower `h[i] += v` and the like for a local array `h` that accumulates."""
    (name,) = targets_of(node)
    state, step = cx.env[name], contribution(node, name)
    assert isinstance(state, AccumulatingArray) and step is not None
    array, acc, (target, made) = state.array, state.accumulator, step
    assert array is not None and acc is not None
    twice = "in an index that Python evaluates twice" if isinstance(node, s.Assign) else ""
    with cx.without_effects(twice):
        index = index_of(cx, array, target)
    for value in made.values:
        v = _contributed(cx, array, made, value)
        cx.emit(ir.Accumulate(acc, (v,), index))


def _contributed(cx: Context, array: LocalArray, step: Contribution, node: s.Expr) -> ir.Expr:
    """Return a contribution in the type of the elements, which does not follow that of the contributions."""
    t = array.var.type
    v = accumulators.contributed(cx, step, node)
    if promote(t, v.type) != t:
        hint = "int(x) truncates" if t.is_integer and v.type.is_float else f"np.{t}(x)"
        refuse(
            node.at,
            f"{v.type.spoken} accumulated into {array.name} of {t}",
            f"convert it: {hint}, or make {array.name} of a wider type",
        )
    v = cx.fit(v, t, node.at)
    return unary("-", v, node.at) if step.negated else v


def finish(cx: Context, states: list[AccumulatingArray]) -> None:
    """After the loop, combine each element with what it has accumulated."""
    for state in states:
        array, acc = state.array, state.accumulator
        assert array is not None and acc is not None
        _each_element(cx, array.var, functools.partial(_combine, cx, array.var, acc))


def _each_element(cx: Context, array: ir.Var, do: Callable[[ir.Expr], None]) -> None:
    """Write what is done at each index: one after the other for an array that is in registers, else in a loop."""
    if array.length * array.type.dtype.itemsize <= MOST_SPREAD:
        for i in range(array.length):
            do(ir.Const(i, POS))
        return
    first, last, step = (ir.Const(x, POS) for x in (0, array.length, 1))
    at = cx.variable("i", POS)
    with cx.writing() as body:
        do(at)
    cx.emit(ir.For(at, first, last, step, tuple(body)))


def _combine(cx: Context, array: ir.Var, acc: ir.Accumulator, i: ir.Expr) -> None:
    old, more = ir.Item(array, i, array.type), ir.Item(acc.fields[0], i, array.type)
    body, (total,) = combine.combined(acc, (old,), (more,))
    assert not body
    cx.emit(ir.SetItem(array, i, total))
