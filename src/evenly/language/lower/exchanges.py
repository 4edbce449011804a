"""What the members of a group tell each other, in the setup of a schedule: g.sum, g.scan, g.broadcast, g.gather."""

from __future__ import annotations

from .. import ir, walk
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import POS
from . import expressions
from .arithmetic import cast
from .context import Context
from .values import Gathered, Group, Value, counted, describe

EXCHANGES = {"sum": 1, "scan": 1, "broadcast": 2, "gather": 1}  # the numbers that each takes


def lower(cx: Context, group: Group, what: str, node: s.Call) -> Value:
    name, size = f"ev.group({group.size}).{what}", group.size
    if not cx.setup:
        hint = "the members of a group come together once: return the result in the state"
        refuse(node.at, f"{name} outside setup", hint)
    exclusive = _exclusive(cx, what, node, name)
    if len(node.arguments) != EXCHANGES[what]:
        wanted = counted(EXCHANGES[what], "number")
        refuse(node.at, f"{name} takes {wanted}, got {len(node.arguments)}")
    given = []
    for e, argument in zip(expressions.numbers(cx, node.arguments), node.arguments, strict=True):
        if not e.type.is_integer:
            refuse(argument.at, f"{name} of {describe(e)}", "it takes integers")
        given.append(cx.assign("given", cast(e, POS)))
    op: ir.Exchanged = "before" if exclusive else what  # type: ignore[assignment]
    result = cx.variable(what, POS)
    cx.emit(ir.Exchange(op, size, tuple(given), result, node.at))
    return Gathered(result, size) if op == "gather" else result


def _exclusive(cx: Context, what: str, node: s.Call, name: str) -> bool:
    """Return `exclusive=` of g.scan."""
    exclusive = False
    for keyword, given in node.keywords:
        if what != "scan" or keyword != "exclusive":
            refuse(given.at, f"{name} takes no argument {keyword}")
        e = expressions.number(cx, given)
        if not (isinstance(e, ir.Const) and e.type.is_bool):
            refuse(
                given.at, "exclusive= must be known when the kernel is compiled", "True or False"
            )
        exclusive = bool(e.value)
    return exclusive


def element(cx: Context, gathered: Gathered, node: s.Subscript) -> ir.Expr:
    """Lower `numbers[rank]`."""
    given = expressions.numbers(cx, node.indices)
    if len(given) != 1 or not given[0].type.is_integer:
        refuse(node.at, f"{describe(gathered)} have one index, a rank", "an integer")
    index = given[0]
    if isinstance(index, ir.Const) and not 0 <= index.value < gathered.size:
        refuse(node.at, f"index {index.value} of a group of {gathered.size}")
    return ir.Peer(gathered.var, gathered.size, index, POS, node.at)


def check_place(setup: ir.Block, at: Location) -> None:
    """Refuse exchanges that not all members come to: those in loops and under conditions."""
    top = {id(x) for x in setup}
    for x in walk.statements(setup):
        if isinstance(x, ir.Exchange) and id(x) not in top:
            name = "scan" if x.op == "before" else x.op
            refuse(
                x.at or at,
                f"ev.group({x.size}).{name} in a loop or under a condition",
                "all members of a group must come to it: call it in the body of setup itself",
            )
