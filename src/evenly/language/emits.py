"""Refuse emits that depend on the kernel's other effects: the run that counts has none of them."""

from __future__ import annotations

from collections.abc import Iterator

from . import ir, walk
from .dependence import Dependence, depend
from .diagnostics import refuse

Emit = tuple[ir.Store, tuple[ir.Expr, ...]]  # with the conditions under which it is made


def check(program: ir.Program) -> None:
    """Check a program that emits. Raises LanguageError."""
    code = tuple(s for step in program.pieces for s in step.body)
    _in_one_loop(program)
    written = {a for a in walk.arrays_written(code) if not _is_emitted(a)}
    changed = {
        v for s in walk.statements(code) if isinstance(s, ir.Atomic) for v in walk.assigned(s)
    }

    def stored(e: ir.Element) -> bool:
        return e.array in written

    by_effects = Dependence(code, (), results=False).following(changed, stored)
    for store, conditions in _emits(code, ()):
        if depend((*store.indices, *conditions), by_effects, stored):
            refuse(
                store.at,
                f"{store.array.path[0]}.emit depends on what the kernel stores, or on what an atomic returns: "
                "the run that counts does neither",
                "emit in a kernel of its own, after the one that stores",
            )


def loop_of(program: ir.Program) -> ir.TileLoop | None:
    """Return the loop over tiles that emits; None if there is none."""
    return next(iter(_loops(program)), None)


def _loops(program: ir.Program) -> list[ir.TileLoop]:
    loops = (step for step in program.pieces if isinstance(step, ir.TileLoop))
    return [x for x in loops if any(map(_is_emitted, walk.arrays_written(x.body)))]


def _in_one_loop(program: ir.Program) -> None:
    for loop in _loops(program)[1:]:
        store, _ = next(_emits(loop.body, ()))
        name = store.array.path[0]
        refuse(store.at, f"{name}.emit in two loops over tiles", "collect twice, with two kernels")


def _is_emitted(array: ir.Array) -> bool:
    """Whether it belongs to what a kernel emits to: other layouts are read-only, but for those that grow."""
    return len(array.path) > 1 and not (array.grows or array.own)


def _emits(block: ir.Block, under: tuple[ir.Expr, ...]) -> Iterator[Emit]:
    for s in block:
        if isinstance(s, ir.Store) and _is_emitted(s.array):
            yield s, under
        inner = (*under, *walk.operands(s)) if isinstance(s, ir.If | ir.While | ir.For) else under
        for nested in walk.blocks(s):
            yield from _emits(nested, inner)
