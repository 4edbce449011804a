"""Reductions by a key (language/keyed.py) of passes with lanes around them and inside, a batch of atoms at a time.

Each lane has the keys of some atoms. All lanes find the greatest one of the batch and of those before, scale their sums
once, and tell each other the factors of the atoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenly.language import ir, walk
from evenly.language.keyed import Keyed, keyed
from evenly.language.types import Scalar

from .expressions import ctype

if TYPE_CHECKING:
    from .dense_both import Both


def by_key(both: Both) -> ByKey | None:
    """Return the reduction by a key to which the last statement of a pass contributes; None if there is none."""
    *before, last = both.pass_.body
    if not isinstance(last, ir.Accumulate) or both.pass_.accumulators != (last.accumulator,):
        return None
    found, fields = keyed(last.accumulator), last.accumulator.fields
    if found is None or fields[found.key] not in both.parted.uniform:
        return None
    values = {
        v: e for i, (v, e) in enumerate(zip(fields, last.values, strict=True)) if i != found.key
    }
    each = tuple(x for x in before if any(x is y for y in both.parted.each))
    return ByKey(both, found, fields[found.key], last.values[found.key], values, each)


@dataclass(frozen=True, slots=True)
class ByKey:
    """Writes what a batch of atoms contributes.

    key: the field. of_atom: the key of an atom. values: what an atom contributes to other fields. each: the code that
    each column has before it.
    """

    both: Both
    code: Keyed
    key: ir.Var
    of_atom: ir.Expr
    values: dict[ir.Var, ir.Expr]
    each: ir.Block

    def write(self, own_loads: dict[ir.Element, str], words: dict[ir.Element, str]) -> None:
        """own_loads: what lanes have loaded for atoms of their own. words: for all atoms, of their columns."""
        both, text, writer = self.both, self.both.text, self.both.writer
        mine, best = ir.Var("key", self.key.type), ir.Var("best", self.key.type)
        keys = self.array(mine, f"{both.own}.most")
        (identity,) = (
            e
            for a in both.pass_.accumulators
            for v, e in zip(a.fields, a.identity, strict=True)
            if v is self.key
        )
        writer.assign(best, text.expr(identity))
        own = (*both.own_code, ir.Assign(mine, self.of_atom))
        with both.dealt_out(own, own_loads), both.each_own():
            text.names[mine] = f"{keys}[{both.item}]"
            writer.block((*own, ir.Assign(best, self.better(best, mine))))
        a, b = (ir.Var(n, self.key.type) for n in ("left", "right"))
        kind, names = ctype(self.key.type), [text.var(v) for v in (a, b)]
        head = ", ".join(f"{kind} {n}" for n in names)
        function = f"[&]({head}) {{ return {text.expr(self.better(a, b))}; }}"
        writer.line(f"{text.var(best)} = {both.axis}.across({text.var(best)}, {function});")
        self.rebase(best)
        self.add(self.factors(mine), words)

    def array(self, v: ir.Var, count: str) -> str:
        """Declare a number of each atom. Returns the name of the array; `v` is that of the atom at hand."""
        both, text = self.both, self.both.text
        name = text.unique(text.var(v))
        both.writer.line(f"{ctype(v.type)} {name}[{count}] = {{}};")
        text.names[v] = f"{name}[{both.item}]"
        both.writer.declared.add(v)
        return name

    def better(self, a: ir.Expr, b: ir.Expr) -> ir.Expr:
        _, (found,) = walk.substitute(self.code.better, (a, b))
        return found

    def factor(self, old: ir.Expr, new: ir.Expr) -> ir.Expr:
        _, (found,) = walk.substitute(self.code.factor, (old, new))
        return found

    def rebase(self, best: ir.Var) -> None:
        """Write the greatest key so far, and what the atoms before have contributed, relative to it."""
        both = self.both
        of_all = ir.Var("all", self.key.type)
        factor = self.factor(self.key, of_all)
        less = ir.Var("less", factor.type)
        both.writer.block(
            (
                ir.Assign(of_all, self.better(self.key, best)),
                ir.Assign(less, factor),
                ir.Assign(self.key, of_all),
            )
        )
        self.to_fields({v: _product(v, less, v.type) for v in self.values})

    def factors(self, mine: ir.Var) -> ir.Var:
        """Write the factors of the atoms of a batch, which the lanes tell each other."""
        both = self.both
        factor = self.factor(mine, self.key)
        own, every = (ir.Var(n, factor.type) for n in ("own_factor", "factor"))
        told = self.array(own, f"{both.own}.most")
        with both.each_own():
            both.writer.block((ir.Assign(own, factor),))
        all_ = self.array(every, "items.value")
        both.writer.line(f"{both.axis}.tell({told}, {all_});")
        return every

    def add(self, factor: ir.Var, words: dict[ir.Element, str]) -> None:
        """Write what each atom contributes to the sums."""
        both, text = self.both, self.both.text
        text.loaded |= words
        with both.some(), both.each_atom(), both.writer.compound(f"if ({both.is_in()})"):
            self.to_fields(
                {
                    v: ir.Binary("+", v, _product(e, factor, v.type), v.type)
                    for v, e in self.values.items()
                },
                self.each,
            )

    def to_fields(self, values: dict[ir.Var, ir.Expr], each: ir.Block = ()) -> None:
        """Write new values of the sums: those that all columns have in common, then a column's, after `each`."""
        both, uniform = self.both, self.both.parted.uniform
        both.writer.block(tuple(ir.Assign(v, e) for v, e in values.items() if v in uniform))
        with both.outer.each_column():
            columns = tuple(ir.Assign(v, e) for v, e in values.items() if v not in uniform)
            both.writer.block((*each, *columns))


def _product(x: ir.Expr, y: ir.Expr, t: Scalar) -> ir.Expr:
    x, y = (e if e.type == t else ir.Cast(e, t) for e in (x, y))
    return ir.Binary("*", x, y, t)
