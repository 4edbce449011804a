"""Refuse emits that depend on the kernel's other effects: the run that counts has none of them."""

from __future__ import annotations

from collections.abc import Iterator

from . import ir, walk
from .dependence import Dependence, depend
from .diagnostics import Location, refuse

Emit = tuple[ir.Store, tuple[ir.Expr, ...]]


def check(program: ir.Program, out: str) -> None:
    """Check a program that fills `out`. Raises LanguageError."""
    code = tuple(s for step in program.steps for s in step.body)
    emitted = list(_emits(code, out, ()))
    _one_loop(program, out, emitted)
    written = {a for a in walk.arrays_written(code) if a.path[0] != out}
    changed = {
        v for s in walk.statements(code) if isinstance(s, ir.Atomic) for v in walk.assigned(s)
    }
    dependence = Dependence(code, (), results=False)

    def stored(e: ir.Element) -> bool:
        return e.array in written

    by_effects = dependence.following(changed, stored)
    for store, conditions in emitted:
        if depend((*store.indices, *conditions), by_effects, stored):
            _refuse(
                store.at,
                f"{out}.emit depends on what the kernel stores, or on what an atomic returns: "
                "the run that counts does neither",
                "emit in a kernel of its own, after the one that stores",
            )


def loop_of(program: ir.Program, out: str) -> ir.Path | None:
    """Return the path of the layout whose tiles emit; None if no tile does."""
    for step in program.steps:
        if isinstance(step, ir.TileLoop) and any(
            a.path[0] == out for a in walk.arrays_written(step.body)
        ):
            return step.path
    return None


def _one_loop(program: ir.Program, out: str, emitted: list[Emit]) -> None:
    loops = [
        step
        for step in program.steps
        if any(a.path[0] == out for a in walk.arrays_written(step.body))
    ]
    if len(loops) > 1:
        last = {id(s) for s in walk.statements(loops[1].body)}
        at = next(s.at for s, _ in emitted if id(s) in last)
        _refuse(at, f"{out}.emit in two loops over tiles", "collect twice, with two kernels")


def _emits(block: ir.Block, out: str, under: tuple[ir.Expr, ...]) -> Iterator[Emit]:
    for s in block:
        if isinstance(s, ir.Store) and s.array.path[0] == out:
            yield s, under
        inner = (*under, *walk.operands(s)) if isinstance(s, ir.If | ir.While | ir.For) else under
        for nested in walk.blocks(s):
            yield from _emits(nested, out, inner)


def _refuse(at: Location | None, message: str, hint: str) -> None:
    assert at is not None
    refuse(at, message, hint)
