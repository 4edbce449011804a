"""Answer what a user-defined schedule asks about its processor, when workers run it.

A worker stands for as many virtual threads as the schedule's groups need (one, if it has no
groups), and runs them in sequence. There are no more virtual threads than that, since schedules
are correct for any number of processors.
"""

from __future__ import annotations

import math

from evenly.language import ir, walk
from evenly.language.schedule_code import ScheduleCode

from .text import Text


def threads_each(code: ScheduleCode, size: int) -> int:
    """Return how many virtual threads a worker stands for: whole groups of each size."""
    return math.lcm(size, *code.groups)


def answer(text: Text, each: int, member: str) -> None:
    """Let `text` print answers for virtual thread `member` (a name, or "0") of the `each` threads of a worker."""
    index = (
        "worker"
        if each == 1
        else f"(worker * {each})"
        if member == "0"
        else f"(worker * {each} + {member})"
    )
    count = "workers" if each == 1 else f"(workers * {each})"

    def processor(e: ir.Processor) -> str:
        match e.what:
            case "thread_index":
                return index
            case "thread_count":
                return count
            case "group_index":
                return index if e.size == 1 else f"({index} // {e.size})"
            case "group_count":
                return count if e.size == 1 else f"({count} // {e.size})"
            case "group_rank":
                return "0" if e.size == 1 else f"({index} % {e.size})"
        raise AssertionError(e)

    text.answers = processor


def is_plain(code: ScheduleCode, layout: ir.LayoutCode, owner: str, size: int) -> bool:
    """Whether each tile is walked once, as a whole, so that it does not matter which processor walks it.

    That is so if each of n processors (threads or groups) takes every n-th tile and all of its
    atoms (each of the m members of a group takes every m-th atom).
    """
    if code.setup:
        return False
    if not (code.tiles.results and code.atoms.results):
        return False
    kind, width = ("group", size) if owner == "group" else ("thread", 1)
    start, stop, step = _folded(code.tiles)
    if not (_asks(start, f"{kind}_index", width) and _asks(step, f"{kind}_count", width)):
        return False
    if not same(stop, layout.num_tiles.results[0]) or layout.num_tiles.body:
        return False
    first, last, by = _folded(code.atoms)
    begin, end = (_of_tile(code.atoms, c) for c in (layout.begin, layout.end))
    if begin is None or end is None or not same(last, end) or not isinstance(by, ir.Const):
        return False
    if owner == "group" and isinstance(first, ir.Binary) and first.op == "+":
        return (
            by.value == size and same(first.left, begin) and _asks(first.right, "group_rank", size)
        )
    return owner == "thread" and by.value == 1 and same(first, begin)


def _folded(code: ir.Inline) -> tuple[ir.Expr, ...]:
    """Return the results of `code`, with variables that are assigned once replaced by their values."""
    values: dict[ir.Var, ir.Expr] = {}

    def value(e: ir.Expr) -> ir.Expr | None:
        return values.get(e) if isinstance(e, ir.Var) else None

    for s in code.body:
        if not isinstance(s, ir.Assign) or s.var in values:
            return code.results
        values[s.var] = walk.map_expr(s.value, value)
    return tuple(walk.map_expr(e, value) for e in code.results)


def _asks(e: ir.Expr, what: str, size: int) -> bool:
    return isinstance(e, ir.Processor) and e.what == what and e.size == size


def _of_tile(atoms: ir.Inline, code: ir.Inline) -> ir.Expr | None:
    """Return the result of a layout's method for the tile that is the parameter of `atoms`."""
    body, results = walk.substitute(code, atoms.params)
    return None if body else results[0]


def same(a: ir.Expr, b: ir.Expr) -> bool:
    """Whether two expressions compute the same value. Arrays and parameters are compared by their paths."""
    if type(a) is not type(b) or a.type != b.type:
        return False
    match a, b:
        case ir.Var(), _:
            return a is b
        case ir.Element(), ir.Element():
            return a.array.path == b.array.path and _all_same(a.indices, b.indices)
        case ir.Extent(), ir.Extent():
            return a.array.path == b.array.path and a.axis == b.axis
        case ir.Param(), ir.Param():
            return a.path == b.path
        case (ir.Const(), _) | (ir.Processor(), _):
            return a == b
        case ir.Call(), ir.Call():
            return a.name == b.name and _all_same(a.arguments, b.arguments)
    return getattr(a, "op", None) == getattr(b, "op", None) and _all_same(
        walk.parts(a), walk.parts(b)
    )


def _all_same(a: tuple[ir.Expr, ...], b: tuple[ir.Expr, ...]) -> bool:
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
