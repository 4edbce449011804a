"""Loops over tiles, from which phases are made later."""

from __future__ import annotations

from collections.abc import Iterator

from .. import ir
from .. import syntax as s
from ..diagnostics import refuse
from ..members import growing
from ..types import POS
from . import accumulators, effects, emits, items, methods, statements, tasks
from .context import Context, Tiles, leaves
from .values import Forbidden, Iterable, LayoutValue


def layout_code(cx: Context, layout: LayoutValue) -> ir.LayoutCode:
    """Return the functions of the layout that engines need, as IR."""
    return ir.LayoutCode(
        layout.cls.__name__,
        methods.code(cx, layout, "num_tiles", False),
        methods.code(cx, layout, "num_atoms", False),
        methods.code(cx, layout, "begin", True),
        methods.code(cx, layout, "end", True),
        layout.masked,
        items.are_items(layout),
    )


def _elsewhere(cx: Context, layout: LayoutValue) -> str:
    """Say what to write in the place of a loop that is not at the top level."""
    if cx.tiles is not None and items.tiles_of(cx.tiles.layout) is layout:
        return f"the tiles of the loop's item are {layout.name}.tiles(item)"
    if cx.tiles is None and cx.calls:
        return "write the loop in the kernel itself"
    if cx.tiles is None and cx.loop is None:
        return "test the condition in the loop, for each tile; a while at the top level may stand around loops"
    return "one loop over tiles after the other; a while at the top level may stand around them"


def lower_tiles(cx: Context, node: s.For, over: Iterable) -> None:
    """Lower `for tile in L.tiles():` at the top level of a kernel."""
    assert over.layout is not None
    within = cx.loop is not None and cx.loop.kind != "rounds"
    if cx.tiles is not None or within or cx.pure or not cx.top_level:
        refuse(
            node.iterable.at,
            f"a loop over {items.word(over.layout)} that is not at the top level of the kernel",
            _elsewhere(cx, over.layout),
        )
    layout: LayoutValue = over.layout
    if tasks.are_tasks(layout):
        tasks.lower_loop(cx, node, layout, lambda: _lower(cx, node, layout))
    else:
        _lower(cx, node, layout)


def _lower(cx: Context, node: s.For, layout: LayoutValue) -> None:
    body = s.without_continue(node.body)
    assigned = s.assigned(body)
    what = items.word(layout)
    ops = accumulators.accumulating(cx, assigned, body, f"over {what}", True)
    targets = [n.name for n in s.target_names(node.target)]

    def lower() -> None:
        cx.emit(_loop(cx, node, layout, body))  # type: ignore[arg-type]  # a step, at the top level

    for held in _held(layout):
        if growing(held.cls):
            what = "set of tasks" if tasks.are_tasks(held) else "frontier"
            refuse(
                node.iterable.at,
                f"a loop over {layout.name}, which holds a {what}",
                f"walk the {what} itself: for u in F.tiles()",
            )
    if (grows := growing(layout.cls)) and not tasks.are_tasks(layout):
        methods.changing(cx, layout, grows.swap, (), node.iterable.at)
    results = accumulators.accumulate_loop(cx, ops, f"over {what}", True, lower)
    if tasks.are_tasks(layout):
        for _, _, total in results:
            tasks.check_total(total, layout, node.at)
    for name in (*assigned, *targets):
        if name not in ops:
            cx.env[name] = Forbidden(
                f"{name} belongs to the loop over {what}",
                f"{what} have no order: store it, or accumulate into a variable assigned before the loop",
            )
    accumulators.finish(cx, results, node.at)


def _held(layout: LayoutValue) -> Iterator[LayoutValue]:
    """Yield the layouts in the fields of a layout, and those in theirs."""
    for value in layout.fields.values():
        if isinstance(value, LayoutValue):
            yield value
            yield from _held(value)


def _loop(cx: Context, node: s.For, layout: LayoutValue, body: tuple[s.Stmt, ...]) -> ir.TileLoop:
    code = layout_code(cx, layout)
    name = node.target.name if isinstance(node.target, s.Name) else "tile"
    tile = cx.variable(name, POS)
    cx.owned.discard(id(tile))
    env = dict(cx.env)
    totals = [
        v.accumulator
        for v in env.values()
        if isinstance(v, accumulators.Accumulating) and v.grid and v.accumulator is not None
    ]
    cx.top_level = False
    rounds, cx.loop = cx.loop, None
    with cx.writing() as block:
        cx.tiles = Tiles(layout, tile, tile)
        task = None
        if tasks.are_tasks(layout):
            cx.tiles.id, task = tasks.begin(cx, layout, tile, node.at)
        else:
            cx.tiles.id = methods.tile_id(cx, layout, tile)
        statements.bind_loop(cx, node.target, cx.tiles.id)
        statements.block(cx, body)
        ids = leaves(cx.tiles.id)
        emitting = cx.tiles.emitting
        cx.tiles = None
    cx.top_level, cx.loop = True, rounds
    cx.env = env
    effects.check(cx, tuple(block), items.word(layout), (tile, *ids), True)
    body_ = emits.close_tile(emitting, tile, block, node.at)
    return ir.TileLoop(code, layout.path, tile, tuple(totals), body_, node.at, task)
