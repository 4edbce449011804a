"""Emit passes whose atoms are read several at a time, before what the pass does with them.

A store may change what is read after it, for all that a compiler knows, so it leaves reads behind stores, where each
waits for memory anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.accesses import always

from .expressions import ctype

if TYPE_CHECKING:
    from .owner import Owner


class Held:
    """What `reads` have read, for n atoms, from one loop over these to the next. item: the loops' variable."""

    def __init__(self, w: Owner, reads: tuple[ir.Assign, ...], n: int, item: str) -> None:
        self.w, self.n, self.item, self.array = w, n, item, w.text.unique("kept")
        self.places = {s.var: f"{self.array}[{item}].value_{i}" for i, s in enumerate(reads)}
        types = (f"{ctype(v.type)} value_{i};" for i, v in enumerate(self.places))
        if reads:
            w.line(f"struct {{ {' '.join(types)} }} {self.array}[{n}];")

    @contextmanager
    def each(self, at: str, value: str) -> Iterator[None]:
        """Open a loop over the atoms. at: the name of an atom that may lie beyond the last; value: which one it is."""
        self.w.line("#pragma unroll")
        with self.w.compound(f"for (int {self.item} = 0; {self.item} < {self.n}; ++{self.item})"):
            self.w.line(f"const pos {at} = {value};")
            yield

    def store(self) -> None:
        for v, place in self.places.items():
            self.w.line(f"{place} = {self.w.text.var(v)};")

    def load(self) -> None:
        for v, place in self.places.items():
            self.w.assign(v, place)


def read_first(s: ir.Pass, written: frozenset[ir.Path]) -> ir.Block | None:
    """Return a pass's body with what it reads in variables, if it stores what it reads, and nothing else.

    None where that is no use: it reads no array that the kernel writes, or one that the pass itself does. Or where a
    variable changes, since a store between would find its last value.
    """
    if s.accumulators or not all(isinstance(x, ir.Assign | ir.Store) for x in s.body):
        return None
    variables = [x.var for x in s.body if isinstance(x, ir.Assign)]
    if len(set(variables)) < len(variables):
        return None
    read = walk.arrays_read(s.body)
    if read & walk.arrays_written(s.body) or not any(a.path in written for a in read):
        return None
    return tuple(x for stmt in s.body for x in _apart(stmt))


def _apart(s: ir.Stmt) -> Iterator[ir.Stmt]:
    """Yield a statement, after what a store reads in any case."""
    if isinstance(s, ir.Store):
        found = [e for e in always(s.value) if isinstance(e, ir.Element)]
        inside = {x for e in found for part in walk.parts(e) for x in walk.subexpressions(part)}
        names: dict[ir.Expr, ir.Expr] = {}
        for e in found:
            if e not in inside:
                v = names[e] = ir.Var("read", e.type)
                yield ir.Assign(v, e, s.at)
        s = replace(s, value=walk.map_expr(s.value, lambda e: names.get(e)))
    yield s


def walk_read_first(w: Owner, s: ir.Pass, body: ir.Block, over: tuple[str, str, str]) -> None:
    """Write the walk over atoms from `start` to `end`, `width` apart, `items` of them at a time."""
    start, end, width = over
    name = w.text.var(s.atom)
    first, at, item = map(w.text.unique, (f"{name}_first", "at", "item"))
    pure = tuple(x for x in body if isinstance(x, ir.Assign))
    reads = tuple(x for x in pure if walk.arrays_read((x,)))
    value = f"{first} + {item} * {width}"
    with w.compound(
        f"for (pos {first} = {start}; {first} < {end}; {first} += {w.items} * {width})"
    ):
        held = Held(w, reads, w.items, item)
        with held.each(at, value):
            w.line(f"const pos {name} = {at} < {end} ? {at} : {end} - 1;")
            w.block(pure)
            held.store()
        with held.each(at, value), w.compound(f"if ({at} < {end})"):
            w.line(f"const pos {name} = {at};")
            held.load()
            w.block(tuple(x for x in body if x not in reads))
