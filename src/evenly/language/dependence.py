"""What the variables of a block depend on: other variables, and elements of arrays.

A variable depends on the values that it is computed from, and on the conditions under which it is computed: those
of the ifs and loops around it, and of the breaks and continues of these loops. Both are edges of the program
dependence graph (Ferrante, Ottenstein, Warren 1987). The results of passes and atomics are sources, like a tile
or an atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass

from . import ir, walk


@dataclass(frozen=True, slots=True)
class _Definition:
    """One place where a variable gets a value: the values that it is computed from, and the conditions.

    What is summed and where a loop begins count as conditions: a sum or a count is not one of those values.
    """

    var: ir.Var
    values: tuple[ir.Expr, ...]
    conditions: tuple[ir.Expr, ...]


class Dependence:
    """The dependences in a block.

    given: variables that are sources, whatever they are computed from, such as ids. results: whether the results of
    passes and atomics are sources, too; otherwise a pass's results depend on what it accumulates.
    """

    def __init__(self, block: ir.Block, given: Iterable[ir.Var], results: bool = True) -> None:
        kinds = ir.Atomic | ir.Pass
        made = (s for s in walk.statements(block) if results and isinstance(s, kinds))
        self.sources = {*given, *(v for s in made for v in walk.assigned(s))}
        self._definitions = [d for d in _definitions(block, ()) if d.var not in self.sources]

    def varying(self) -> set[ir.Var]:
        """Return the variables that depend on a source: on given ones, or on results of passes and atomics."""
        return self.following(self.sources)

    def following(
        self,
        variables: Set[ir.Var],
        elements: Callable[[ir.Element], bool] = lambda e: False,
        conditions: bool = True,
    ) -> set[ir.Var]:
        """Return `variables`, and all that depend on them, or on reads of `elements`.

        conditions: whether conditions count; otherwise only the values that a variable is computed from do.
        """
        found = set(variables)
        while True:
            before = len(found)
            for d in self._definitions:
                read = (*d.values, *d.conditions) if conditions else d.values
                if d.var not in found and depend(read, found, elements):
                    found.add(d.var)
            if len(found) == before:
                return found


def depend(
    expressions: Iterable[ir.Expr],
    variables: Set[ir.Var],
    elements: Callable[[ir.Element], bool] = lambda e: False,
) -> bool:
    """Whether expressions read one of these variables or elements."""
    return any(
        (isinstance(x, ir.Var) and x in variables) or (isinstance(x, ir.Element) and elements(x))
        for e in expressions
        for x in walk.subexpressions(e)
    )


def _definitions(block: ir.Block, under: tuple[ir.Expr, ...]) -> Iterator[_Definition]:
    for s in block:
        inner = under
        if isinstance(s, ir.If | ir.While | ir.For):
            exits = () if isinstance(s, ir.If) else _exits(s.body)
            inner = (*under, *walk.operands(s), *exits)
        match s:
            case ir.Assign(var=var, value=value):
                yield _Definition(var, (value,), under)
            case ir.SetItem(array=var):
                yield _Definition(var, walk.operands(s), under)
            case ir.Accumulate(accumulator=accumulator):
                for var in accumulator.fields:
                    yield _Definition(var, (), (*under, *walk.operands(s)))
            case ir.Scan(values=values, results=results):
                for var in results:
                    yield _Definition(var, (), (*under, *values))
            case ir.For(var=var):
                yield _Definition(var, (), inner)
        for nested in walk.blocks(s):
            yield from _definitions(nested, inner)


def _exits(body: ir.Block, under: tuple[ir.Expr, ...] = ()) -> Iterator[ir.Expr]:
    """Yield the conditions that decide whether an iteration of the loop with this body reaches its end."""
    for s in body:
        if isinstance(s, ir.Break | ir.Continue):
            yield from under
        elif isinstance(s, ir.If):
            for nested in walk.blocks(s):
                yield from _exits(nested, (*under, s.condition))
