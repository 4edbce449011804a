"""Find ids that a kernel uses for gathers only. They may be renumbered if the gathered vectors are reordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from . import ir, walk
from .types import POS, WEAK_INT, Scalar


@dataclass(frozen=True, slots=True)
class Gathers:
    """Ids that are used as indices of vectors, and for nothing else.

    ids: the array of a layout that holds them. layout, bound: they are less than this attribute of that
    layout. vectors: the arguments that are read at the ids, and nowhere else.
    """

    ids: ir.Path
    layout: ir.Path
    bound: str
    vectors: tuple[ir.Path, ...]


def gathers_by_ids(program: ir.Program, written: Collection[str]) -> Gathers | None:
    """Return the first such ids of a program that writes the arguments `written`, or None."""
    if any(step.layout.items for step in program.pieces if isinstance(step, ir.TileLoop)):
        return None  # vectors belong to items, and may be staged
    elements = [e for e in _expressions(program) if isinstance(e, ir.Element)]
    for path in dict.fromkeys(e.array.path for e in elements if len(e.array.path) > 1):
        found = _gathers(path, program, elements)
        if found is not None and not any(p[0] in written for p in (path, *found.vectors)):
            return found
    return None


def _gathers(ids: ir.Path, program: ir.Program, elements: list[ir.Element]) -> Gathers | None:
    names = _names(ids, program)
    reads = [e for e in elements if _is_id(e.indices[0], ids, names)]
    vectors = tuple(dict.fromkeys(e.array.path for e in reads))
    uses = sum(_stands(e, ids, names) for e in _expressions(program))
    if uses != len(reads) + len(names):
        return None  # the ids have other uses
    everywhere = [e for e in elements if e.array.path in vectors]
    if len(everywhere) != len(reads) or any(e.array.ndim > 1 for e in reads):
        return None
    bounds = {r.array: (r.layout, r.bound) for r in program.requirements if r.axis == 0}
    whose = {bounds.get(v) for v in vectors}
    if len(whose) != 1 or None in whose or any(len(v) > 1 for v in vectors):
        return None
    return Gathers(ids, *bounds[vectors[0]], vectors)


def _names(ids: ir.Path, program: ir.Program) -> frozenset[ir.Var]:
    """Return the variables that only ever hold an id."""
    statements = [s for b in _bodies(program) for s in walk.statements(b)]
    sets = Counter(v for s in statements for v in walk.assigned(s))
    holds = {s.var for s in statements if isinstance(s, ir.Assign) and _is_id(s.value, ids)}
    return frozenset(v for v in holds if sets[v] == 1)


def _is_id(e: ir.Expr, ids: ir.Path, names: frozenset[ir.Var] = frozenset()) -> bool:
    """Whether it is an id, as an integer that can hold it."""
    while isinstance(e, ir.Cast) and e.type.is_integer and _holds(e.type, e.operand.type):
        e = e.operand
    return _stands(e, ids, names)


def _holds(wider: Scalar, t: Scalar) -> bool:
    return t.is_integer and (wider in (POS, WEAK_INT) or wider.dtype.itemsize >= t.dtype.itemsize)


def _stands(e: ir.Expr, ids: ir.Path, names: frozenset[ir.Var]) -> bool:
    return (
        e in names if isinstance(e, ir.Var) else isinstance(e, ir.Element) and e.array.path == ids
    )


def _expressions(program: ir.Program) -> list[ir.Expr]:
    found = [e for body in _bodies(program) for e in walk.expressions(body)]
    for step in program.pieces:
        if isinstance(step, ir.TileLoop):
            code = step.layout
            for inline in (code.num_tiles, code.num_atoms, code.begin, code.end):
                found += walk.inline_expressions(inline)
    return found


def _bodies(program: ir.Program) -> list[ir.Block]:
    return [step.body for step in program.pieces]
