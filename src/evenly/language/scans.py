"""Running values of a pass (`ev.scan`, `ev.rank`), for engines whose processors share a tile.

A processor that walks all of a tile's atoms in order keeps the running values itself. Others first compute what
each atom contributes (`contributions`). Then they scan the contributions together, and run the pass's body with the
running values before each atom (`given`).
"""

from __future__ import annotations

from collections import Counter

from . import ir, walk
from .combine import combined
from .dependence import Dependence
from .diagnostics import refuse
from .slicing import needed


def scans_of(p: ir.Pass) -> tuple[ir.Scan, ...]:
    return tuple(s for s in walk.statements(p.body) if isinstance(s, ir.Scan))


def scanned(p: ir.Pass) -> list[ir.Var]:
    """Return the results of a pass's scans and their running values, which differ from one atom to the next."""
    return [v for s in scans_of(p) for v in (*s.results, *s.accumulator.fields)]


def running(p: ir.Pass) -> tuple[ir.Accumulator, ...]:
    """Return the accumulators of a pass's running values."""
    return tuple(s.accumulator for s in scans_of(p))


def has_scans(block: ir.Block) -> bool:
    return any(isinstance(s, ir.Scan) for s in walk.statements(block))


def contributions(p: ir.Pass) -> ir.Inline:
    """Return what an atom contributes to the running values, as code: one result for each of their fields.

    An atom that does not reach a scan contributes the identity.
    """
    values: list[ir.Var] = []
    start: list[ir.Stmt] = []
    for a in running(p):
        for field, identity in zip(a.fields, a.identity, strict=True):
            values.append(ir.Var(f"own_{field.name}", field.type))
            start.append(ir.Assign(values[-1], identity, a.at))
    left = iter(values)

    def assign(s: ir.Stmt) -> ir.Block | None:
        if not isinstance(s, ir.Scan):
            return None
        return tuple(ir.Assign(next(left), e, s.at) for e in s.values)

    body, _ = needed((*start, *walk.rewritten(p.body, assign)), set(values), effects=False)
    return ir.Inline((p.atom,), body, tuple(values))


def read_once(p: ir.Pass, known: ir.Block) -> tuple[ir.Assign, ...]:
    """Return what `known`, the code of `contributions`, reads from memory into variables that are set once."""
    return tuple(s for s in set_once(p, known) if walk.arrays_read((s,)))


def set_once(p: ir.Pass, known: ir.Block) -> tuple[ir.Assign, ...]:
    changes = Counter(v for s in walk.statements(p.body) for v in walk.assigned(s))
    return tuple(s for s in known if isinstance(s, ir.Assign) and changes[s.var] == 1)


def given(p: ir.Pass, known: ir.Block = ()) -> ir.Block:
    """Return the body of a pass for processors that know the running values before the atom: those in the fields.

    known: code of `contributions` that has run for the same atom. Variables that it has set are not computed again.
    """
    once = set_once(p, known)
    body = tuple(s for s in p.body if s not in once)

    def step(s: ir.Stmt) -> ir.Block | None:
        if not isinstance(s, ir.Scan):
            return None
        acc = s.accumulator
        if s.exclusive:
            return tuple(ir.Assign(r, v, s.at) for r, v in zip(s.results, acc.fields, strict=True))
        own = tuple(ir.Var(f"own_{v.name}", v.type) for v in acc.fields)
        body, through = combined(acc, acc.fields, own)
        return (
            *(ir.Assign(o, e, s.at) for o, e in zip(own, s.values, strict=True)),
            *body,
            *(ir.Assign(r, e, s.at) for r, e in zip(s.results, through, strict=True)),
        )

    return walk.rewritten(body, step)


# ---- refusals ------------------------------------------------------------------------------------
def check(p: ir.Pass, counts: ir.Accumulator | None = None) -> None:
    """Refuse scans of values that processors cannot compute before the rest of the pass. Raises LanguageError.

    counts: the running number of what atoms emit, which emits.py checks, too.
    """
    written = {a for a in walk.arrays_written(p.body) if not a.grows}
    changed = {
        v for s in walk.statements(p.body) if isinstance(s, ir.Atomic) for v in walk.assigned(s)
    }
    others = {v for s in scans_of(p) for v in s.results}
    dependence = Dependence(p.body, ())
    by_atomics = dependence.following(changed)
    by_scans = dependence.following(others)
    by_stores = dependence.following(set(), lambda e: e.array in written)
    for s in scans_of(p):
        used = walk.variables(s.values)
        if s.accumulator is counts:
            if used & by_scans:
                refuse(
                    s.at,
                    "an emit that depends on a scan in the same loop over atoms",
                    "scan in a kernel of its own, and store the result for this one",
                )
            continue
        read = {
            e.array for v in s.values for e in walk.subexpressions(v) if isinstance(e, ir.Element)
        }
        if used & by_atomics:
            refuse(
                s.at,
                "a scan of what an atomic returns: atomics of different atoms have no order",
                "store it, and scan it in a second loop over atoms",
            )
        if used & by_scans:
            refuse(
                s.at,
                "a scan of another scan's result in one loop over atoms",
                "store the first, and scan it in a second loop over atoms",
            )
        if used & by_stores or read & written:
            name = min(a.name for a in (read & written or written))
            refuse(
                s.at,
                f"a scan of {name}, which this loop over atoms stores",
                "scan the value itself, or scan it in a second loop over atoms",
            )
