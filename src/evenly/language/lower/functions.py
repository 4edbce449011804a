"""Inline @ev.func functions and methods, with the types of each call."""

from __future__ import annotations

from collections.abc import Container

from .. import ir
from .. import syntax as s
from ..depth import shallow
from ..diagnostics import Location, refuse
from ..source import Source
from . import expressions, statements
from .context import Context
from .values import Forbidden, LayoutValue, Static, Value, counted


def inline(
    cx: Context,
    source: Source,
    tree: s.Function,
    arguments: tuple[Value, ...],
    keywords: dict[str, Value],
    at: Location,
    acts: bool = False,
) -> Value:
    """Write the body of a call into the current block, and return its value.

    acts: whether the body may have effects, as a statement that stands in the place of the call.
    """
    # A method may call the method of the same name of a layout that its own layout holds, as in a subset of a
    # subset. Several functions may also be made of one text: each has a source of its own.
    owner = arguments[0].name if arguments and isinstance(arguments[0], LayoutValue) else ""
    name = f"{id(source)}:{owner}"
    if name in cx.calls:
        refuse(
            at,
            f"{tree.name} calls itself",
            "recursion is not part of the kernel language: write a loop",
        )
    defaults = source.defaults()
    bound = _bind(cx, tree, defaults, arguments, keywords, at)
    outer = cx.env, cx.captured, cx.local, cx.owned, cx.loop, cx.calls, cx.pure, cx.sites
    top_level, cx.top_level = cx.top_level, False
    cx.sites = (*cx.sites, at.place)
    cx.env, cx.captured, cx.local, cx.owned = bound, source.captured, frozenset(), set()
    cx.calls = (*cx.calls, name)
    if not acts:
        cx.loop = None
    if not acts and not (
        cx.changing and isinstance(arguments[0], LayoutValue) and arguments[0].path == cx.changing
    ):
        cx.pure = f"in {tree.name}, which is called for its value"
    try:
        for parameter, default in defaults.items():
            if parameter not in bound:
                node = s.Name(tree.defaults.get(parameter, tree.at), parameter)
                bound[parameter] = expressions.from_python(default, node)
        cx.local = frozenset(s.assigned(tree.body))
        with shallow(source, least=50):
            return _value_of(cx, tree.body, tree.at)
    finally:
        cx.env, cx.captured, cx.local, cx.owned, cx.loop, cx.calls, cx.pure, cx.sites = outer
        cx.top_level = top_level


def _bind(
    cx: Context,
    tree: s.Function,
    defaults: Container[str],
    arguments: tuple[Value, ...],
    keywords: dict[str, Value],
    at: Location,
) -> dict[str, Value]:
    by_place = tree.parameters[: tree.by_place]
    if len(arguments) > len(by_place):
        alone = " by place" if by_place != tree.parameters else ""
        refuse(
            at,
            f"{tree.name} takes {counted(len(by_place), 'argument')}{alone}, got {len(arguments)}",
        )
    bound = {p: _held(cx, p, v) for p, v in zip(by_place, arguments, strict=False)}
    for name, v in keywords.items():
        if name not in tree.parameters:
            refuse(at, f"{tree.name} takes no argument {name}")
        if name in bound:
            refuse(at, f"{tree.name} got {name} twice")
        if name in tree.parameters[: tree.only_by_place]:
            refuse(at, f"{tree.name} takes {name} by place only")
        bound[name] = _held(cx, name, v)
    for p in tree.parameters:
        if p not in bound and p not in defaults:
            refuse(at, f"{tree.name} needs an argument {p}")
    return bound


def no_keywords(node: s.Call) -> None:
    """Check a call of what takes its arguments by place."""
    if node.keywords:
        name, value_node = node.keywords[0]
        refuse(value_node.at, f"no argument {name} here")


def _held(cx: Context, name: str, v: Value) -> Value:
    """Evaluate an argument once, before the call."""
    if isinstance(v, tuple):
        return tuple(_held(cx, name, x) for x in v)
    if not isinstance(v, ir.Expr) or isinstance(v, ir.Const | ir.Var | ir.Param | ir.Extent):
        return v
    return cx.assign(name, v)


def _value_of(cx: Context, body: tuple[s.Stmt, ...], at: Location) -> Value:
    """Lower a function's body. The code after an `if` that returns belongs to the other branch."""
    for i, node in enumerate(body):
        if isinstance(node, s.Return):
            if node.value is None:
                return Static(None)
            with cx.standing(node.at):
                return expressions.value(cx, node.value)
        if isinstance(node, s.If) and _returns(node):
            with cx.standing(node.at):
                return _chosen(cx, node, body[i + 1 :], at)
        if isinstance(node, s.For | s.While):
            inner = next((x for x in _all(node) if isinstance(x, s.Return)), None)
            if inner is not None:
                refuse(
                    inner.at, "return inside a loop", "assign the result to a variable and break"
                )
        statements.lower(cx, node)
    return Static(None)


def _chosen(cx: Context, node: s.If, rest: tuple[s.Stmt, ...], at: Location) -> Value:
    test = expressions.condition(cx, node.condition)
    if isinstance(test, ir.Const):
        return _value_of(cx, (node.then if test.value else node.otherwise) + rest, at)
    a = cx.branch(lambda: _value_of(cx, node.then + rest, at))
    b = cx.branch(lambda: _value_of(cx, node.otherwise + rest, at))
    met = cx.meet("result", a.result, b.result, a, b)
    if isinstance(met, Forbidden):
        refuse(node.at, met.message, "every path of a function returns the same kind of value")
    cx.emit(ir.If(test, tuple(a.block), tuple(b.block)))
    return met


def _all(node: s.Stmt) -> list[s.Stmt]:
    return [node, *(x for block in s.blocks(node) for inner in block for x in _all(inner))]


def _returns(node: s.Stmt) -> bool:
    return any(isinstance(x, s.Return) for x in _all(node))
