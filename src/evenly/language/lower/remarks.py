"""Lower `print` and `assert`, which read values and change nothing."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

from .. import ir, walk
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..remarks import refuse_keyword
from . import expressions, statements
from .context import Context
from .values import Static


def lower(cx: Context, node: s.Print | s.Assert) -> None:
    if isinstance(node, s.Assert):
        with _reading(cx, "an assertion", node.at):
            condition = expressions.condition(cx, node.condition)
        cx.emit(ir.Assert(condition, node.text, node.at))
        return
    if expressions.value(cx, node.call.function) != Static(builtins.print):
        statements.evaluate(cx, node.call)  # a function of the user's with that name
        return
    if node.call.keywords:
        name, value = node.call.keywords[0]
        refuse_keyword(name, value.at)
    with _reading(cx, "a print", node.at):
        numbers = iter(expressions.numbers(cx, node.call.arguments))
    parts = (part if isinstance(part, str) else next(numbers) for part in node.parts)
    cx.emit(ir.Print(tuple(parts), node.at))


@contextmanager
def _reading(cx: Context, what: str, at: Location) -> Iterator[None]:
    """Refuse effects and passes in this context. Required lengths are not noted: not all targets run this code."""
    if cx.pure:
        refuse(at, f"{what} {cx.pure}", "it stands in a statement of the kernel itself")
    before = len(cx.block)
    cx.conditional += 1
    with cx.without_effects(f"in {what}"):
        yield
    cx.conditional -= 1
    if any(isinstance(x, ir.Pass) for x in walk.statements(tuple(cx.block[before:]))):
        refuse(at, f"a reduction over atoms in {what}", "assign it to a variable first")
