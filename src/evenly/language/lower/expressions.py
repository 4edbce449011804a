"""Lower expressions: from the surface tree to typed values."""

from __future__ import annotations

import builtins
import types as python_types
from typing import Any

import numpy as np

from .. import ir, reads
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import (
    BOOL,
    INT64,
    POS,
    TYPES,
    WEAK_INT,
    from_dtype,
    promote,
    read_as,
)
from ..walk import subexpressions
from . import calls, exchanges, hints, methods, scratch, subscripts
from .arithmetic import (
    binary,
    cast,
    compare,
    constant,
    in_range,
    intrinsic,
    of_64_bits,
    truth,
    unary,
)
from .context import Context
from .values import (
    Conjugate,
    Forbidden,
    Group,
    LayoutValue,
    LocalArray,
    Method,
    ScheduleValue,
    Static,
    Value,
    describe,
    spoken,
)


def value(cx: Context, node: s.Expr, large: bool = False) -> Value:
    """Return the value of any expression, of any kind.

    large: whether a weak constant may be one that only uint64 holds, because its type is about to be known. It is
    written out or captured: what is computed from variables has 64 bits with a sign, as at run time.
    """
    found = _value(cx, node)
    if isinstance(found, ir.Const) and not (large and _is_given(node)):
        return in_range(found, INT64, node.at)
    return found


def _is_given(node: s.Expr) -> bool:
    return isinstance(node, s.Name | s.Attribute) or s.is_whole_literal(node)


def _value(cx: Context, node: s.Expr) -> Value:
    match node:
        case _Given(known=known):
            return known
        case s.Name():
            return name(cx, node)
        case s.Constant(value=literal):
            return Static(None) if literal is None else of_64_bits(constant(literal), node.at)
        case s.Attribute():
            return attribute(cx, node)
        case s.Subscript():
            return subscripts.subscript(cx, node)
        case s.Call():
            return calls.call(cx, node)
        case s.TupleOf(items=items):
            return tuple_of(cx, items)
        case s.Unary(op=op, operand=operand):
            return unary(op, number(cx, operand, large=True), node.at)
        case s.Binary(op=op, left=left, right=right):
            a, b = numbers(cx, (left, right), large=True)
            return binary(op, a, b, node.at, cx.positions)
        case s.Compare():
            return comparison(cx, node)
        case s.Logic():
            return logic(cx, node)
        case s.Conditional():
            chosen = conditional(cx, node)
            cx.note(node.at, chosen)
            return chosen
        case s.Generator(at=at):
            refuse(
                at,
                "a generator stands only inside a reduction",
                "sum(...), min(..., default=), max, any, all, ev.argmin, ev.argmax, ev.first, ev.reduce",
            )
    raise AssertionError(node)


def tuple_of(cx: Context, items: tuple[s.Expr, ...]) -> Value:
    values = sequence(cx, items)
    for v, item in zip(values, items, strict=True):
        if isinstance(v, LocalArray) and v.name:
            refuse(item.at, f"{describe(v)} in a tuple", f"use {v.name} itself")
    return tuple(values)


def number(cx: Context, node: s.Expr, large: bool = False) -> ir.Expr:
    """Return the value of an expression that must be a number."""
    return as_number(value(cx, node, large), node.at)


def as_number(v: Value, at: Location) -> ir.Expr:
    if isinstance(v, ir.Expr):
        return v
    if isinstance(v, Forbidden):
        refuse(at, v.message, v.hint)
    if isinstance(v, ir.Array):
        refuse(
            at,
            f"the whole array {spoken(v)} where a number is needed",
            f"index one element: {spoken(v)}[i]",
        )
    if isinstance(v, LocalArray):
        refuse(at, f"{describe(v)} where a number is needed", f"index one element: {v.name}[i]")
    refuse(
        at,
        f"{describe(v)} where a number is needed",
        "test it first: if x is not None" if v == Static(None) else "",
    )


def numbers(cx: Context, nodes: tuple[s.Expr, ...], large: bool = False) -> list[ir.Expr]:
    found = sequence(cx, nodes, large)
    return [as_number(v, node.at) for v, node in zip(found, nodes, strict=True)]


def sequence(cx: Context, nodes: tuple[s.Expr, ...], large: bool = False) -> list[Value]:
    """Evaluate several expressions, in Python's order.

    An operand that writes statements (an atomic, a reduction) must not overtake an earlier
    read: such reads are put into variables first.
    """
    values: list[Value] = []
    marks: list[int] = []
    for node in nodes:
        before = len(cx.block)
        values.append(value(cx, node, large))
        if len(cx.block) > before:
            for i, earlier in enumerate(values[:-1]):
                if isinstance(earlier, ir.Expr) and any(
                    isinstance(e, ir.Element) for e in subexpressions(earlier)
                ):
                    var = cx.variable("read", earlier.type)
                    cx.block.insert(marks[i], ir.Assign(var, earlier, cx.at))
                    marks = [mark + (j > i) for j, mark in enumerate(marks)]
                    values[i] = var
        marks.append(len(cx.block))
    return values


