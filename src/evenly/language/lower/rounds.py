"""The top level of a kernel: its statements, its loops over tiles, and `while` around loops over tiles.

A round is one run of the body of such a while. Its rounds follow each other, as those of a serial loop do, so names
pass from one to the next. The device decides whether there is another round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from . import expressions, loops, statements
from .arithmetic import constant
from .context import Context, Loop


def block(cx: Context, body: tuple[s.Stmt, ...]) -> None:
    """Lower statements of the kernel itself, among which loops over tiles may stand."""
    for node in body:
        if cx.ended:
            return
        if isinstance(node, s.If) and walks_tiles(node):
            test = expressions.condition(cx, node.condition)
            if isinstance(test, ir.Const):  # an argument that is None, or a constant
                block(cx, node.then if test.value else node.otherwise)
                continue
        cx.top_level = isinstance(node, s.For | s.While)
        statements.lower(cx, node)
        cx.top_level = False


def walks_tiles(node: s.Stmt) -> bool:
    """Whether a statement is a loop over tiles, or has one in it."""
    for inner in (node, *_nested(node)):
        if isinstance(inner, s.For) and isinstance(inner.iterable, s.Call):
            callee = inner.iterable.function
            if isinstance(callee, s.Attribute) and callee.name == "tiles":
                return True
    return False


def _nested(node: s.Stmt) -> list[s.Stmt]:
    return [x for body in s.blocks(node) for inner in body for x in (inner, *_nested(inner))]


def lower_rounds(cx: Context, node: s.While) -> None:
    """Lower a while around loops over tiles."""
    if cx.emits:
        refuse(
            node.at,
            "a while around loops over tiles in a kernel that emits",
            "emit in a kernel of its own, after this one",
        )
    node, left = _without_jumps(cx, node)
    repeat(
        cx,
        s.assigned(node.body),
        lambda: expressions.condition(cx, node.condition),
        lambda: block(cx, node.body),
        node.at,
    )
    cx.env.pop(left, None)


def repeat(
    cx: Context,
    assigned: dict[str, Location],
    another: Callable[[], ir.Expr],
    once: Callable[[], None],
    at: Location,
) -> None:
    """Lower rounds. another: lowers the condition for another round. once: lowers the body, which sets `assigned`."""

    def lower(frame: Loop) -> None:
        with cx.writing() as test:
            condition = cx.assign("another", another())
        with cx.writing() as body:
            once()
            loops.close(cx, frame)
        cx.emit(ir.Rounds(tuple(test), condition, steps(body), at))  # type: ignore[arg-type]  # a step

    cx.top_level = False
    loops.carry(cx, assigned, lower, at, "rounds")


def _without_jumps(cx: Context, node: s.While) -> tuple[s.While, str]:
    """Return the loop without the `break` and `continue` after the last loop over tiles of a round.

    A round that breaks sets a name, which the condition looks at. Return this name, too; "": there is none.
    """
    first = 1 + max(i for i, inner in enumerate(node.body) if walks_tiles(inner))
    end = s.without_continue(node.body[first:])
    if not any(s.holds(inner, s.Break) for inner in end):
        return s.While(node.at, node.condition, (*node.body[:first], *end)), ""
    left = "left"
    while left in cx.env or left in cx.local or left in cx.captured:
        left += "_"
    name, yes, no = s.Name(node.at, left), s.Constant(node.at, True), s.Constant(node.at, False)
    end = s.without_break(end, (s.Assign(node.at, (name,), yes),))
    cx.bind(left, constant(False), node.at)
    condition = s.Conditional(node.condition.at, name, no, node.condition)
    return s.While(node.at, condition, (*node.body[:first], *end)), left


def steps(block: list[Any]) -> tuple[ir.Step, ...]:
    """Cut the top level of a kernel, or of a while, at its loops."""
    found: list[ir.Step] = []
    scalars: list[ir.Stmt] = []
    for item in block:
        if isinstance(item, ir.TileLoop | ir.Rounds):
            if scalars:
                found.append(ir.Scalars(tuple(scalars)))
                scalars = []
            found.append(item)
        else:
            scalars.append(item)
    if scalars:
        found.append(ir.Scalars(tuple(scalars)))
    return tuple(found)
