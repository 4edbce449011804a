"""Reductions: loops over atoms that accumulate, and sum, min, max, any, all and their kin.

An accumulator admits one associative, commutative operation and is not otherwise read in
its loop: that is what makes the order of atoms, and so the schedule, irrelevant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from .. import combine, ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import BOOL, INT64, POS, WEAK_INT, Scalar, promote
from . import effects, expressions, loops, methods, statements
from .arithmetic import cast, constant, truth, unary
from .context import Context, Walk, leaves
from .values import Forbidden, Iterable, LayoutValue, Value, describe

UPDATES = {"+": "sum", "-": "sum", "*": "product", "&": "&", "|": "|", "^": "^"}
UNKNOWN = Scalar("unknown", "i", weak=True)  # of a reduction whose first contribution decides
HINT = "one operation only: +=, *=, min, max, and, or; and no other use of it in the loop"


@dataclass(frozen=True)
class Accumulating(Forbidden):
    """A name while its loop accumulates into it: `accumulator` takes contributions; reading it is refused."""

    op: str = ""
    accumulator: ir.Accumulator | None = None
    needed: list[Scalar] = field(default_factory=list, compare=False)
    grid: bool = False


# ---- which operation a loop performs on a name -------------------------------------------------
@dataclass(frozen=True)
class Contribution:
    op: str
    values: tuple[s.Expr, ...]
    negated: bool = False


def contribution(node: s.Stmt, name: str) -> Contribution | None:
    """`node` as one step of an accumulation into `name`, or None."""
    match node:
        case s.Update(target=s.Name(name=target), op=op, value=value) if target == name:
            return Contribution(UPDATES[op], (value,), op == "-") if op in UPDATES else None
        case s.Assign(targets=(s.Name(name=target),), value=value) if target == name:
            return _assigned(value, name)
    return None


def _assigned(value: s.Expr, name: str) -> Contribution | None:
    def is_it(e: s.Expr) -> bool:
        return isinstance(e, s.Name) and e.name == name

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


def operation(cx: Context, name: str, body: tuple[s.Stmt, ...]) -> str | None:
    """The one operation that `body` performs on `name`, or None if it does anything else with it."""
    found: set[str] = set()
    return next(iter(found)) if _only_accumulates(name, body, found) and len(found) == 1 else None


def _only_accumulates(name: str, body: tuple[s.Stmt, ...], found: set[str]) -> bool:
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
    operations: set[str] = set()
    if not _only_accumulates(name, body, operations):
        read = _first_read(name, body)
        if read is not None:
            refuse(read.at, f"{name} is read in the loop {where} that accumulates it", HINT)
        refuse(
            at,
            f"{name} is assigned in the loop {where}: the last one to write would win, and they have no order",
            HINT,
        )
    refuse(at, f"{name} is accumulated by {' and '.join(sorted(operations))}", HINT)


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
    """`acc += v` and its like, where `acc` is an accumulator."""
    target = node.target if isinstance(node, s.Update) else node.targets[0]
    assert isinstance(target, s.Name)
    state = cx.env[target.name]
    step = contribution(node, target.name)
    assert isinstance(state, Accumulating) and state.accumulator is not None and step is not None
    for value_node in step.values:
        v = expressions.number(cx, value_node)
        if state.op in ("&", "|", "^") and v.type.is_float:
            refuse(
                value_node.at, f"'{state.op}' needs integers or truth values, got {v.type.spoken}"
            )
        if state.op in ("any", "all"):
            v = (
                expressions.condition(
                    cx, value_node, operand_of="or" if state.op == "any" else "and"
                )
                if not v.type.is_bool
                else v
            )
        if step.negated:
            v = cast(v, INT64) if v.type.is_bool else v
            v = unary("-", v, node.at)
        state.needed[0] = promote(state.needed[0], v.type)
        if state.op in ("sum", "product") and state.needed[0].is_bool:
            refuse(
                node.at,
                f"{target.name} starts as a truth value, and adds up truth values",
                "start it at 0 to count them, or accumulate with or, and",
            )
        cx.emit(ir.Accumulate(state.accumulator, (cast(v, state.accumulator.fields[0].type),)))


def accumulating(
    cx: Context, assigned: dict[str, Location], body: tuple[s.Stmt, ...], where: str, grid: bool
) -> dict[str, str]:
    """The names from outside that a loop over tiles or atoms changes, each with its one operation."""
    found: dict[str, str] = {}
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
                "use another name: the next one round would see the new value",
            )
        op = operation(cx, name, body)
        if op is None:
            misuse(name, body, at, where)
        if op in ("&", "|", "^") and bound.type.is_float:
            refuse(
                at,
                f"'{op}' needs integers or truth values, and {name} starts as {bound.type.spoken}",
            )
        if op in ("any", "all") and not bound.type.is_bool:
            refuse(
                at,
                f"{name} starts as {bound.type.spoken}, and accumulates truth values",
                "start it as True or False",
            )
        found[name] = op
    return found


def accumulate_loop(
    cx: Context, ops: dict[str, str], where: str, grid: bool, lower: Callable[[], None]
) -> list[tuple[str, ir.Expr, ir.Accumulator]]:
    """Lower a loop with accumulators; its types are found by lowering until they stay the same.

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
            acc = ir.Accumulator(op, (cx.variable(name, t),), (combine.identity(op, t),))
            states[name] = Accumulating(
                f"{name} is read in the loop {where} that accumulates it", HINT, op, acc, [t], grid
            )
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


