"""Lower calls: reductions, conversions, mathematics, atomics, functions and methods."""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .. import ir, names
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..func import Func
from ..intrinsics import BY_FUNCTION, BY_NAME, CONVERSIONS
from ..members import growing
from ..types import (
    DATA_TYPES,
    POS,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Scalar,
    promote,
    real_of,
)
from . import (
    appends,
    atomics,
    emits,
    exchanges,
    expressions,
    functions,
    hints,
    local_arrays,
    methods,
    reductions,
    scans,
    scratch,
    staging,
    tasks,
)
from .arithmetic import cast, constant, fitted, intrinsic, real, truth
from .context import Context, leaves
from .values import (
    Conjugate,
    Group,
    Iterable,
    LayoutValue,
    LocalArray,
    Method,
    Static,
    Value,
    describe,
)

_WEAK = {"int": WEAK_INT, "float": WEAK_FLOAT, "complex": WEAK_COMPLEX}


def call(cx: Context, node: s.Call) -> Value:
    result = _call(cx, node)
    cx.note(node.at, result)
    return result


def _call(cx: Context, node: s.Call) -> Value:
    callee = expressions.value(cx, node.function)
    if isinstance(callee, Method) and isinstance(callee.owner, Group):
        return exchanges.lower(cx, callee.owner, callee.name, node)
    if isinstance(callee, Method):
        owner = callee.owner
        if callee.name == "emit" and isinstance(owner, LayoutValue) and emits.mode(owner):
            return emits.emit(cx, owner, node)
        if callee.name == "append" and isinstance(owner, LayoutValue) and appends.is_output(owner):
            return appends.append(cx, owner, node)
        if callee.name == "push" and tasks.are_tasks(owner):
            return tasks.push(cx, owner, node)
        functions.no_keywords(node)
        return methods.call_method(
            cx, callee, tuple(expressions.sequence(cx, node.arguments)), node.at
        )
    if isinstance(callee, Conjugate):
        return _conjugate(callee.of, node)
    if not isinstance(callee, Static):
        refuse(node.function.at, f"{describe(callee)} cannot be called")
    function = callee.object
    if isinstance(function, Func):
        return _function(cx, function, node)
    special = _SPECIAL.get(function) if _hashable(function) else None
    if special is not None:
        return special(cx, node)
    if function in CONVERSIONS:
        return _conversion(cx, node, CONVERSIONS[function])
    if function in BY_FUNCTION:
        functions.no_keywords(node)
        given = expressions.numbers(cx, node.arguments, large=True)
        return intrinsic(BY_FUNCTION[function], given, node.at)
    _unknown(function, node)
    raise AssertionError


def _hashable(x: Any) -> bool:
    return getattr(type(x), "__hash__", None) is not None


def _unknown(function: Any, node: s.Call) -> None:
    name = getattr(function, "__name__", type(function).__name__)
    module = getattr(function, "__module__", "") or ""
    if name in BY_NAME and hasattr(math, name):
        refuse(
            node.at,
            f"{name} of {module or 'this kind'} is not part of the kernel language",
            f"math.{name} keeps the type of its argument",
        )
    if isinstance(function, np.ufunc) or module.startswith("numpy"):
        refuse(
            node.at,
            f"numpy's {name} is not part of the kernel language",
            hints.instead_of(function)
            or "write what happens to one element; math.* and min, max, abs work on numbers",
        )
    if hasattr(function, "__code__"):
        refuse(node.at, f"{name} is a plain Python function", "decorate it with @ev.func")
    refuse(node.at, f"{name} is not part of the kernel language", hints.instead_of(function))


def _function(cx: Context, function: Func, node: s.Call) -> Value:
    arguments = tuple(expressions.sequence(cx, node.arguments))
    keywords = {n: expressions.value(cx, v) for n, v in node.keywords}
    given = function.source, function.tree, arguments, keywords, node.at
    return functions.inline(cx, *given, acts=node is cx.statement)


def _conjugate(e: ir.Expr, node: s.Call) -> ir.Expr:
    functions.no_keywords(node)
    if node.arguments:
        refuse(node.at, "conjugate() takes no argument")
    return intrinsic("conjugate", [e], node.at) if e.type.is_complex else e


def _conversion(cx: Context, node: s.Call, name: str) -> ir.Expr:
    functions.no_keywords(node)
    t = _WEAK.get(name) or DATA_TYPES[name]
    if t.is_complex and len(node.arguments) == 2:
        return _of_parts(t, expressions.numbers(cx, node.arguments), node)
    if len(node.arguments) != 1:
        refuse(node.at, f"{name}() takes one argument, got {len(node.arguments)}")
    e = expressions.number(cx, node.arguments[0], large=True)
    if name == "bool":
        return truth(e)
    if not t.is_complex:
        real(e, f"{name}()", node.at)
    if isinstance(e, ir.Const) and e.type.is_float and t.is_integer and not math.isfinite(e.value):
        refuse(node.at, f"{name}({e.value}) has no value")
    return cast(e, t)


