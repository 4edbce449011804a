"""The matrices that are drawn by families, as sources of the benchmark and of fits."""

from __future__ import annotations

from collections.abc import Iterable

from evenly.errors import unknown
from evenly.interop.families import families

from .matrices import Source

ORIGIN = "family"


def of_families(seed: int, largest: int, only: Iterable[str] = ()) -> list[Source]:
    """Return the 60 matrices that a seed draws, of up to about `largest` nonzeros.

    only: if there are any, just those that have one of these as their name, family of lengths or family of columns.

    Raises InputError for others.
    """
    found = [
        Source(m.name, ORIGIN, m.make, m.lengths, m.columns, m.stream)
        for m in families(seed, largest)
    ]
    chosen = set(only)
    known = {word for source in found for word in words(source)}
    for name in chosen - known:
        raise unknown("--only", name, {w for s in found for w in (s.lengths, s.columns)})
    return [source for source in found if not chosen or chosen & words(source)]


def words(source: Source) -> set[str]:
    """Return what a source can be chosen by."""
    return {source.name, source.lengths, source.columns}
