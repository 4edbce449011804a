"""The columns of what a kernel appends to or emits to: a call gives a value for each, stored at a place of its own."""

from __future__ import annotations

from .. import ir
from .. import syntax as s
from ..diagnostics import refuse
from ..members import columns_of
from . import expressions, statements
from .context import Context
from .values import LayoutValue, counted

Row = list[tuple[ir.Array, ir.Expr]]  # each column with its value


def check_call(cx: Context, call: str, node: s.Call, instead: str) -> None:
    """Refuse arguments by name, and a call in code that may have no effects. instead: what to do there."""
    if node.keywords:
        name, value_node = node.keywords[0]
        refuse(value_node.at, f"{call} takes no argument {name}", "values by place, one a column")
    if cx.pure:
        refuse(node.at, f"{call} {cx.pure}", instead)


def row(cx: Context, call: str, out: LayoutValue, node: s.Call, made_by: str) -> Row:
    """Lower the arguments of a call. made_by: how the user says which columns there are, for the error."""
    fields = (out.fields[name] for name in columns_of(out.cls))
    columns = [a for a in fields if isinstance(a, ir.Array)]
    values = expressions.numbers(cx, node.arguments, large=True)
    if len(values) != len(columns):
        refuse(
            node.at,
            f"{call} takes {counted(len(columns), 'value')}, got {len(values)}",
            f"one for each type of {made_by}",
        )
    return list(zip(columns, values, strict=True))


def store(cx: Context, values: Row, place: ir.Expr, node: s.Call) -> None:
    """Store a row where no other store is."""
    for column, value in values:
        stored = statements.convert(column, value, node.at)
        cx.emit(ir.Store(column, (place,), stored, node.at, alone=True))