def _of_parts(t: Scalar, parts: list[ir.Expr], node: s.Call) -> ir.Expr:
    """Lower `complex(re, im)` and the like."""
    for e, part in zip(parts, node.arguments, strict=True):
        real(e, "a part", part.at)
    a, b = (cast(e, real_of(t)) for e in parts)
    if isinstance(a, ir.Const) and isinstance(b, ir.Const):
        return ir.Const(complex(a.value, b.value), t)
    return intrinsic("of_parts", [a, b], node.at)


# ---- functions with a meaning of their own -------------------------------------------------------
def _reduction(op: ir.Reduction) -> Callable[[Context, s.Call], Value]:
    def lower(cx: Context, node: s.Call) -> Value:
        generator = _generator(node)
        if generator is None:
            return _of_numbers(cx, op, node)
        default = _default(op, node)
        return reductions.reduce(cx, reductions.Request(op, generator, node.at, default))

    return lower


def _generator(node: s.Call) -> s.Generator | None:
    first = node.arguments[0] if node.arguments else None
    return first if isinstance(first, s.Generator) else None


def _default(op: str, node: s.Call) -> s.Expr | None:
    """Return the value for an empty tile: `default=`, or sum's second argument."""
    allowed = {"sum": ("start",), "any": (), "all": ()}.get(op, ("default",))
    extra = dict(node.keywords)
    for name, value_node in node.keywords:
        if name not in allowed:
            refuse(
                value_node.at,
                f"{op} takes no argument {name} here",
                f"it takes {', '.join(allowed) or 'a generator only'}",
            )
    if op == "sum" and len(node.arguments) == 2:
        return node.arguments[1]
    if len(node.arguments) > 1:
        refuse(node.arguments[1].at, f"{op} over atoms takes one generator")
    default = extra.get(allowed[0]) if allowed else None
    if default is None and allowed == ("default",):
        hint = "default=-1" if op in ("argmin", "argmax", "first") else "default=0.0, or -math.inf"
        refuse(node.at, f"{op} needs default=: a tile may have no atoms", hint)
    return default


def _of_numbers(cx: Context, op: str, node: s.Call) -> Value:
    """Lower min(a, b, ...) and max(a, b, ...)."""
    if op not in ("min", "max"):
        refuse(node.at, f"{op}() takes a generator", f"{op}(... for k in A.atoms(tile))")
    functions.no_keywords(node)
    if len(node.arguments) < 2:
        given = [expressions.value(cx, a) for a in node.arguments]
        of_array = bool(given) and isinstance(given[0], ir.Array)
        hint = f"{op}((x[i] for i in range(len(x))), default=0.0)" if of_array else ""
        refuse(node.at, f"{op}() takes a generator or two numbers and more", hint)
    first, *rest = _weak_ones_fitted(expressions.numbers(cx, node.arguments, large=True), node.at)
    for x in rest:
        first = intrinsic("minimum" if op == "min" else "maximum", [first, x], node.at)
    return first


def _weak_ones_fitted(numbers: list[ir.Expr], at: Location) -> list[ir.Expr]:
    """Convert weak numbers to the common type of all. In pairs, they could be converted to a narrower one first."""
    t = functools.reduce(promote, (x.type for x in numbers))
    return [fitted(x, t, at) if x.type.weak else x for x in numbers]


def _reduce(cx: Context, node: s.Call) -> Value:
    """Lower `ev.reduce(function, generator, start)`."""
    keywords = dict(node.keywords)
    arguments = [*node.arguments, *([keywords["start"]] if "start" in keywords else [])]
    if len(arguments) != 3 or not isinstance(arguments[1], s.Generator):
        refuse(
            node.at,
            "ev.reduce takes a function, a generator and a start",
            "ev.reduce(f, (... for k in A.atoms(tile)), start)",
        )
    callee = expressions.value(cx, arguments[0])
    if not (isinstance(callee, Static) and isinstance(callee.object, Func)):
        refuse(arguments[0].at, "the combining function must be an @ev.func", hints.FUNCTION)
    start = leaves(expressions.value(cx, arguments[2]))
    if not start or not all(isinstance(x, ir.Const) for x in start):
        refuse(
            arguments[2].at,
            "the start of ev.reduce must be known when the kernel is compiled",
            "it is the identity of the function: a number or a tuple of numbers",
        )
    single = not isinstance(arguments[2], s.TupleOf) and len(start) == 1
    function = callee.object

    def combiner(
        inner: Context, a: tuple[ir.Expr, ...], b: tuple[ir.Expr, ...]
    ) -> tuple[ir.Expr, ...]:
        given: tuple[Value, ...] = (a[0], b[0]) if single else (a, b)
        return leaves(functions.inline(inner, function.source, function.tree, given, {}, node.at))

    return reductions.reduce(
        cx, reductions.Request("reduce", arguments[1], node.at, None, combiner, start)
    )


