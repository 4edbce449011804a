"""Accumulators: names to which a loop over atoms or tiles only adds, by one operation.

An accumulator takes one associative, commutative operation, and its loop does not read it
otherwise. So the order of atoms, and with it the schedule, makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from .. import combine, ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import INT64, Scalar, promote
from . import expressions
from .arithmetic import cast, real, unary
from .context import Context, leaves
from .values import Forbidden, describe

UPDATES: dict[str, ir.Reduction] = {"+": "sum", "-": "sum", "*": "product", "&": "&", "|": "|", "^": "^"}  # fmt: skip
HINT = "one operation only: +=, *=, min, max, and, or; and no other use of it in the loop"
RUNNING = "one operation only, and no other use in the loop; a running sum is ev.scan(v), a count ev.rank(condition)"


@dataclass(frozen=True)
class Accumulating(Forbidden):
    """A name while its loop accumulates into it. `accumulator` takes contributions; reading the name is refused."""

    op: ir.Reduction = "sum"
    accumulator: ir.Accumulator | None = None
    needed: list[Scalar] = field(default_factory=list, compare=False)
    grid: bool = False


# ---- the operation that a loop performs on a name ----------------------------------------------
@dataclass(frozen=True)
class Contribution:
    op: ir.Reduction
    values: tuple[s.Expr, ...]
    negated: bool = False


def contribution(node: s.Stmt, name: str) -> Contribution | None:
    """Return `node` as one step of an accumulation into `name`, or None."""
    match node:
        case s.Update(target=s.Name(name=target), op=op, value=value) if target == name:
            return Contribution(UPDATES[op], (value,), op == "-") if op in UPDATES else None
        case s.Assign(targets=(s.Name(name=target),), value=value) if target == name:
            return assigned_step(value, lambda e: isinstance(e, s.Name) and e.name == name)
    return None


def assigned_step(value: s.Expr, is_it: Callable[[s.Expr], bool]) -> Contribution | None:
    """Return what `it = value` adds to `it`, or None. is_it: whether an expression is `it`."""
    match value:
        case s.Binary(op=op, left=left, right=right) if op in UPDATES:
            if is_it(left):
                return Contribution(UPDATES[op], (right,), op == "-")
            if is_it(right) and op != "-":
                return Contribution(UPDATES[op], (left,))
        case s.Call(function=s.Name(name="min" | "max" as op), arguments=arguments, keywords=()):
            others = tuple(a for a in arguments if not is_it(a))
            if others and len(others) == len(arguments) - 1:
                return Contribution(op, others)
        case s.Logic(op=op, values=values):
            others = tuple(v for v in values if not is_it(v))
            if others and len(others) == len(values) - 1:
                return Contribution("any" if op == "or" else "all", others)
    return None


def operation(cx: Context, name: str, body: tuple[s.Stmt, ...]) -> ir.Reduction | None:
    """Return the one operation that `body` performs on `name`, or None if it does anything else with it."""
    found: set[ir.Reduction] = set()
    return next(iter(found)) if _only_accumulates(name, body, found) and len(found) == 1 else None


def _only_accumulates(name: str, body: tuple[s.Stmt, ...], found: set[ir.Reduction]) -> bool:
    for node in body:
        step = contribution(node, name)
        if step is not None:
            if any(s.reads(v, name) for v in step.values):
                return False
            found.add(step.op)
            continue
        if any(s.reads(e, name) for e in s.expressions(node)) or name in _direct_targets(node):
            return False
        if not all(_only_accumulates(name, inner, found) for inner in s.blocks(node)):
            return False
    return True


def _direct_targets(node: s.Stmt) -> set[str]:
    match node:
        case s.Assign(targets=targets):
            return {n.name for t in targets for n in s.target_names(t)}
        case s.Update(target=target) | s.For(target=target):
            return {n.name for n in s.target_names(target)}
    return set()


def misuse(name: str, body: tuple[s.Stmt, ...], at: Location, where: str) -> NoReturn:
    """Refuse a name that a loop changes without accumulating, with the hint that fits."""
    operations: set[ir.Reduction] = set()
    if not _only_accumulates(name, body, operations):
        read = _first_read(name, body)
        if read is not None:
            refuse(read.at, *_read(name, where))
        refuse(
            at,
            f"{name} is assigned in the loop {where}: the last one to write would win, and they have no order",
            HINT,
        )
    refuse(at, f"{name} is accumulated by {' and '.join(sorted(operations))}", HINT)


def _read(name: str, where: str) -> tuple[str, str]:
    """Return the message and the hint for a name that is read while its loop accumulates into it."""
    message = f"{name} is read in the loop {where} that accumulates it"
    return message, RUNNING if where == "over atoms" else HINT


def _first_read(name: str, body: tuple[s.Stmt, ...]) -> s.Expr | None:
    for node in body:
        step = contribution(node, name)
        for e in step.values if step else s.expressions(node):
            found = s.reads(e, name)
            if found is not None:
                return found
        for inner in s.blocks(node):
            found = _first_read(name, inner)
            if found is not None:
                return found
    return None


# ---- accumulating names -------------------------------------------------------------------------
def contributes(cx: Context, node: s.Assign | s.Update) -> bool:
    target = node.target if isinstance(node, s.Update) else node.targets[0]
    return isinstance(target, s.Name) and isinstance(cx.env.get(target.name), Accumulating)


def contribute(cx: Context, node: s.Assign | s.Update) -> None:
    """Lower `acc += v` and the like for an accumulator `acc`."""
    target = node.target if isinstance(node, s.Update) else node.targets[0]
    assert isinstance(target, s.Name)
    state = cx.env[target.name]
    step = contribution(node, target.name)
    assert isinstance(state, Accumulating) and state.accumulator is not None and step is not None
    for value_node in step.values:
        v = contributed(cx, step, value_node)
        if step.negated and v.type.is_bool:
            v = cast(v, INT64)
        state.needed[0] = promote(state.needed[0], v.type)
        if state.op in ("sum", "product") and state.needed[0].is_bool:
            refuse(
                node.at,
                f"{target.name} starts as a truth value, and adds up truth values",
                "start it at 0 to count them, or accumulate with or, and",
            )
        v = cx.fit(v, state.accumulator.fields[0].type, value_node.at)
        if step.negated:  # in the sum's type: the least int32 has no negative of its own
            v = unary("-", v, node.at)
        cx.emit(ir.Accumulate(state.accumulator, (v,)))


def contributed(cx: Context, step: Contribution, node: s.Expr) -> ir.Expr:
    """Return one of a step's values, which its operation can take."""
    word = {"any": "or", "all": "and"}.get(step.op)
    why = f"in an accumulation by {word}, which need not evaluate all its operands" if word else ""
    with cx.without_effects(why):
        v = expressions.number(cx, node)
    if step.op in ("&", "|", "^") and v.type.is_inexact:
        refuse(node.at, f"'{step.op}' needs integers or truth values, got {v.type.spoken}")
    if step.op in ("min", "max"):
        real(v, step.op, node.at)
    if word and not v.type.is_bool:
        v = expressions.condition(cx, node, operand_of=word)
    return v


