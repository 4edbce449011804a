"""Serial loops: while, for over range and lanes, and walks over atoms by one processor alone."""

from __future__ import annotations

from collections.abc import Callable

from .. import ir
from .. import syntax as s
from ..diagnostics import Location, refuse
from ..types import POS, WEAK_INT, promote
from . import (
    accumulators,
    effects,
    expressions,
    local_arrays,
    methods,
    passes,
    rounds,
    statements,
    tiles,
)
from .arithmetic import constant
from .context import Context, Loop, leaves, rebuild, same_shape
from .values import Forbidden, Iterable, Value, describe


def lower_for(cx: Context, node: s.For) -> None:
    """Lower `for target in iterable`. The kind of loop depends on the iterable."""
    over = expressions.value(cx, node.iterable)
    if not isinstance(over, Iterable):
        refuse(
            node.iterable.at,
            f"a loop over {describe(over)}",
            "loop over A.tiles(), A.atoms(tile), range(n) or ev.lanes(n)",
        )
    if over.kind == "tiles":
        tiles.lower_tiles(cx, node, over)
    elif passes.is_pass(cx, over):
        passes.lower_pass(cx, node, over)
    else:
        lower_serial(cx, node, over)


def lower_serial(cx: Context, node: s.For, over: Iterable) -> None:
    if over.kind == "lanes":
        check_lanes(cx, node)

    def body(bound: Value, _var: ir.Var) -> None:
        statements.bind_loop(cx, node.target, bound)
        statements.block(cx, node.body)

    serial(cx, over, s.assigned(node.body), body, node.at)
    for target in s.target_names(node.target):
        cx.env[target.name] = Forbidden(
            f"{target.name} belongs to its loop, and has no value after it",
            "keep it in a variable assigned before the loop",
        )


def check_lanes(cx: Context, node: s.For) -> None:
    """Check that the lanes of `ev.lanes` are independent, or accumulate: no other value passes between them."""
    local_arrays.check_lanes(cx, node.body)
    for name, at in s.assigned(node.body).items():
        if leaves(cx.env.get(name, ())) and accumulators.operation(cx, name, node.body) is None:
            refuse(
                at,
                f"{name} passes from one lane to the next",
                "lanes are independent of each other; accumulate with +=, or use range()",
            )


def serial(
    cx: Context,
    over: Iterable,
    assigned: dict[str, Location],
    body: Callable[[Value, ir.Var], None],
    at: Location,
) -> None:
    """Lower a loop that one processor runs alone. `body` gets the loop variable's value, and the variable."""
    start, stop, step = bounds(cx, over)
    var = cx.variable("i", POS if over.kind == "atoms" else WEAK_INT)
    cx.owned.discard(id(var))  # the loop's own: assigning to its name makes another variable

    outer = cx.foreign
    if over.layout is not None and not (
        cx.tiles is not None and over.arguments[0] is cx.tiles.position
    ):
        cx.foreign = (*outer, over.layout)

    lanes = cx.in_lanes

    def lower(frame: Loop) -> None:
        cx.in_lanes = lanes or over.kind == "lanes"

        def once(bound: Value) -> None:
            body(bound, var)
            close(cx, frame)

        with cx.writing() as inner:
            if over.kind == "atoms":
                assert over.layout is not None
                tile = over.arguments[0]
                bound = methods.atom_id(cx, over.layout, tile, var)
                passes.masked(cx, over.layout, tile, var, lambda: once(bound))
            else:
                once(var)
        if over.kind == "lanes":
            effects.check(cx, tuple(inner), "lanes", (var,))
        assert over.kind != "tiles"
        cx.emit(ir.For(var, start, stop, step, tuple(inner), over.kind))

    carry(cx, assigned, lower, at, over.kind)
    cx.foreign, cx.in_lanes = outer, lanes


def bounds(cx: Context, over: Iterable) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
    """Return start, stop and step of a serial loop."""
    if over.kind == "atoms":
        assert over.layout is not None
        tile = over.arguments[0]
        begin, end = (methods.position(cx, over.layout, name, (tile,)) for name in ("begin", "end"))
        return begin, end, constant(1)
    given = [expressions.as_number(x, over.at) for x in over.arguments]
    for x in given:
        if not x.type.is_integer:
            refuse(over.at, f"{over.kind} of {x.type.spoken}", "it takes integers")
    if len(given) == 1:
        given = [constant(0), given[0]]
    if len(given) == 2:
        given.append(constant(1))
    if not isinstance(given[2], ir.Const):
        step = given[2]
        if not (isinstance(step, ir.Processor) or cx.positions or cx.schedule):
            refuse(over.at, "a range whose step is not a literal", "write a while loop")
    elif given[2].value == 0:
        refuse(over.at, "a range whose step is zero")
    held = [
        x
        if isinstance(x, ir.Const | ir.Var | ir.Param | ir.Extent | ir.Processor)
        else cx.assign("bound", x)
        for x in given
    ]
    return held[0], held[1], held[2]


