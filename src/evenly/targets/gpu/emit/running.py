"""Emit scans over the atoms of a tile that the members of a team share (`team.scan` in device/group.cuh)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly.language import ir
from evenly.language.scans import contributions, given, running

from .statements import fields_of, identity, members

if TYPE_CHECKING:
    from .owner import Owner


def walk_together(w: Owner, s: ir.Pass, begin: str, end: str, width: str) -> None:
    """Write a walk in which all members take one atom each, scan what these contribute, and then run the body."""
    t, name, accumulators = w.text, w.text.var(s.atom), running(s)
    struct = w.struct("tile_scan", accumulators)
    first, total, own, before = (t.unique(n) for n in (f"{name}_first", "running", "own", "before"))
    start = identity(t, accumulators)
    w.line(f"{struct} {total} = {{{start}}};")
    with w.compound(f"for (pos {first} = {begin}; {first} < {end}; {first} += {width})"):
        w.line(f"const pos {name} = {first} + team.rank();")
        inside = f"if ({name} < {end} && team.active())"
        w.line(f"{struct} {own} = {{{start}}};")
        with w.compound(inside):
            code = contributions(s)
            w.block(code.body, after=variables(code))
            w.line(f"{own} = {{{', '.join(t.expr(e) for e in code.results)}}};")
        w.line(f"const {struct} {before} = team.scan({own}, {total});")
        fields = members(fields_of(accumulators))
        t.names.update({v: f"{before}.{m}" for v, m in fields.items()})
        w.declared.update(fields)
        with w.compound(inside):
            w.block(given(s, code.body))
        for v in fields:  # the same pass may be written for a thread alone, too
            t.names.pop(v)


def variables(code: ir.Inline) -> tuple[ir.Var, ...]:
    return tuple(e for e in code.results if isinstance(e, ir.Var))
