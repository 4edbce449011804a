"""Passes: walks over a tile's atoms that its processors share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .. import combine, ir, scans
from .. import syntax as s
from ..diagnostics import Location
from ..types import POS, promote
from . import accumulators, effects, emits, item_accumulators, items, methods, statements, tiles
from .accumulators import Accumulating
from .arithmetic import cast, truth
from .context import Context, Tiles, Walk, leaves
from .item_accumulators import AccumulatingArray
from .values import Forbidden, Iterable, LayoutValue, Value


def is_pass(cx: Context, over: Iterable) -> bool:
    """Whether a loop over these atoms is shared by a tile's processors (otherwise one of them walks alone)."""
    if over.kind != "atoms" or cx.walk is not None or cx.tiles is None:
        return False
    return over.layout is cx.tiles.layout and over.arguments[0] is cx.tiles.position


def lower_pass(cx: Context, node: s.For, over: Iterable) -> None:
    body = s.without_continue(node.body)
    assigned = s.assigned(body)
    local = dict(assigned)
    assert over.layout is not None
    what = items.inner_word(over.layout)
    ops = accumulators.accumulating(
        cx,
        {n: at for n, at in assigned.items() if not isinstance(cx.env.get(n), Accumulating)},
        body,
        f"over {what}",
        False,
    )
    arrays = item_accumulators.accumulating(cx, body)
    states: list[item_accumulators.AccumulatingArray] = []
    hidden = {n.name: cx.env.get(n.name) for n in s.target_names(node.target)}

    def one_atom(bound: Value, _position: ir.Var) -> None:
        statements.bind_loop(cx, node.target, bound)
        statements.block(cx, body)

    def lower() -> None:
        states[:] = item_accumulators.start(cx, arrays)
        walk_atoms(cx, one_atom, node.at)

    results = accumulators.accumulate_loop(cx, ops, f"over {what}", False, lower)
    for name in local:
        if name not in ops and not isinstance(cx.env.get(name), Accumulating):
            cx.env[name] = Forbidden(
                f"{name} belongs to the loop over {what}",
                f"{what} have no order: accumulate into a variable assigned before the loop",
            )
    for name in hidden:
        cx.env[name] = Forbidden(
            f"{name} belongs to the loop over {what}",
            f"{what} have no order: use ev.first or ev.argmax to find one",
        )
    accumulators.finish(cx, results, node.at)
    item_accumulators.finish(cx, states)


def walk_atoms(
    cx: Context,
    body: Callable[[Value, ir.Var], object],
    at: Location,
    extra: tuple[ir.Accumulator, ...] | None = None,
) -> None:
    """Write the pass. `extra`: accumulators without names (those of sum() and the like)."""
    assert cx.tiles is not None
    atom = cx.variable("k", POS)
    cx.owned.discard(id(atom))
    outer_loop, cx.loop = cx.loop, None
    again = outer_loop is not None and outer_loop.kind != "lanes"
    batch = items.tiles_of(cx.tiles.layout)
    grids = {n: v for n, v in cx.env.items() if isinstance(v, Accumulating) and v.grid}
    inner = {n: _partial(cx, n, v) for n, v in grids.items()}
    env = dict(cx.env)
    cx.env.update(inner)
    counting = None
    if batch is None:
        cx.walk = Walk(atom, again, cx.conditional)
        pass_, bound = _atoms(cx, atom, body, at)
        counting = cx.walk.counting
        effects.check(cx, pass_.body, "atoms", (atom, *leaves(bound), *scans.scanned(pass_)))
        scans.check(pass_, None if counting is None else counting.earlier)
        cx.walk = None
    else:
        pass_, bound = _tiles_of_item(cx, batch, atom, body, at)
        effects.check(cx, pass_.body, "tiles", (atom, *leaves(bound)))
    used = {s_.accumulator: None for s_ in _accumulates(pass_.body)}
    cx.loop, cx.env = outer_loop, env
    named = [
        v.accumulator
        for v in cx.env.values()
        if isinstance(v, Accumulating) and not v.grid and v.accumulator is not None
    ]
    accumulators = [
        a
        for a in (*named, *(extra or ()), *(v.accumulator for v in inner.values()))
        if a in used or a in (extra or ()) or a in named
    ]
    accumulators += [] if counting is None else [counting.total]
    cx.emit(replace(pass_, accumulators=tuple(dict.fromkeys(accumulators))))
    emits.close_pass(cx, counting)
    for name, state in grids.items():
        part = inner[name]
        if part.accumulator in used:
            if isinstance(state, AccumulatingArray):
                assert isinstance(part, AccumulatingArray)
                item_accumulators.pass_on(cx, part, state)
                continue
            state.needed[0] = promote(state.needed[0], part.needed[0])
            assert part.accumulator is not None and state.accumulator is not None
            cx.emit(
                ir.Accumulate(
                    state.accumulator,
                    (cast(part.accumulator.fields[0], state.accumulator.fields[0].type),),
                )
            )


def _atoms(
    cx: Context, atom: ir.Var, body: Callable[[Value, ir.Var], object], at: Location
) -> tuple[ir.Pass, Value]:
    """Return the pass over the tile's atoms, and the id of an atom."""
    assert cx.tiles is not None
    with cx.writing() as block:
        bound = methods.atom_id(cx, cx.tiles.layout, cx.tiles.position, atom)

        def one() -> None:
            mark = len(cx.block)
            body(bound, atom)
            emits.close_atom(cx, mark)

        masked(cx, cx.tiles.layout, cx.tiles.position, atom, one)
    return ir.Pass(atom, (), tuple(block), at), bound


def _tiles_of_item(
    cx: Context,
    batch: LayoutValue,
    tile: ir.Var,
    body: Callable[[Value, ir.Var], object],
    at: Location,
) -> tuple[ir.Pass, Value]:
    """Return the pass over an item's tiles, and the id of a tile. Its body is that of a loop over tiles.

    To it, the accumulators of the item are what those of the grid are to other tiles.
    """
    outer = cx.tiles
    cx.tiles = Tiles(batch, tile, tile, item=outer)
    whole = {n: replace(v, grid=True) for n, v in cx.env.items() if isinstance(v, Accumulating)}
    cx.env.update(whole)
    with cx.writing() as block:
        bound = cx.tiles.id = methods.tile_id(cx, batch, tile)
        body(bound, tile)
    cx.tiles = outer
    return ir.Pass(tile, (), tuple(block), at, tiles.layout_code(cx, batch)), bound


def _partial(cx: Context, name: str, state: Accumulating) -> Accumulating:
    """Return a tile's own part of an accumulator of the grid."""
    if isinstance(state, AccumulatingArray):
        return item_accumulators.partial(cx, name, state)
    assert state.accumulator is not None
    t = state.accumulator.fields[0].type
    fields, start = (cx.variable(name, t),), (combine.identity(state.op, t),)
    acc = ir.Accumulator(state.op, fields, start, at=state.accumulator.at)
    return Accumulating(state.message, state.hint, state.op, acc, [t], False)


def _accumulates(block: ir.Block) -> list[ir.Accumulate]:
    from ..walk import statements as every

    return [x for x in every(block) if isinstance(x, ir.Accumulate)]


def masked(
    cx: Context, layout: LayoutValue, tile: Value, atom: ir.Var, body: Callable[[], object]
) -> None:
    """Write `body` under the layout's mask, if it has one."""
    valid = methods.valid(cx, layout, tile, atom)
    if valid is None:
        body()
        return
    with cx.writing() as inner:
        body()
        ended = cx.ended
    cx.ended = ended
    cx.emit(ir.If(truth(valid), tuple(inner)))
