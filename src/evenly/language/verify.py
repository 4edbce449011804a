"""Rules on races that a well-typed program must also keep, under every schedule.

This step is after lowering, since it reads indices, and before phases, since it is about whole tiles.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import emits, ir, walk
from .dependence import Dependence, depend
from .diagnostics import refuse
from .scans import scanned
from .specs import LayoutSpec, Spec


def verify(program: ir.Program, specs: tuple[Spec, ...]) -> None:
    """Raise LanguageError if tiles or atoms are not independent."""
    layouts = [s for s in specs if isinstance(s, LayoutSpec)]
    if any(getattr(s.cls, "emits", "") == "fill" for s in layouts):
        emits.check(program)
    for step in program.pieces:
        if isinstance(step, ir.TileLoop):
            _staged(step)
            _stores(step)
            _dependences(step)
            _row_kernels(step, layouts)


# ---- stores of several tiles or atoms into one element -------------------------------------------
def _stores(loop: ir.TileLoop) -> None:
    what = "item" if loop.layout.items else "tile"
    for s in _met(loop.body, loop.tile):
        if s.array.own:
            continue
        refuse(
            s.at,
            f"every {what} stores into the same element of {s.array.name}: the last one to write would win",
            "accumulate into a variable and store it after the loop, or use an atomic",
        )
    for p in walk.statements(loop.body):
        if isinstance(p, ir.Pass):
            _stores_of_pass(p)


def _stores_of_pass(p: ir.Pass) -> None:
    what = "atom" if p.of is None else "tile"
    for s in _met(p.body, p.atom, *scanned(p)):
        refuse(
            s.at,
            f"every {what} stores into the same element of {s.array.name}: "
            "the last one to write would win, and they have no order",
            f"accumulate into a variable and store it after the loop over {what}s",
        )


def _staged(loop: ir.TileLoop) -> None:
    """Refuse stores into arrays of which the loop has a copy."""
    copied = {s.array.path for s in walk.statements(loop.body) if isinstance(s, ir.Stage)}
    for s in walk.statements(loop.body):
        if isinstance(s, ir.Store | ir.Atomic) and s.array.path in copied:
            refuse(
                s.at,
                f"{'.'.join(s.array.path)} is staged in this loop, and stored into: the copy would not follow",
                "store into another array, or read it without ev.stage",
            )


def _met(block: ir.Block, *runs: ir.Var) -> Iterator[ir.Store]:
    """Yield the stores into elements that do not depend on `runs`: the tile, or the atom and results of scans.

    Stores of one constant into an array are left out.
    """
    varying = Dependence(block, runs).varying()
    constants: dict[ir.Array, ir.Expr] = {}
    for s in walk.statements(block):
        if isinstance(s, ir.Store) and not depend(s.indices, varying):
            first = constants.setdefault(s.array, s.value)
            if not walk.is_constant(s.value) or repr(s.value) != repr(first):  # 0.0 is not -0.0
                yield s


# ---- reads of what others write ------------------------------------------------------------------
def _dependences(loop: ir.TileLoop) -> None:
    """Check that a tile or an atom reads what its loop stores at its own place only, where it stores.

    A task may also read what those have stored that made it, at any place. So only the atoms of a pass are looked at.
    """
    passes = [s for s in walk.statements(loop.body) if isinstance(s, ir.Pass)]
    for p in passes:
        _independent(p.body, "atom" if p.of is None else "tile", own=True)
        # The passes over an item's tiles follow each other, and may read what an earlier one has stored.
        if p.of is not None:
            _independent(p.body, "tile", own=False)
        if loop.tasks:
            _independent(p.body, "atom", own=False)
    if not (loop.layout.items or loop.tasks):
        _independent(loop.body, "tile", own=False)


def _independent(body: ir.Block, what: str, own: bool) -> None:
    """Check the arrays that the body of a loop over tiles or atoms stores. own: scratch arrays; else all others.

    Of a scratch array, an atom of one pass is not at the place of another's, which another thread may have stored.
    """
    meaning = _definitions(body)
    if own:
        atoms = {s.atom for s in walk.statements(body) if isinstance(s, ir.Pass)}
        meaning = {v: e for v, e in meaning.items() if v not in atoms}
    held = list(_held(body, {}))
    stored: dict[ir.Array, list[tuple[ir.Store, _Held]]] = {}
    for s, known in held:
        if isinstance(s, ir.Store) and s.array.own == own and not s.array.grows:
            stored.setdefault(s.array, []).append((s, known))
    read = [(e, x) for s, x in held for o in walk.operands(s) for e in walk.subexpressions(o)]
    for e, known in read:
        if (
            isinstance(e, ir.Element)
            and e.array in stored
            and not any(
                _same(e.indices, s.indices, meaning) and not _changed(e.indices, known, then)
                for s, then in stored[e.array]
            )
        ):
            refuse(
                e.at,
                f"{e.array.name} is stored in this loop over {what}s and read at another place: "
                f"{what}s are independent, and have no order",
                f"read it in a second loop over {what}s",
            )


# The statement that has given each variable its value, where there is one for certain; else None.
_Held = dict[ir.Var, ir.Assign | None]


def _held(block: ir.Block, known: _Held) -> Iterator[tuple[ir.Stmt, _Held]]:
    """Yield every statement, with what is known of the variables before it."""
    for s in block:
        unknown = dict.fromkeys(walk.variables_set((s,)))
        if isinstance(s, ir.While | ir.For | ir.Pass):
            known |= unknown  # an earlier iteration may have set them
        yield s, dict(known)
        for inner in walk.blocks(s):
            yield from _held(inner, dict(known))
        known |= {s.var: s} if isinstance(s, ir.Assign) else unknown


def _changed(indices: tuple[ir.Expr, ...], known: _Held, then: _Held) -> bool:
    """Whether a variable of the indices has one value at a read, and has certainly been set to another at a store."""
    return any(
        known.get(v) is not then.get(v) and known.get(v) is not None and then.get(v) is not None
        for v in walk.variables(indices)
    )


def _definitions(block: ir.Block) -> dict[ir.Var, ir.Expr]:
    """Return what each variable that is assigned once stands for. The atoms of all passes become one variable."""
    table: dict[ir.Var, ir.Expr] = {}
    again: set[ir.Var] = set()
    any_atom: ir.Var | None = None
    for s in walk.statements(block):
        if isinstance(s, ir.Pass):
            any_atom = any_atom or s.atom
            table[s.atom] = any_atom
        elif isinstance(s, ir.Assign):
            if s.var in table or _reads_item(s.value):
                again.add(s.var)
            table[s.var] = s.value
    return {v: e for v, e in table.items() if v not in again and e is not v}


def _reads_item(e: ir.Expr) -> bool:
    """Whether it reads a local array or a scratch array, whose elements change."""
    return any(
        isinstance(x, ir.Item) or (isinstance(x, ir.Element) and x.array.own)
        for x in walk.subexpressions(e)
    )


def _same(a: tuple[ir.Expr, ...], b: tuple[ir.Expr, ...], meaning: dict[ir.Var, ir.Expr]) -> bool:
    return len(a) == len(b) and all(
        _meant(x, meaning) == _meant(y, meaning) for x, y in zip(a, b, strict=True)
    )


def _meant(e: ir.Expr, meaning: dict[ir.Var, ir.Expr]) -> ir.Expr:
    """Return `e` with its variables replaced by what they stand for, and without conversions."""

    def replace(x: ir.Expr) -> ir.Expr | None:
        if isinstance(x, ir.Cast):
            return x.operand
        return _meant(meaning[x], meaning) if isinstance(x, ir.Var) and x in meaning else None

    return walk.map_expr(e, replace)


# ---- layouts whose tiles have no meaning ----------------------------------------------------------------
def _row_kernels(loop: ir.TileLoop, layouts: list[LayoutSpec]) -> None:
    spec = next((s for s in layouts if s.cls.__name__ == loop.layout.name), None)
    message = getattr(spec.cls, "row_kernels", None) if spec else None
    if message is None:
        return
    per_tile = [s for s in loop.body if not isinstance(s, ir.Pass)]
    if per_tile or any(p.accumulators for p in loop.body if isinstance(p, ir.Pass)):
        refuse(loop.at, f"a kernel on whole tiles of {loop.layout.name}", str(message))
