"""Which reads of a phase are not the last ones: what a later phase reads again should stay in a cache.

Engines that split tiles read what is indexed by the atom with a hint that it is read once (`ir.Element.once`), so that
it leaves the caches first. A softmax reads its elements in each of its phases.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from . import ir, walk
from .phases import Phase, Phases, Split


def kept_in_caches(made: Phases) -> Phases:
    """Return the phases, in which only the last read of an array is one of what is read once."""
    phases: list[Phase] = []
    later: set[ir.Path] = set()
    for phase in reversed(made.phases):
        phases.append(_kept(phase, frozenset(later)) if isinstance(phase, Split) else phase)
        if isinstance(phase, Split):
            later |= {a.path for a in walk.arrays_read(phase.pass_.body)}
    return replace(made, phases=tuple(reversed(phases)))


def _kept(phase: Split, later: Set[ir.Path]) -> Split:
    def again(e: ir.Expr) -> ir.Expr | None:
        if isinstance(e, ir.Element) and e.once and e.array.path in later:
            return replace(e, once=False)
        return None

    s = phase.pass_
    return replace(phase, pass_=replace(s, body=walk.map_block(s.body, again)))
