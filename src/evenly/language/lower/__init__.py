"""Lowering: from the surface tree and the types of the arguments to the typed program.

This step resolves names, infers types, inlines functions and methods, recognises reductions,
and tells loops over atoms from serial loops. It comes directly after parsing, because every
later step needs types and none needs Python's names.

    context, values                       names in scope; what they can mean
    rounds, tiles, items, tasks           loops over tiles, items and tasks, and `while` around them
    passes, accumulators, item_accumulators, reductions, scans   loops over a tile's atoms
    loops, statements, expressions, subscripts, calls, arithmetic   serial code
    functions, methods                    what is inlined: functions; what layouts and schedules have
    local_arrays, scratch, staging        arrays of a tile's own
    emits, appends, columns               outputs of unknown size
    atomics, effects                      atomics; updates that would lose something
    exchanges                             what members of a group tell each other, in schedules
    remarks, hints                        print and assert; what to write instead
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import ir, reads
from .. import syntax as s
from ..members import growing
from ..source import Source
from ..specs import ArraySpec, LayoutSpec, ScalarSpec, Spec, StaticSpec
from . import emits, functions, methods, rounds
from .arithmetic import constant
from .context import Context
from .values import LayoutValue, ScheduleValue, Static, Value


def lower_kernel(source: Source, tree: s.Function, specs: tuple[Spec, ...]) -> ir.Program:
    """Return the typed program of a kernel for arguments of these types. Raises LanguageError."""
    cx = Context(source.captured, frozenset(s.assigned(tree.body)))
    for name, spec in zip(tree.parameters, specs, strict=True):
        cx.env[name] = bind(cx, (name,), spec)
    modes = {emits.mode(v) for v in cx.env.values() if isinstance(v, LayoutValue)}
    cx.counts, cx.emits = "count" in modes, bool(modes - {""})
    rounds.block(cx, tree.body)
    cx.check_fits()
    steps = rounds.steps(cx.block)
    return ir.Program(tree.name, steps, frozenset(cx.requirements), cx.meets)


def lower_layout(layout_spec: LayoutSpec, path: ir.Path) -> tuple[Context, LayoutValue]:
    """Make a context that only knows a layout, for schedules, which see nothing else."""
    cx = Context({})
    cx.namer.used.update({"t"})
    value = bind(cx, path, layout_spec)
    assert isinstance(value, LayoutValue)
    return cx, value


def call_schedule(cx: Context, schedule: Any, name: str, arguments: tuple[Value, ...]) -> Value:
    """Inline the method `name` of a schedule into the current block.

    In a method that yields, arithmetic is 64 bits wide: a thread may look for work beyond all positions.
    """
    from ..func import parsed

    function = reads.member_of(type(schedule), name)
    source, tree = parsed(function)
    with methods.positions(cx, True):
        cx.positions = not cx.generator
        return functions.inline(
            cx, source, tree, (ScheduleValue(schedule), *arguments), {}, tree.at
        )


def bind(cx: Context, path: ir.Path, spec: Spec) -> Value:
    """Return the value of a parameter."""
    match spec:
        case ArraySpec(dtype=dtype, ndim=ndim, ids=ids):
            return ir.Array(cx.namer.fresh("_".join(path)), dtype, ndim, path, ids)
        case ScalarSpec(type=t):
            return ir.Param(cx.namer.fresh("_".join(path)), t, path)
        case StaticSpec(value=None):
            return Static(None)
        case StaticSpec(value=int(value)):
            return constant(value)
        case LayoutSpec(cls=cls, fields=fields, masked=masked):
            bound = {name: bind(cx, (*path, name), field) for name, field in fields}
            of_call = growing(cls) is not None
            if of_call or getattr(cls, "appends", False):
                bound |= {
                    n: replace(v, grows=True, of_call=of_call)
                    for n, v in bound.items()
                    if isinstance(v, ir.Array)
                }
            return LayoutValue(cls, path, bound, masked)
    raise AssertionError(spec)
