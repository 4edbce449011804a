"""Reductions: sum(...), min(..., default=), max, any, all, ev.argmin, argmax, first and reduce."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import combine, ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import BOOL, POS, WEAK_INT, Scalar, promote
from . import expressions, loops, methods, passes, statements
from .arithmetic import cast, constant, real
from .context import Context, leaves
from .values import Forbidden, Iterable, LayoutValue, Value, describe

UNKNOWN = Scalar("unknown", "i", weak=True)  # the type of a reduction before its first contribution


# Combines the fields of two partial results.
Combiner = Callable[[Context, tuple[ir.Expr, ...], tuple[ir.Expr, ...]], tuple[ir.Expr, ...]]


@dataclass(frozen=True)
class Request:
    """One call of a reduction. `default`: for empty tiles. `combiner`, `start`: for ev.reduce."""

    op: ir.Reduction
    generator: s.Generator
    at: Location
    default: s.Expr | None = None
    combiner: Combiner | None = None
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
    types = _start_types(request, default)
    saved, length = cx.snapshot(), len(cx.block)
    while True:
        acc, found, needed = _attempt(cx, request, over, types)
        if needed == types:
            return _result(cx, request, over, acc, found, default)
        del cx.block[length:]
        cx.restore(saved)
        types = needed


def _start_types(request: Request, default: Value | None) -> tuple[Scalar, ...]:
    """Return the types before any contribution is known: Python's sum starts at an integer 0."""
    match request.op:
        case "reduce":
            return tuple(x.type for x in request.start)
        case "any" | "all":
            return (BOOL,)
        case "first":
            return (POS,)
        case "sum":
            start = WEAK_INT if default is None else expressions.as_number(default, request.at).type
            return (WEAK_INT if start.is_bool or start is POS else start,)
    return (UNKNOWN,)


def _attempt(
    cx: Context, request: Request, over: Iterable, types: tuple[Scalar, ...]
) -> tuple[ir.Accumulator, ir.Accumulator | None, tuple[Scalar, ...]]:
    """Write the reduction with fields of these types. Also returns the types that it turns out to need."""
    acc = _accumulator(cx, request, types)
    found = None
    if request.op in ("min", "max"):
        found = ir.Accumulator("any", (cx.variable("found", BOOL),), (ir.Const(False, BOOL),))
    needed = list(types)

    def take(values: tuple[ir.Expr, ...]) -> None:
        for i, v in enumerate(values[: len(needed)]):
            needed[i] = v.type if needed[i] is UNKNOWN else promote(needed[i], v.type)
        at = request.generator.element.at
        fields = zip(values, acc.fields, strict=True)
        cx.emit(ir.Accumulate(acc, tuple(cx.fit(v, f.type, at) for v, f in fields)))
        if found is not None:
            cx.emit(ir.Accumulate(found, (ir.Const(True, BOOL),)))

    _over(cx, request, over, take, (acc,) if found is None else (acc, found))
    return acc, found, tuple(needed)


def _accumulator(cx: Context, request: Request, types: tuple[Scalar, ...]) -> ir.Accumulator:
    if request.op == "reduce":
        names = tuple(cx.variable("part", t) for t in types)
        start = tuple(cx.fit(x, t, request.at) for x, t in zip(request.start, types, strict=True))
        assert request.combiner is not None
        combiner = inlined(cx, request.combiner, types, request.at)
        return ir.Accumulator("reduce", names, start, combiner, request.at)
    t = WEAK_INT if types[0] is UNKNOWN else types[0]
    name = {"sum": "total", "product": "product", "first": "first"}.get(request.op, request.op)
    fields = [cx.variable(name, POS if request.op == "first" else t)]
    identity = [combine.identity(request.op, fields[0].type)]
    if request.op in ("argmin", "argmax"):
        fields.append(cx.variable("best", POS))
        identity.append(combine.identity("atom", POS))
    return ir.Accumulator(request.op, tuple(fields), tuple(identity), None, request.at)


