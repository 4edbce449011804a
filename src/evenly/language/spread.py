"""Write local arrays as one variable for each element, for schedules that split tiles.

Their engines carry the partial results of a tile from thread to thread, as structs of numbers. An array of n elements
becomes n of these, and an access with an index that is not known becomes a choice among them.
This step comes before cutting, which keeps variables that a later phase needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from . import ir, walk
from .diagnostics import refuse
from .lower.context import Namer

MOST_SPREAD = 64  # bytes of a local array


def spread(program: ir.Program) -> ir.Program:
    """Return the program without local arrays of its own. Raises LanguageError for one that is too large.

    The tiles of an item may read local arrays of the item, which stay arrays.
    """
    made = [s for step in program.pieces for s in walk.statements(step.body) if _makes(s)]
    if not made:
        return program
    for s in made:
        _check_size(s)
    namer = Namer()
    for step in program.pieces:
        namer.used |= {
            v.name for v in walk.variables_set(step.body) | walk.variables_read(step.body)
        }
    own = {v for step in program.pieces for v in walk.variables_set(step.body) if v.length}
    spreader = _Spreader(namer, own)
    steps = walk.map_steps(program.steps, lambda block: tuple(spreader.block(block)))
    return replace(program, steps=steps)


def _makes(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Assign) and s.var.length > 0


def _check_size(s: ir.Stmt) -> None:
    assert isinstance(s, ir.Assign) and s.at is not None
    size = s.var.length * s.var.type.dtype.itemsize
    if size > MOST_SPREAD:
        refuse(
            s.at,
            f"a local array of {size:,} bytes, under a schedule that splits tiles",
            f"at most {MOST_SPREAD}; use a schedule that owns whole tiles, as ThreadMapped, GroupMapped and Lrb do",
        )


@dataclass
class _Spreader:
    namer: Namer
    own: set[ir.Var]
    items: dict[ir.Var, tuple[ir.Var, ...]] = field(default_factory=dict)
    parts: dict[int, tuple[ir.Accumulator, ...]] = field(default_factory=dict)  # by id()

    def elements(self, array: ir.Var) -> tuple[ir.Var, ...]:
        if array not in self.items:
            self.items[array] = tuple(
                ir.Var(self.namer.fresh(f"{array.name}_{i}"), array.type)
                for i in range(array.length)
            )
        return self.items[array]

    def accumulators(self, acc: ir.Accumulator) -> tuple[ir.Accumulator, ...]:
        """Return an accumulator for each element of an array; another accumulator as it is."""
        if not acc.fields[0].length:
            return (acc,)
        if id(acc) not in self.parts:
            elements = self.elements(acc.fields[0])
            self.parts[id(acc)] = tuple(replace(acc, fields=(v,)) for v in elements)
        return self.parts[id(acc)]

    def block(self, block: ir.Block) -> Iterator[ir.Stmt]:
        for s in walk.map_block(block, self.chosen):
            yield from self.statement(s)

    def inner(self, block: ir.Block) -> ir.Block:
        return tuple(x for s in block for x in self.statement(s))

    def statement(self, s: ir.Stmt) -> Iterator[ir.Stmt]:
        match s:
            case ir.Assign(var=array, value=value) if array.length:
                yield from (ir.Assign(v, value, s.at) for v in self.elements(array))
            case ir.SetItem():
                yield from self.stored(s)
            case ir.Accumulate(accumulator=acc, index=index) if index is not None:
                yield from self.contributed(s, self.accumulators(acc), index)
            case ir.If(then=a, otherwise=b):
                yield replace(s, then=self.inner(a), otherwise=self.inner(b))
            case ir.While(before=a, body=b):
                yield replace(s, before=self.inner(a), body=self.inner(b))
            case ir.For(body=b):
                yield replace(s, body=self.inner(b))
            case ir.Pass(accumulators=accumulators, body=b):
                parts = tuple(x for a in accumulators for x in self.accumulators(a))
                yield replace(s, accumulators=parts, body=self.inner(b))
            case _:
                yield s

    def chosen(self, e: ir.Expr) -> ir.Expr | None:
        """Return a read of an element as a choice among the variables."""
        if not isinstance(e, ir.Item) or e.array not in self.own:
            return None
        *others, result = self.elements(e.array)
        if isinstance(e.index, ir.Const):
            return self.elements(e.array)[int(e.index.value)]
        chosen: ir.Expr = result
        for i in reversed(range(len(others))):
            chosen = ir.Select(_is(e.index, i), others[i], chosen, e.type)
        return chosen

    def stored(self, s: ir.SetItem) -> Iterator[ir.Stmt]:
        elements = self.elements(s.array)
        if isinstance(s.index, ir.Const):
            yield ir.Assign(elements[int(s.index.value)], s.value, s.at)
            return
        value = ir.Var(self.namer.fresh("value"), s.value.type)
        yield ir.Assign(value, s.value, s.at)
        for i, v in enumerate(elements):
            yield ir.Assign(v, ir.Select(_is(s.index, i), value, v, v.type), s.at)

    def contributed(
        self, s: ir.Accumulate, parts: tuple[ir.Accumulator, ...], index: ir.Expr
    ) -> Iterator[ir.Stmt]:
        if isinstance(index, ir.Const):
            yield ir.Accumulate(parts[int(index.value)], s.values, at=s.at)
            return
        (given,) = s.values
        value = ir.Var(self.namer.fresh("value"), given.type)
        yield ir.Assign(value, given, s.at)
        for i, acc in enumerate(parts):  # without a branch: the others get the identity
            chosen = ir.Select(_is(index, i), value, acc.identity[0], value.type)
            yield ir.Accumulate(acc, (chosen,), at=s.at)


def _is(index: ir.Expr, i: int) -> ir.Expr:
    return ir.Compare("==", index, ir.Const(i, index.type))