def accumulating(
    cx: Context, assigned: dict[str, Location], body: tuple[s.Stmt, ...], where: str, grid: bool
) -> dict[str, ir.Reduction]:
    """Return the outer names that a loop over tiles or atoms changes, each with its one operation."""
    found: dict[str, ir.Reduction] = {}
    for name, at in assigned.items():
        bound = cx.env.get(name)
        if bound is None or isinstance(bound, Forbidden):
            continue
        if not isinstance(bound, ir.Expr):
            if leaves(bound):
                refuse(
                    at,
                    f"the tuple {name} is assigned in the loop {where}",
                    "accumulate numbers one by one, or use ev.reduce",
                )
            refuse(
                at,
                f"{describe(bound)} is assigned in the loop {where}",
                "use another name: the next round would see the new value",
            )
        op = operation(cx, name, body)
        if op is None:
            misuse(name, body, at, where)
        if op in ("&", "|", "^") and bound.type.is_inexact:
            refuse(
                at,
                f"'{op}' needs integers or truth values, and {name} starts as {bound.type.spoken}",
            )
        if op in ("min", "max"):
            real(bound, op, at)
        if op in ("any", "all") and not bound.type.is_bool:
            refuse(
                at,
                f"{name} starts as {bound.type.spoken}, and accumulates truth values",
                "start it as True or False",
            )
        found[name] = op
    return found


def accumulate_loop(
    cx: Context, ops: dict[str, ir.Reduction], where: str, grid: bool, lower: Callable[[], None]
) -> list[tuple[str, ir.Expr, ir.Accumulator]]:
    """Lower a loop with accumulators. It is lowered again until their types stay the same.

    `lower` writes the loop. Returns name, first value and accumulator of each.
    """
    first = {name: v for name in ops if isinstance(v := cx.env[name], ir.Expr)}
    types = {name: v.type for name, v in first.items()}
    saved, length = cx.snapshot(), len(cx.block)
    while True:
        states: dict[str, Accumulating] = {}
        results: list[tuple[str, ir.Expr, ir.Accumulator]] = []
        for name, op in ops.items():
            t = types[name]
            fields, start = (cx.variable(name, t),), (combine.identity(op, t),)
            acc = ir.Accumulator(op, fields, start, at=cx.at)
            states[name] = Accumulating(*_read(name, where), op, acc, [t], grid)
            cx.env[name] = states[name]
            results.append((name, first[name], acc))
        lower_env = dict(cx.env)
        lower()
        cx.env = lower_env
        needed = {name: state.needed[0] for name, state in states.items()}
        if needed == types:
            return results
        del cx.block[length:]
        cx.restore(saved)
        types = needed


def finish(cx: Context, results: list[tuple[str, ir.Expr, ir.Accumulator]], at: Location) -> None:
    """After the loop, set each name to its first value combined with the accumulated one."""
    for name, first, acc in results:
        t = acc.fields[0].type
        body, (total,) = combine.combined(acc, (cx.fit(first, t, at),), acc.fields)
        assert not body
        cx.env[name] = cx.assign(name, total)
        cx.note(at, total, name)
