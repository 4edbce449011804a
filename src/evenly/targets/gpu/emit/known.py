"""What the host knows of a kernel's arguments at a launch: kernels are compiled for it alone where it holds.

A kernel with a dense axis has code for words of several columns and for single ones, and asks at run time which it may
take. Where the host has the answer, the other code is left out: that needs fewer registers, and fits into the cache of
instructions. The text of the kernel is the same but for a line before it, which defines EV_KNOWN: a bit for each fact,
or 0 if none holds. Then the kernel asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from evenly.language import ir
from evenly.language.beforehand import known_beforehand, value_of

if TYPE_CHECKING:
    from evenly.arguments import Binding

LONGEST = 2**31 - 1  # bytes of a row, as dense.cuh has them
UNKNOWN = ("#ifndef EV_KNOWN", "#define EV_KNOWN 0", "#endif")


@dataclass(frozen=True, slots=True)
class Words:
    """A fact: rows and axes consist of words of `width` columns, which are aligned, and rows are short (dense.cuh).

    arrays: whose last axis these rows are. counts: the lengths of axes. most: so many columns they have at most, and
    one at least; 0: any number. filled: the lanes of a team, the columns of each at a time, and how many of these the
    axis may lack; (0, 0, 0): any number.
    """

    width: int
    arrays: tuple[ir.Array, ...]
    counts: tuple[ir.Expr, ...]
    most: int = 0
    filled: tuple[int, int, int] = (0, 0, 0)

    def holds(self, binding: Binding) -> bool:
        counts = [value_of(e, binding.scalar, binding.extent) for e in self.counts]
        lengths = [binding.extent(a.path, a.ndim - 1) for a in self.arrays]
        joined = reduce(or_, (*counts, *lengths), 0)
        for a in self.arrays:
            size = a.dtype.dtype.itemsize
            if joined > LONGEST // size or binding.view(a.path).pointer % (self.width * size):
                return False
        one = not self.most or all(0 < n <= self.most for n in counts)
        return one and all(map(self.fills, counts)) and joined % self.width == 0

    def fills(self, count: int) -> bool:
        """Whether an axis of this length fills teams, as `filled` has it, and `fills` in dense.cuh."""
        lanes, vector, last = self.filled
        left = count % (lanes * vector) if lanes else 0
        return count >= last and (left == 0 or left >= (vector - last) * lanes)


class Facts:
    """The facts that a kernel asks for."""

    def __init__(self) -> None:
        self.found: list[Words] = []

    def asked(self, condition: str, fact: Words, also: str = "") -> str:
        """Return a condition as text, which is answered without a look if the host knows any fact.

        also: the condition under which it is the fact.
        """
        if not answered(fact):
            return condition
        if fact not in self.found:
            self.found.append(fact)
        known = f"(EV_KNOWN >> {self.found.index(fact)} & 1)"
        return f"(EV_KNOWN{f' && {also}' if also else ''} ? {known} : {condition})"


def answered(fact: Words) -> bool:
    """Whether the host can tell: what is asked for are arguments, and lengths that follow from them."""
    given = all(a.path[0] != "$" and not (a.own or a.staged or a.grows) for a in fact.arrays)
    return given and all(map(known_beforehand, fact.counts))


def known(facts: Iterable[Words], binding: Binding) -> int:
    """Return EV_KNOWN for these arguments."""
    return sum(fact.holds(binding) << i for i, fact in enumerate(facts))