# ---- names and attributes ------------------------------------------------------------------
def name(cx: Context, node: s.Name) -> Value:
    if node.name in cx.env:
        v = cx.env[node.name]
        if isinstance(v, Forbidden):
            refuse(node.at, v.message, v.hint)
        return v
    if node.name in cx.local and node.name in cx.captured:
        refuse(
            node.at,
            f"{node.name} has no value here: it is assigned further on",
            "assign it first, or give one of the two another name",
        )
    if node.name in cx.captured:
        return from_python(cx.captured[node.name], node)
    refuse(node.at, f"{node.name} is not defined here", _nearest(node.name, cx))


def _nearest(wanted: str, cx: Context) -> str:
    import difflib

    known = [n for n, thing in cx.captured.items() if getattr(builtins, n, None) is not thing]
    near = difflib.get_close_matches(
        wanted, [*cx.env, *known, "range", "sum", "min", "max", "any", "all", "abs", "len"], n=1
    )
    return f"did you mean {near[0]}?" if near else ""


def from_python(thing: Any, node: s.Expr) -> Value:
    """Return the value of a captured Python object. Numbers become constants; functions and modules stay."""
    if isinstance(thing, bool | int | float | complex) and not isinstance(
        thing, np.generic
    ):  # np.float64 is a float, too
        return of_64_bits(constant(thing), node.at)
    if isinstance(thing, np.generic):
        t = from_dtype(thing.dtype)
        if t is None:
            refuse(
                node.at,
                f"a constant of type {thing.dtype}",
                f"the types are {TYPES.replace(' or ', ' and ')}",
            )
        return ir.Const(read_as(t).dtype.type(thing).item(), read_as(t))
    if isinstance(thing, tuple):
        return tuple(from_python(item, node) for item in thing)
    if thing is None or callable(thing) or isinstance(thing, python_types.ModuleType):
        return Static(thing)
    if hasattr(thing, "shape") or hasattr(type(thing), "__fields__"):
        text = node.name if isinstance(node, s.Name) else "it"
        refuse(
            node.at,
            f"{text} is captured from outside",
            "pass arrays and layouts as arguments of the kernel; only numbers may be captured",
        )
    refuse(
        node.at,
        f"a captured {type(thing).__name__} is not part of the kernel language",
        "numbers, tuples of numbers and functions may be captured",
    )


def attribute(cx: Context, node: s.Attribute) -> Value:
    base = value(cx, node.base)
    match base:
        case ir.Expr():
            return _number_attribute(base, node)
        case ir.Array():
            return _array_attribute(cx, base, node)
        case LocalArray(var=var) if node.name in ("shape", "size"):
            return (constant(var.length),) if node.name == "shape" else constant(var.length)
        case LayoutValue():
            return methods.layout_attribute(cx, base, node.name, node.at)
        case ScheduleValue(schedule=schedule):
            return methods.schedule_attribute(cx, base, schedule, node)
        case Group(size=size):
            if node.name == "size":
                return constant(size)
            if node.name in ("index", "count", "rank"):
                return ir.Processor(f"group_{node.name}", size)
            if node.name in exchanges.EXCHANGES:
                return Method(base, node.name)
            known = ", ".join(exchanges.EXCHANGES)
            refuse(node.at, f"a group has no {node.name}", f"index, count, rank and size; {known}")
        case Static(object=python_types.ModuleType() as module):
            found = reads.attribute_of(module, node.name)
            if found is reads.NOTHING:
                spelled = node.base.name if isinstance(node.base, s.Name) else module.__name__
                hint = hints.nearest(node.name, module, spelled)
                refuse(node.at, f"module {module.__name__} has no {node.name}", hint)
            return from_python(found, node)
    refuse(node.at, f"{describe(base)} has no attribute {node.name} in the kernel language")


def _number_attribute(e: ir.Expr, node: s.Attribute) -> Value:
    """Return `.real` or `.imag`. Real numbers have them too, as in Python: x.imag is 0."""
    if e.type.is_bool or node.name not in ("real", "imag", "conjugate"):
        refuse(
            node.at,
            f"{describe(e)} has no attribute {node.name} in the kernel language",
            "real, imag and conjugate()",
        )
    if node.name == "conjugate":
        return Conjugate(e)
    if e.type.is_complex:
        return intrinsic(node.name, [e], node.at)
    return e if node.name == "real" else cast(constant(0), e.type)