def inlined(cx: Context, combiner: Combiner, types: tuple[Scalar, ...], at: Location) -> ir.Inline:
    """Return the user's combining function, as code with parameters. Scans use it, too."""
    a = tuple(cx.variable("left", t) for t in types)
    b = tuple(cx.variable("right", t) for t in types)
    with cx.writing() as body:
        results = combiner(cx, a, b)
    if len(results) != len(types):
        refuse(
            at,
            f"the combining function gives {len(results)} values, its start has {len(types)}",
        )
    fitted = tuple(cx.fit(r, t, at) for r, t in zip(results, types, strict=True))
    return ir.Inline((*a, *b), tuple(body), fitted)


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
    stops = request.op in ("any", "all", "first")
    why = f"in {request.op}, which need not look at every atom" if stops else ""

    def contribute(position: ir.Var) -> None:
        with cx.standing(generator.element.at):
            take(_contribution(cx, request, position))

    def body(bound: Value, position: ir.Var) -> None:
        statements.bind_loop(cx, generator.target, bound)
        with cx.without_effects(why):
            _under(cx, generator.conditions, lambda: contribute(position))

    if passes.is_pass(cx, over):
        passes.walk_atoms(cx, body, request.at, extra)
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
    with cx.standing(conditions[0].at):
        test = expressions.condition(cx, conditions[0])
        cx.conditional += 1
        with cx.writing() as inner:
            _under(cx, conditions[1:], body)
        cx.conditional -= 1
        cx.emit(ir.If(test, tuple(inner)))


def _contribution(cx: Context, request: Request, atom: ir.Var) -> tuple[ir.Expr, ...]:
    """Return what one atom contributes, one value for each field."""
    element = request.generator.element
    match request.op:
        case "any" | "all":
            return (expressions.condition(cx, element),)
        case "first":
            test = expressions.condition(cx, element)
            return (ir.Select(test, atom, ir.Const(-1, POS), POS),)
        case "argmin" | "argmax":
            return (real(expressions.number(cx, element), f"ev.{request.op}", element.at), atom)
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
        case "min" | "max":
            return (real(expressions.number(cx, element), request.op, element.at),)
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
            t = promote(start.type, field_.type)
            return ir.Binary("+", cx.fit(start, t, request.at), cast(field_, t), t)
        case "min" | "max":
            assert found is not None and default is not None
            other = real(expressions.as_number(default, request.at), "a default", request.at)
            t = promote(field_.type, other.type)
            other = cx.fit(other, t, request.at)
            return ir.Select(found.fields[0], cast(field_, t), other, t)
        case "argmin" | "argmax" | "first":
            return _atom_result(cx, request, over, acc.fields[-1], default)
    return acc.fields if len(acc.fields) > 1 else field_


def _atom_result(
    cx: Context, request: Request, over: Iterable, atom: ir.Var, default: Value | None
) -> Value:
    """Return the id of the atom that was found, or the default."""
    if default is None:
        refuse(
            request.at, f"ev.{request.op} needs default=: a tile may have no atoms", "default=-1"
        )
    if isinstance(default, ir.Expr) and not default.type.is_integer:
        refuse(
            request.at,
            f"the default of ev.{request.op} is {describe(default)}",
            "it stands for an atom: an integer",
        )
    assert over.layout is not None
    layout: LayoutValue = over.layout
    found = ir.Compare(">=", atom, ir.Const(0, POS))
    if methods.has_default(layout, "atom_id"):
        other = expressions.as_number(default, request.at)
        return ir.Select(found, atom, cast(other, POS), POS)
    a = cx.branch(lambda: methods.atom_id(cx, layout, over.arguments[0], atom))
    b = cx.branch(lambda: default)
    met = cx.meet("atom", a.result, b.result, a, b)
    if isinstance(met, Forbidden):
        refuse(request.at, met.message, "the default stands for an atom: a tuple of as many")
    cx.emit(ir.If(found, tuple(a.block), tuple(b.block)))
    return met