def _range(kind: Literal["range", "lanes"]) -> Callable[[Context, s.Call], Value]:
    def lower(cx: Context, node: s.Call) -> Value:
        functions.no_keywords(node)
        most = 3 if kind == "range" else 1
        if not 1 <= len(node.arguments) <= most:
            refuse(
                node.at,
                f"{kind}() takes {'1 to 3 arguments' if most == 3 else 'one argument'}, "
                f"got {len(node.arguments)}",
            )
        return Iterable(kind, None, tuple(expressions.numbers(cx, node.arguments)), node.at)

    return lower


def _distinct(cx: Context, node: s.Call) -> Value:
    if node.keywords or len(node.arguments) != 1:
        refuse(node.at, "ev.distinct takes one integer", "y[ev.distinct(order[k])] += v")
    value = expressions.number(cx, node.arguments[0])
    if not value.type.is_integer:
        refuse(node.arguments[0].at, f"ev.distinct of {value.type.spoken}", "int(x) truncates")
    place = cx.assign("place", value)
    cx.owned.discard(id(place))  # it stays as it is, whatever name is assigned
    cx.promised.add(place)
    return place


def _len(cx: Context, node: s.Call) -> Value:
    v = expressions.value(cx, node.arguments[0]) if len(node.arguments) == 1 else None
    if isinstance(v, ir.Array):
        extent = scratch.extent(cx, v, 0)
        return cast(extent, POS) if cx.positions else extent
    if isinstance(v, tuple):
        return constant(len(v))
    if isinstance(v, LocalArray):
        return constant(v.var.length)
    if isinstance(v, LayoutValue) and (grows := growing(v.cls)):
        methods.refuse_meanwhile(cx, f"len({v.name})", node.at)
        return methods.property_of(cx, v, grows.length, node.at)
    hint = ""
    if isinstance(v, Iterable) and v.kind == "atoms":
        hint = "sum(1 for k in A.atoms(tile)) counts them"
    elif isinstance(v, LayoutValue) or (isinstance(v, Iterable) and v.kind == "tiles"):
        hint = "A.num_tiles and A.num_atoms"
    refuse(node.at, "len() takes one array or tuple", hint)


def _processor(what: str) -> Callable[[Context, s.Call], Value]:
    def lower(cx: Context, node: s.Call) -> Value:
        if not cx.schedule:
            refuse(
                node.at,
                f"ev.{what} in a kernel",
                "a kernel says what happens, a schedule who does it: it belongs in a schedule's methods",
            )
        return ir.Processor(what)

    return lower


def _group(cx: Context, node: s.Call) -> Value:
    if not cx.schedule:
        refuse(node.at, "ev.group in a kernel", "it belongs in a schedule's methods")
    size = expressions.number(cx, node.arguments[0]) if len(node.arguments) == 1 else None
    if not isinstance(size, ir.Const) or not size.type.is_integer or size.value < 1:
        refuse(node.at, "ev.group takes the group's size, known when the kernel is compiled")
    return Group(int(size.value))


_SPECIAL: dict[Any, Callable[[Context, s.Call], Value]] = {
    builtins.sum: _reduction("sum"),
    builtins.min: _reduction("min"),
    builtins.max: _reduction("max"),
    builtins.any: _reduction("any"),
    builtins.all: _reduction("all"),
    names.argmin: _reduction("argmin"),
    names.argmax: _reduction("argmax"),
    names.first: _reduction("first"),
    names.reduce: _reduce,
    names.scan: scans.scan,
    names.rank: scans.rank,
    builtins.range: _range("range"),
    names.lanes: _range("lanes"),
    builtins.len: _len,
    names.local: local_arrays.make,
    names.stage: staging.stage,
    names.scratch: scratch.make,
    names.distinct: _distinct,
    names.atomic_add: atomics.lower("add"),
    names.atomic_min: atomics.lower("min"),
    names.atomic_max: atomics.lower("max"),
    names.atomic_exch: atomics.lower("exch"),
    names.atomic_cas: atomics.lower("cas"),
    names.atomic_and: atomics.lower("and"),
    names.atomic_or: atomics.lower("or"),
    names.atomic_xor: atomics.lower("xor"),
    names.thread_index: _processor("thread_index"),
    names.thread_count: _processor("thread_count"),
    names.group: _group,
}