def finish(cx: Context, results: list[tuple[str, ir.Expr, ir.Accumulator]]) -> None:
    """After the loop each name is its first value combined with what was accumulated."""
    for name, first, acc in results:
        t = acc.fields[0].type
        body, (total,) = combine.combined(acc, (cast(first, t),), acc.fields)
        assert not body
        cx.env[name] = cx.assign(name, total)


# ---- passes: walks over the atoms of the current tile ---------------------------------------------
def is_pass(cx: Context, over: Iterable) -> bool:
    """Whether a loop over these atoms is shared by a tile's processors (else one of them walks alone)."""
    if over.kind != "atoms" or cx.walk is not None or cx.tiles is None:
        return False
    return over.layout is cx.tiles.layout and over.arguments[0] is cx.tiles.position


def lower_pass(cx: Context, node: s.For, over: Iterable) -> None:
    body = s.without_continue(node.body)
    assigned = s.assigned(body)
    local = dict(assigned)
    ops = accumulating(
        cx,
        {n: at for n, at in assigned.items() if not isinstance(cx.env.get(n), Accumulating)},
        body,
        "over atoms",
        False,
    )
    hidden = {n.name: cx.env.get(n.name) for n in s.target_names(node.target)}

    def one_atom(bound: Value, _position: ir.Var) -> None:
        statements.bind_loop(cx, node.target, bound)
        statements.block(cx, body)

    def lower() -> None:
        walk_atoms(cx, one_atom, node.at)

    results = accumulate_loop(cx, ops, "over atoms", False, lower)
    for name in local:
        if name not in ops and not isinstance(cx.env.get(name), Accumulating):
            cx.env[name] = Forbidden(
                f"{name} belongs to the loop over atoms",
                "atoms have no order: accumulate into a variable assigned before the loop",
            )
    for name in hidden:
        cx.env[name] = Forbidden(
            f"{name} belongs to the loop over atoms",
            "atoms have no order: use ev.first or ev.argmax to find one",
        )
    finish(cx, results)


def walk_atoms(
    cx: Context,
    body: Callable[[Value, ir.Var], object],
    at: Location,
    extra: tuple[ir.Accumulator, ...] | None = None,
) -> None:
    """Write the pass; `extra`: accumulators that are not names (those of sum() and its kin)."""
    assert cx.tiles is not None
    atom = cx.variable("k", POS)
    cx.owned.discard(id(atom))
    outer_loop, cx.loop = cx.loop, None
    cx.walk = Walk(atom)
    grids = {n: v for n, v in cx.env.items() if isinstance(v, Accumulating) and v.grid}
    inner = {n: _partial(cx, n, v) for n, v in grids.items()}
    env = dict(cx.env)
    cx.env.update(inner)
    with cx.writing() as block:
        bound = methods.atom_id(cx, cx.tiles.layout, cx.tiles.position, atom)
        masked(cx, cx.tiles.layout, cx.tiles.position, atom, lambda: body(bound, atom))
    effects.check(tuple(block), "atoms", (atom, *leaves(bound)))
    used = {s_.accumulator: None for s_ in _accumulates(tuple(block))}
    cx.walk, cx.loop, cx.env = None, outer_loop, env
    named = [
        v.accumulator
        for v in cx.env.values()
        if isinstance(v, Accumulating) and not v.grid and v.accumulator is not None
    ]
    accumulators = [
        a
        for a in (*named, *(extra or ()), *(v.accumulator for v in inner.values()))
        if a in used or a in (extra or ()) or a in named
    ]
    cx.emit(ir.Pass(atom, tuple(dict.fromkeys(accumulators)), tuple(block), at))
    for name, state in grids.items():
        part = inner[name]
        if part.accumulator in used:
            state.needed[0] = promote(state.needed[0], part.needed[0])
            assert part.accumulator is not None and state.accumulator is not None
            cx.emit(
                ir.Accumulate(
                    state.accumulator,
                    (cast(part.accumulator.fields[0], state.accumulator.fields[0].type),),
                )
            )


