"""Staging: `xs = ev.stage(x, B.columns(item))` is the array x, of which a part is near the threads that read it."""

from __future__ import annotations

from dataclasses import replace

from .. import ir
from .. import syntax as s
from ..diagnostics import refuse
from ..types import POS
from . import expressions
from .arithmetic import cast
from .context import Context
from .values import Iterable, describe, spoken


def stage(cx: Context, node: s.Call) -> ir.Array:
    """Lower `ev.stage(array, range(first, last))`."""
    if node.keywords or len(node.arguments) != 2:
        refuse(node.at, "ev.stage takes an array and a range", "ev.stage(x, range(first, last))")
    if cx.tiles is None or cx.walk is not None or cx.loop is not None or cx.conditional:
        refuse(
            node.at,
            "ev.stage in a place where threads do not come together",
            "stage at the top of a loop over items or tiles, outside conditions and inner loops",
        )
    array, over = (expressions.value(cx, a) for a in node.arguments)
    if not isinstance(array, ir.Array) or array.ndim != 1 or array.staged:
        given = f"an array of {array.ndim} axes" if isinstance(array, ir.Array) else describe(array)
        refuse(node.arguments[0].at, f"ev.stage of {given}", "it takes an array of one axis")
    if not isinstance(over, Iterable) or over.kind != "range" or len(over.arguments) > 2:
        refuse(
            node.arguments[1].at,
            f"ev.stage of {spoken(array)} over {describe(over)}",
            "the part that is read: range(first, last)",
        )
    bounds = [expressions.as_number(e, over.at) for e in over.arguments]
    first, last = bounds if len(bounds) == 2 else (ir.Const(0, POS), bounds[0])
    staged = replace(array, staged=cx.namer.fresh(f"{array.path[-1]}_staged"))
    first, last = (cx.assign("bound", cast(e, POS)) for e in (first, last))
    cx.emit(ir.Stage(staged, first, last, node.at))
    return staged
