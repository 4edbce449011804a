"""A call like an earlier one, but for where its arrays lie: results are new arrays, and so may be operands."""

from __future__ import annotations

from typing import NamedTuple

from evenly.arguments import Binding, overlap
from evenly.language import ir


class Span(NamedTuple):
    """The memory of an array. size: bytes of an element. written: whether the kernel writes to it."""

    name: str
    pointer: int
    nbytes: int
    size: int
    written: bool


class Memory:
    """Where the arrays of a call lie.

    own: the arrays that are arguments, in order. inside: those in layouts.
    """

    def __init__(self, own: list[Span], inside: list[Span]) -> None:
        self.own, self.inside = own, inside

    @classmethod
    def of(cls, binding: Binding, outputs: frozenset[ir.Path]) -> Memory:
        found: tuple[list[Span], list[Span]] = [], []
        for name, path in binding.array_paths:
            v = binding.view(path)
            span = Span(name, v.pointer, v.nbytes, v.dtype.itemsize, path in outputs)
            found[len(path) > 1].append(span)
        return cls(*found)

    def at(self, addresses: tuple[int, ...]) -> Memory | None:
        """Return the same with its own arrays at these addresses; None if it would be refused there."""
        for span, a in zip(self.own, addresses, strict=True):
            if a % span.size or (a == 0 and span.nbytes):  # a tensor without memory
                return None
        own = [Span(s[0], a, *s[2:]) for s, a in zip(self.own, addresses, strict=True)]
        spans = [*own, *self.inside]
        shared = overlap((s.pointer, s.pointer + s.nbytes, s.name, s.written) for s in spans)
        return None if shared else Memory(own, self.inside)