def _partial(cx: Context, name: str, state: Accumulating) -> Accumulating:
    """A tile's own part of an accumulator of the grid."""
    assert state.accumulator is not None
    t = state.accumulator.fields[0].type
    acc = ir.Accumulator(state.op, (cx.variable(name, t),), (combine.identity(state.op, t),))
    return Accumulating(state.message, state.hint, state.op, acc, [t], False)


def _accumulates(block: ir.Block) -> list[ir.Accumulate]:
    from ..walk import statements as every

    return [x for x in every(block) if isinstance(x, ir.Accumulate)]


def masked(
    cx: Context, layout: LayoutValue, tile: Value, atom: ir.Var, body: Callable[[], object]
) -> None:
    """`body` under the layout's mask, if it has one."""
    valid = methods.valid(cx, layout, tile, atom)
    if valid is None:
        body()
        return
    with cx.writing() as inner:
        body()
        ended = cx.ended
    cx.ended = ended
    cx.emit(ir.If(truth(valid), tuple(inner)))


# ---- sum(...), min(..., default=), any, all, ev.argmax, ... -----------------------------------------
@dataclass(frozen=True)
class Request:
    """One call of a reduction: `default` for empty tiles; `combiner` and `start` for ev.reduce."""

    op: str
    generator: s.Generator
    at: Location
    default: s.Expr | None = None
    combiner: (
        Callable[[Context, tuple[ir.Expr, ...], tuple[ir.Expr, ...]], tuple[ir.Expr, ...]] | None
    ) = None
    start: tuple[ir.Expr, ...] = ()


def reduce(cx: Context, request: Request) -> Value:
    over = expressions.value(cx, request.generator.iterable)
    if not isinstance(over, Iterable) or over.kind == "tiles":
        refuse(
            request.generator.iterable.at,
            "a reduction over something that is not a range of atoms",
            "A.atoms(tile), range(n) or ev.lanes(n)",
        )
    if request.op in ("argmin", "argmax", "first") and over.kind != "atoms":
        refuse(
            request.at,
            f"ev.{request.op} over a {over.kind}",
            "it gives an atom: use it over A.atoms(tile)",
        )
    default = None if request.default is None else expressions.value(cx, request.default)
    types = _start_types(request)
    saved, length = cx.snapshot(), len(cx.block)
    while True:
        acc, found, needed = _attempt(cx, request, over, types)
        if needed == types:
            return _result(cx, request, over, acc, found, default)
        del cx.block[length:]
        cx.restore(saved)
        types = needed


def _start_types(request: Request) -> tuple[Scalar, ...]:
    """The types before any contribution is known: Python's sum starts at an integer 0."""
    match request.op:
        case "reduce":
            return tuple(x.type for x in request.start)
        case "any" | "all":
            return (BOOL,)
        case "first":
            return (POS,)
        case "sum":
            return (WEAK_INT,)
    return (UNKNOWN,)


def _attempt(
    cx: Context, request: Request, over: Iterable, types: tuple[Scalar, ...]
) -> tuple[ir.Accumulator, ir.Accumulator | None, tuple[Scalar, ...]]:
    """Write the reduction with fields of these types; also returns the types that it turns out to need."""
    acc = _accumulator(cx, request, types)
    found = None
    if request.op in ("min", "max"):
        found = ir.Accumulator("any", (cx.variable("found", BOOL),), (ir.Const(False, BOOL),))
    needed = list(types)

    def take(values: tuple[ir.Expr, ...]) -> None:
        for i, v in enumerate(values[: len(needed)]):
            needed[i] = v.type if needed[i] is UNKNOWN else promote(needed[i], v.type)
        cx.emit(
            ir.Accumulate(
                acc, tuple(cast(v, f.type) for v, f in zip(values, acc.fields, strict=True))
            )
        )
        if found is not None:
            cx.emit(ir.Accumulate(found, (ir.Const(True, BOOL),)))

    _over(cx, request, over, take, (acc,) if found is None else (acc, found))
    return acc, found, tuple(needed)


def _accumulator(cx: Context, request: Request, types: tuple[Scalar, ...]) -> ir.Accumulator:
    if request.op == "reduce":
        names = tuple(cx.variable("part", t) for t in types)
        start = tuple(cast(x, t) for x, t in zip(request.start, types, strict=True))
        return ir.Accumulator("reduce", names, start, _inlined(cx, request, types), request.at)
    t = WEAK_INT if types[0] is UNKNOWN else types[0]
    name = {"sum": "total", "product": "product", "first": "first"}.get(request.op, request.op)
    fields = [cx.variable(name, POS if request.op == "first" else t)]
    identity = [combine.identity(request.op, fields[0].type)]
    if request.op in ("argmin", "argmax"):
        fields.append(cx.variable("best", POS))
        identity.append(combine.identity("atom", POS))
    return ir.Accumulator(request.op, tuple(fields), tuple(identity), None, request.at)


