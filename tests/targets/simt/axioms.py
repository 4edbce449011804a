"""The memory model by its axioms: all outcomes of small programs without branches, by trying every execution.

An execution says which write each read sees (rf) and how the writes to each place are ordered (co). The axioms are those
of the PTX ISA (Lustig, Sahasrabuddhe, Giroux, ASPLOS 2019) for strong operations of device scope, with the relations of
Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing Sequential Consistency in C/C++11", PLDI 2017, which are easier to write
down. No read sees a write that depends on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

INITIAL = 0


@dataclass(frozen=True)
class Instruction:
    """kind: load, store, add, exchange or fence; add and exchange return the old value."""

    kind: str
    place: int = 0
    value: int = 0

    @property
    def reads(self) -> bool:
        return self.kind in ("load", "add", "exchange")

    @property
    def writes(self) -> bool:
        return self.kind in ("store", "add", "exchange")


Program = list[list[Instruction]]
Outcome = tuple[tuple[int, ...], ...]  # what each thread has read, and what is in memory in the end


class Relation:
    """A relation of n events, as a bit mask of successors each."""

    def __init__(
        self, n: int, pairs: Iterator[tuple[int, int]] | list[tuple[int, int]] = ()
    ) -> None:  # type: ignore[assignment]
        self.to = [0] * n
        for a, b in pairs:
            self.to[a] |= 1 << b

    def __or__(self, other: Relation) -> Relation:
        made = Relation(len(self.to))
        made.to = [a | b for a, b in zip(self.to, other.to, strict=True)]
        return made

    def __matmul__(self, other: Relation) -> Relation:
        made = Relation(len(self.to))
        for a, successors in enumerate(self.to):
            for b in range(len(self.to)):
                if successors >> b & 1:
                    made.to[a] |= other.to[b]
        return made

    def closed(self) -> Relation:
        made = Relation(len(self.to)) | self
        for k in range(len(self.to)):
            for a in range(len(self.to)):
                if made.to[a] >> k & 1:
                    made.to[a] |= made.to[k]
        return made

    def irreflexive(self) -> bool:
        return not any(s >> a & 1 for a, s in enumerate(self.to))

    def acyclic(self) -> bool:
        return self.closed().irreflexive()

    def among(self, events: list[int]) -> Relation:
        mask = sum(1 << e for e in events)
        made = Relation(len(self.to))
        for e in events:
            made.to[e] = self.to[e] & mask
        return made


class Model:
    """The events of a program: an initial write for each place, then its instructions."""

    def __init__(self, program: Program, places: int, sequential: bool) -> None:
        self.places, self.sequential, self.threads = places, sequential, program
        flat = [i for thread in program for i in thread]
        self.events = [Instruction("store", p, INITIAL) for p in range(places)] + flat
        self.n = len(self.events)
        self.reads = [e for e in range(places, self.n) if self.events[e].reads]
        pairs, at = [], places
        for thread in program:
            last = at + len(thread)
            pairs += [(a, b) for a in range(at, last) for b in range(a + 1, last)]
            at = last
        pairs += [(p, e) for p in range(places) for e in range(places, self.n)]
        self.po = Relation(self.n, pairs)
        self.fences = [e for e in range(self.n) if self.events[e].kind == "fence"]

    def outcomes(self) -> set[Outcome]:
        writes = [
            [e for e in range(self.n) if self.events[e].writes and self.events[e].place == p]
            for p in range(self.places)
        ]
        orders = [
            [(first, *rest) for rest in itertools.permutations(others)] for first, *others in writes
        ]
        sources = [[w for w in writes[self.events[r].place] if w != r] for r in self.reads]
        found = set()
        for order in itertools.product(*orders):
            for source in itertools.product(*sources):
                rf = dict(zip(self.reads, source, strict=True))
                if self._consistent(order, rf):
                    found.add(self._outcome(order, rf))
        return found

    def _consistent(self, order: tuple[tuple[int, ...], ...], rf: dict[int, int]) -> bool:
        sees = Relation(self.n, [(w, r) for r, w in rf.items()])
        if not (self.po | sees).acyclic():
            return False
        co_pairs = [(a, b) for o in order for a, b in itertools.combinations(o, 2)]
        co = Relation(self.n, co_pairs)
        for r, w in rf.items():  # an update directly follows what it sees
            if self.events[r].writes:
                row = order[self.events[r].place]
                if row.index(r) != row.index(w) + 1:
                    return False
        fr = Relation(
            self.n, [(r, b) for r, w in rf.items() for a, b in co_pairs if a == w and b != r]
        )
        eco = (sees | co | fr).closed()
        if self.sequential:
            return (self.po | eco).acyclic()
        hb = (self.po | self._synchronizes(rf)).closed()
        if not (hb.irreflexive() and (hb @ eco).irreflexive() and eco.irreflexive()):
            return False
        return (hb | hb @ eco @ hb).among(self.fences).acyclic()

    def _synchronizes(self, rf: dict[int, int]) -> Relation:
        """A fence, a write, updates that pass it on, a read that sees one of them, a fence."""
        pairs = []
        for r, w in rf.items():
            chain = {w}
            while self.events[w].reads:
                w = rf[w]
                chain.add(w)
            for a in self.fences:
                for b in self.fences:
                    if self.po.to[r] >> b & 1 and any(self.po.to[a] >> w & 1 for w in chain):
                        pairs.append((a, b))
        return Relation(self.n, pairs)

    def _outcome(self, order: tuple[tuple[int, ...], ...], rf: dict[int, int]) -> Outcome:
        def written(e: int) -> int:
            i = self.events[e]
            return i.value + (written(rf[e]) if i.kind == "add" else 0)

        seen, at = [], self.places
        for thread in self.threads:
            here = range(at, at + len(thread))
            seen.append(tuple(written(rf[e]) for e in here if self.events[e].reads))
            at += len(thread)
        return (*seen, tuple(written(row[-1]) for row in order))