def lower_yield(cx: Context, node: s.Yield) -> None:
    """Lower `yield tile` and `yield from range(...)` in the methods of a schedule."""
    if not cx.generator or len(cx.calls) > 1:
        refuse(
            node.at,
            "yield is not part of the kernel language",
            "store results into an output array",
        )
    given = expressions.value(cx, node.value)
    if node.each:
        if not (isinstance(given, Iterable) and given.kind == "range"):
            refuse(node.value.at, f"yield from {describe(given)}", "yield from range(start, stop)")
        cx.emit(ir.Yield(bounds(cx, given)))
        return
    position = expressions.as_number(given, node.value.at)
    if not position.type.is_integer:
        refuse(node.value.at, f"yield of {describe(position)}", "a tile or an atom is an integer")
    cx.emit(ir.Yield((position,)))


def lower_while(cx: Context, node: s.While) -> None:
    if cx.top_level and (cx.loop is None or cx.loop.kind == "rounds") and rounds.walks_tiles(node):
        rounds.lower_rounds(cx, node)
        return

    def lower(frame: Loop) -> None:
        with cx.writing() as before:
            test = expressions.condition(cx, node.condition)
        cx.conditional += 1
        with cx.writing() as inner:
            statements.block(cx, node.body)
            close(cx, frame)
        cx.conditional -= 1
        cx.emit(ir.While(tuple(before), test, tuple(inner)))

    carry(cx, s.assigned(node.body), lower, node.at)


# ---- variables that a loop carries ---------------------------------------------------------------
def carry(
    cx: Context,
    assigned: dict[str, Location],
    lower: Callable[[Loop], None],
    at: Location,
    kind: str = "while",
) -> None:
    """Lower a loop with one variable for each name that it changes.

    The type of such a variable is the common type of its first value and the values at the end
    of the body. The loop is lowered again until the types stay the same.
    """
    names = [n for n in assigned if leaves(cx.env.get(n, ()))]
    types = {n: tuple(leaf.type for leaf in leaves(cx.env[n])) for n in names}
    outer, saved, length = cx.loop, cx.snapshot(), len(cx.block)
    lost: dict[str, Forbidden] = {}
    while True:
        cx.env.update(lost)
        carried = {
            n: tuple(
                cx.assign(n, cx.fit(leaf, t, assigned[n]))
                for leaf, t in zip(leaves(cx.env[n]), types[n], strict=True)
            )
            for n in names
        }
        for n in names:
            cx.env[n] = rebuild(cx.env[n], iter(carried[n]))
        before = dict(cx.env)
        cx.loop = frame = Loop(carried, dict(types), before, assigned, kind)
        lower(frame)
        cx.loop = outer
        if frame.needed == types and not frame.lost:
            break
        del cx.block[length:]
        cx.restore(saved)
        lost |= frame.lost
        names = [n for n in names if n not in lost]
        types = {n: frame.needed[n] for n in names}
    for n in names:
        cx.note(at, before[n], n)
    _after(cx, before, assigned)


def close(cx: Context, frame: Loop) -> None:
    """Assign the carried variables, at the end of the body and at continue and break."""
    if cx.ended:
        return
    for name, variables in frame.carried.items():
        now = cx.env[name]
        if isinstance(now, Forbidden):
            frame.lost[name] = now
            continue
        if not same_shape(now, frame.shapes[name]):
            refuse(
                frame.assigned[name],
                f"{name} is {describe(frame.shapes[name])} before the loop and {describe(now)} in it",
            )
        needed = []
        for var, leaf, t in zip(variables, leaves(now), frame.needed[name], strict=True):
            needed.append(promote(t, leaf.type))
            if leaf is not var:
                cx.emit(ir.Assign(var, cx.fit(leaf, var.type, frame.assigned[name])))
        frame.needed[name] = tuple(needed)


def _after(cx: Context, before: dict[str, Value], assigned: dict[str, Location]) -> None:
    cx.env = dict(before)
    cx.ended = False
    for name in assigned:
        if name not in before:
            cx.env[name] = Forbidden(
                f"{name} has no value if the loop does not run", "assign it before the loop"
            )


def leave(cx: Context, node: s.Break | s.Continue) -> None:
    word = "break" if isinstance(node, s.Break) else "continue"
    if cx.loop is None:
        if cx.walk is not None:
            refuse(
                node.at,
                "break out of a loop over atoms: a tile's atoms have no order",
                "any, all and ev.first may stop early",
            )
        refuse(
            node.at,
            f"{word} out of the loop over tiles: tiles have no order",
            "put the rest of the body under an if",
        )
    if cx.loop.kind == "rounds":
        refuse(
            node.at,
            f"{word} in a while around loops over tiles",
            "break after the round's last loop over tiles, or make it part of the condition: while going and ..."
            if word == "break"
            else "each round runs all of its loops over tiles: test inside them",
        )
    if cx.loop.kind == "lanes" and word == "break":
        refuse(
            node.at,
            "break out of a loop over lanes: lanes are independent of each other",
            "use range()",
        )
    close(cx, cx.loop)
    cx.emit(ir.Break() if word == "break" else ir.Continue())
    cx.ended = True
