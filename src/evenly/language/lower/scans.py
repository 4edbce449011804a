"""Scans over a tile's atoms: ev.scan and ev.rank."""

from __future__ import annotations

from .. import combine, ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..func import Func
from ..types import POS, WEAK_INT, promote
from . import expressions, functions, hints, reductions
from .arithmetic import cast, constant
from .context import Context, leaves, rebuild
from .values import Static, Value, describe

_OUTSIDE = (
    "for k in A.atoms(tile): ... ev.{name}(...), with the tile of the loop over A.tiles(); "
    "ev.prefix_sum sums up whole arrays"
)


def scan(cx: Context, node: s.Call) -> Value:
    """Lower `ev.scan(value, f, start, exclusive=)`."""
    _check_place(cx, "scan", node.at)
    value, function, start, exclusive = _arguments(cx, node)
    values = expressions.value(cx, value)
    if function is None:
        return _sum(cx, expressions.as_number(values, value.at), start, exclusive, node)
    return _of_function(cx, function, values, start, exclusive, node)


def rank(cx: Context, node: s.Call) -> Value:
    """Lower `ev.rank(condition)`: how many of the tile's atoms before this one meet the condition."""
    _check_place(cx, "rank", node.at)
    if len(node.arguments) != 1 or node.keywords:
        refuse(node.at, "ev.rank takes one condition", "ev.rank(A.value(k) > 0)")
    kept = cast(expressions.condition(cx, node.arguments[0]), POS)
    return _running(cx, "sum", (kept,), (combine.identity("sum", POS),), None, True, node.at)[0]


def _check_place(cx: Context, name: str, at: Location) -> None:
    call = f"ev.{name}"
    if cx.walk is None:
        refuse(at, f"{call} outside a loop over a tile's own atoms", _OUTSIDE.format(name=name))
    if cx.pure:
        refuse(at, f"{call} {cx.pure}", "use it in a statement of the loop over atoms itself")
    if cx.loop is not None:
        refuse(
            at,
            f"{call} in a loop inside the loop over atoms: each atom takes part once",
            "compute the atom's value in the loop, and scan it after it",
        )
    if cx.conditional > cx.walk.conditional:
        refuse(
            at,
            f"{call} under a condition: every atom takes part",
            "before the if, write at = ev.rank(keep)"
            if name == "rank"
            else "scan a conditional value, as in ev.scan(v if keep else 0.0), or ev.rank(keep)",
        )


def _arguments(cx: Context, node: s.Call) -> tuple[s.Expr, s.Expr | None, s.Expr | None, bool]:
    names = ("value", "f", "start")
    given = dict(zip(names, node.arguments, strict=False))
    for name, value_node in node.keywords:
        if name not in (*names, "exclusive"):
            refuse(
                value_node.at,
                f"ev.scan takes no argument {name}",
                "it takes value, f, start and exclusive",
            )
        if name in given:
            refuse(value_node.at, f"ev.scan got {name} twice")
        given[name] = value_node
    if "value" not in given or len(node.arguments) > len(names):
        refuse(node.at, "ev.scan takes a value, a function and its start", "ev.scan(A.value(k))")
    exclusive = given.get("exclusive")
    chosen = None if exclusive is None else expressions.value(cx, exclusive)
    if chosen is not None and not (isinstance(chosen, ir.Const) and chosen.type.is_bool):
        assert exclusive is not None
        refuse(exclusive.at, "exclusive= is True or False, known when the kernel is compiled")
    return (
        given["value"],
        _unless_none(cx, given.get("f")),
        _unless_none(cx, given.get("start")),
        chosen is not None and bool(chosen.value),
    )


def _unless_none(cx: Context, e: s.Expr | None) -> s.Expr | None:
    """Return None for an argument that is left out, or None."""
    return None if e is None or expressions.value(cx, e) == Static(None) else e


def _sum(
    cx: Context, value: ir.Expr, start: s.Expr | None, exclusive: bool, node: s.Call
) -> ir.Expr:
    first = constant(0) if start is None else expressions.number(cx, start)
    t = promote(WEAK_INT if first.type.is_bool or first.type is POS else first.type, value.type)
    value = cx.fit(value, t, node.at)
    (total,) = _running(
        cx, "sum", (value,), (combine.identity("sum", t),), None, exclusive, node.at
    )
    return ir.Binary("+", cx.fit(first, t, node.at), total, t)


def _of_function(
    cx: Context,
    function: s.Expr,
    values: Value,
    start: s.Expr | None,
    exclusive: bool,
    node: s.Call,
) -> Value:
    callee = expressions.value(cx, function)
    if not (isinstance(callee, Static) and isinstance(callee.object, Func)):
        refuse(function.at, "the combining function of ev.scan must be an @ev.func", hints.FUNCTION)
    if start is None:
        refuse(
            node.at,
            "ev.scan with a function needs start=",
            "it is the identity of the function: a number or a tuple of numbers",
        )
    first = expressions.value(cx, start)
    constants = leaves(first)
    if not constants or not all(isinstance(x, ir.Const) for x in constants):
        refuse(
            start.at,
            "the start of ev.scan must be known when the kernel is compiled",
            "it is the identity of the function: a number or a tuple of numbers",
        )
    parts = leaves(values)
    if len(parts) != len(constants) or isinstance(values, tuple) != isinstance(first, tuple):
        refuse(node.at, f"ev.scan of {describe(values)} whose start is {describe(first)}")
    types = tuple(promote(x.type, v.type) for x, v in zip(constants, parts, strict=True))
    func = callee.object

    def combiner(
        inner: Context, a: tuple[ir.Expr, ...], b: tuple[ir.Expr, ...]
    ) -> tuple[ir.Expr, ...]:
        given = rebuild(first, iter(a)), rebuild(first, iter(b))
        return leaves(functions.inline(inner, func.source, func.tree, given, {}, node.at))

    made = reductions.inlined(cx, combiner, types, node.at)
    fitted = tuple(cx.fit(v, t, node.at) for v, t in zip(parts, types, strict=True))
    begin = tuple(cx.fit(x, t, node.at) for x, t in zip(constants, types, strict=True))
    results = _running(cx, "reduce", fitted, begin, made, exclusive, node.at)
    return rebuild(first, iter(results))


def _running(
    cx: Context,
    op: ir.Reduction,
    values: tuple[ir.Expr, ...],
    identity: tuple[ir.Expr, ...],
    combiner: ir.Inline | None,
    exclusive: bool,
    at: Location,
) -> tuple[ir.Var, ...]:
    """Emit the scan, and return its results."""
    fields = tuple(cx.variable("running", v.type) for v in values)
    results = tuple(cx.variable("scanned", v.type) for v in values)
    for v in (*fields, *results):
        cx.owned.discard(id(v))
    accumulator = ir.Accumulator(op, fields, identity, combiner, at)
    held = tuple(v if isinstance(v, ir.Const | ir.Var) else cx.assign("own", v) for v in values)
    cx.emit(ir.Scan(accumulator, held, results, exclusive, at))
    return results