def _inlined(cx: Context, request: Request, types: tuple[Scalar, ...]) -> ir.Inline:
    """The user's combining function, as code with parameters."""
    assert request.combiner is not None
    a = tuple(cx.variable("left", t) for t in types)
    b = tuple(cx.variable("right", t) for t in types)
    with cx.writing() as body:
        results = request.combiner(cx, a, b)
    if len(results) != len(types):
        refuse(
            request.at,
            f"the combining function gives {len(results)} values, its start has {len(types)}",
        )
    return ir.Inline(
        (*a, *b), tuple(body), tuple(cast(r, t) for r, t in zip(results, types, strict=True))
    )


def _over(
    cx: Context,
    request: Request,
    over: Iterable,
    take: Callable[[tuple[ir.Expr, ...]], None],
    extra: tuple[ir.Accumulator, ...],
) -> None:
    """Write the loop around the contributions: a pass, or a serial loop."""
    generator = request.generator
    names = [n.name for n in s.target_names(generator.target)]
    hidden = {n: cx.env.get(n) for n in names}

    def body(bound: Value, position: ir.Var) -> None:
        statements.bind_loop(cx, generator.target, bound)
        _under(cx, generator.conditions, lambda: take(_contribution(cx, request, position)))

    if is_pass(cx, over):
        walk_atoms(cx, body, request.at, extra)
    else:
        for acc in extra:
            for var, start in zip(acc.fields, acc.identity, strict=True):
                cx.emit(ir.Assign(var, start))
        loops.serial(cx, over, {}, body, request.at)
    for n, old in hidden.items():
        if old is None:
            cx.env.pop(n, None)
        else:
            cx.env[n] = old


def _under(cx: Context, conditions: tuple[s.Expr, ...], body: Callable[[], None]) -> None:
    if not conditions:
        body()
        return
    test = expressions.condition(cx, conditions[0])
    cx.conditional += 1
    with cx.writing() as inner:
        _under(cx, conditions[1:], body)
    cx.conditional -= 1
    cx.emit(ir.If(test, tuple(inner)))


def _contribution(cx: Context, request: Request, atom: ir.Var) -> tuple[ir.Expr, ...]:
    """What one atom contributes, one value a field."""
    element = request.generator.element
    match request.op:
        case "any" | "all":
            return (expressions.condition(cx, element),)
        case "first":
            test = expressions.condition(cx, element)
            return (ir.Select(test, atom, ir.Const(-1, POS), POS),)
        case "argmin" | "argmax":
            return (expressions.number(cx, element), atom)
        case "reduce":
            v = expressions.value(cx, element)
            parts = leaves(v)
            if len(parts) != len(request.start):
                refuse(
                    element.at,
                    f"{len(parts)} values an atom, but the start has {len(request.start)}",
                )
            return tuple(
                x if isinstance(x, ir.Const | ir.Var) else cx.assign("part", x) for x in parts
            )
    return (expressions.number(cx, element),)


def _result(
    cx: Context,
    request: Request,
    over: Iterable,
    acc: ir.Accumulator,
    found: ir.Accumulator | None,
    default: Value | None,
) -> Value:
    field_ = acc.fields[0]
    match request.op:
        case "sum":
            start = (
                expressions.as_number(default, request.at) if default is not None else constant(0)
            )
            return ir.Binary("+", cast(start, field_.type), field_, field_.type)
        case "min" | "max":
            assert found is not None and default is not None
            other = expressions.as_number(default, request.at)
            t = promote(field_.type, other.type)
            return ir.Select(found.fields[0], cast(field_, t), cast(other, t), t)
        case "argmin" | "argmax" | "first":
            return _atom_result(cx, request, over, acc.fields[-1], default)
    return acc.fields if len(acc.fields) > 1 else field_


def _atom_result(
    cx: Context, request: Request, over: Iterable, atom: ir.Var, default: Value | None
) -> Value:
    """The id of the atom found, or the default."""
    if default is None:
        refuse(
            request.at, f"ev.{request.op} needs default=: a tile may have no atoms", "default=-1"
        )
    other = expressions.as_number(default, request.at)
    assert over.layout is not None
    layout: LayoutValue = over.layout
    found = ir.Compare(">=", atom, ir.Const(0, POS))
    if methods.has_default(layout, "atom_id"):
        return ir.Select(found, atom, cast(other, POS), POS)
    a = cx.branch(lambda: methods.atom_id(cx, layout, over.arguments[0], atom))
    b = cx.branch(lambda: other)
    met = cx.meet("atom", a.result, b.result, a, b)
    cx.emit(ir.If(found, tuple(a.block), tuple(b.block)))
    return met