def _array_attribute(cx: Context, array: ir.Array, node: s.Attribute) -> Value:
    if node.name == "shape":
        return tuple(scratch.extent(cx, array, axis) for axis in range(array.ndim))
    if node.name == "size" and array.ndim == 1:
        return scratch.extent(cx, array, 0)
    if node.name in ("emit", "append"):
        refuse(
            node.at,
            f"{spoken(array)}.{node.name} of an array",
            f"kernel.collect(..., {spoken(array)}=(numpy.int32, ...)) returns what a kernel emits"
            if node.name == "emit"
            else f"{spoken(array)} = ev.output(types, capacity=n) can be appended to",
        )
    refuse(
        node.at,
        f"an array has no attribute {node.name} in the kernel language",
        "layouts have it: scipy.sparse.csr_array(dense) makes a matrix of a dense array"
        if node.name in ("tiles", "atoms")
        else "shape, len() and subscripts",
    )


# ---- comparisons and logic -------------------------------------------------------------------
def comparison(cx: Context, node: s.Compare) -> ir.Expr:
    """Lower `a < b < c`. Each operand is evaluated once, and later ones only if the earlier comparison holds."""
    if node.ops[0] in ("is", "is not"):
        v = value(cx, node.first)
        return ir.Const((isinstance(v, Static) and v.object is None) == (node.ops[0] == "is"), BOOL)
    left, right = numbers(cx, (node.first, node.rest[0]), large=True)
    if len(node.ops) == 1:
        return compare(node.ops[0], left, right, node.at)
    shared = right if isinstance(right, ir.Const | ir.Var) else cx.assign("middle", right)
    rest = s.Compare(node.at, _Given(node.rest[0].at, shared), node.ops[1:], node.rest[1:])
    return _short_circuit(
        cx, "and", compare(node.ops[0], left, shared, node.at), lambda: comparison(cx, rest)
    )


class _Given(s.Name):
    """A surface expression whose value is already known."""

    __slots__ = ("known",)
    known: ir.Expr

    def __init__(self, at: Location, known: ir.Expr) -> None:
        super().__init__(at, f"<{id(known)}>")
        object.__setattr__(self, "known", known)


def logic(cx: Context, node: s.Logic) -> ir.Expr:
    return _logic(cx, node.op, node.values)


def _logic(cx: Context, op: str, nodes: tuple[s.Expr, ...]) -> ir.Expr:
    first = condition(cx, nodes[0], operand_of=op)
    if len(nodes) == 1:
        return first
    return _short_circuit(cx, op, first, lambda: _logic(cx, op, nodes[1:]))


def condition(cx: Context, node: s.Expr, operand_of: str = "") -> ir.Expr:
    """Return a truth value. `x and y` returns one of its operands in Python, so they must be truth values."""
    e = number(cx, node)
    if operand_of and not e.type.is_bool:
        refuse(node.at, f"'{operand_of}' of {describe(e)}", "compare it: x != 0")
    return truth(e)


def _short_circuit(cx: Context, op: str, left: ir.Expr, right: Any) -> ir.Expr:
    """Lower `left op right()`, with `right` evaluated only if `left` does not decide."""
    if isinstance(left, ir.Const):
        return right() if bool(left.value) == (op == "and") else left
    made = cx.branch(right)
    if not made.block:
        return ir.Logic(op, left, made.result)
    result = cx.assign("truth", left)
    made.block.append(ir.Assign(result, made.result, cx.at))
    block = tuple(made.block)
    cx.emit(ir.If(result, block) if op == "and" else ir.If(ir.Unary("not", result, BOOL), block))
    return result


def conditional(cx: Context, node: s.Conditional) -> Value:
    test = condition(cx, node.condition)
    if isinstance(test, ir.Const):
        return value(cx, node.then if test.value else node.otherwise)
    a = cx.branch(lambda: value(cx, node.then))
    b = cx.branch(lambda: value(cx, node.otherwise))
    if (
        not a.block
        and not b.block
        and isinstance(a.result, ir.Expr)
        and isinstance(b.result, ir.Expr)
    ):
        t = promote(a.result.type, b.result.type)
        t = t if not (t is WEAK_INT and cx.positions) else POS
        then, otherwise = cx.fit(a.result, t, node.at), cx.fit(b.result, t, node.at)
        return ir.Select(test, then, otherwise, t)
    met = cx.meet("chosen", a.result, b.result, a, b)
    if isinstance(met, Forbidden):
        refuse(node.at, met.message, met.hint)
    cx.emit(ir.If(test, tuple(a.block), tuple(b.block)))
    return met
