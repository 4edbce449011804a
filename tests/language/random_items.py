"""Kernels over the items of a batch, made at random: typed, terminating, without races."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from .random_kernels import Tame, _indent

# fmt: off
PARAMETERS = "A, x, z, w, n, y, q, out_atom, u, v, t, c, g"


@dataclass
class OfItems(Tame):
    """A kernel over a batch `A` of square matrices, with the vectors of `Tame`, u and v (float64, rows), t (items).

    Loops over rows store into one of u and v, and read the other at any row of the item. Code of the item reads and
    stores both at the item's first row, `first`, if `full`.
    """

    fixed: set[str] = field(default_factory=set)  # arrays of the item, which code of a row may not assign
    stored: str = "u"

    # ---- what Tame asks --------------------------------------------------------------------------
    def index(self) -> str:
        return super().index() if self.in_tile else self.one("0", "3", "item % 4", "n % 4")

    def integer(self, depth: int) -> str:
        return self.placed(super().integer(depth), "item", "int(t[item] % 8.0)", "int(A.item_end(item) - first)")

    def number(self, depth: int) -> str:
        return self.placed(super().number(depth), "(u[first] if full else 1.0)", "(v[first] if full else 2.0)", "t[item]")

    def placed(self, made: str, *others: str) -> str:
        """Put what code of the item, or of a row, alone may read in the place of some numbers."""
        if not self.in_tile:
            return self.one(made, made, made, *others)
        other = "v" if self.stored == "u" else "u"
        if "." not in others[-1] and made.endswith(("x[row]", "w[row]")):
            return f"{other}[row]"
        return made

    def item(self) -> list[str]:
        arrays = self.arrays
        self.arrays = {h: kind for h, kind in arrays.items() if h not in self.fixed}
        lines = super().item()
        self.arrays = arrays | self.arrays
        return lines

    def assign(self, passes: bool) -> list[str]:
        if not self.in_tile and self.one(0, 0, 0, 1):
            return self.item()
        return super().assign(passes and self.in_tile)

    def atoms(self) -> list[str]:
        held = {h: kind for h, kind in self.arrays.items() if h in self.fixed}
        self.arrays = {h: kind for h, kind in self.arrays.items() if h not in self.fixed}
        lines = super().atoms()
        self.arrays |= held
        return lines

    # ---- code of an item -------------------------------------------------------------------------
    def rows(self, depth: int) -> list[str]:
        """A loop over the rows of the item: accumulators of the item and of the grid, stores, loops over atoms."""
        self.stored = self.one("u", "v")
        other = "v" if self.stored == "u" else "u"
        kinds = [self.one("i", "f") for _ in range(self.draw(st.integers(0, 2)))]
        accs = [(self.name(), kind, self.one("+", "min", "max", *("|^" if kind == "i" else ""))) for kind in kinds]
        starts = [f"{a} = {self.value(kind, 1)}" for a, kind, _ in accs]
        items = [(h, kind, self.one("+", "min", "max")) for h, kind in self.arrays.items() if self.one(0, 1)]

        def contributions() -> list[str]:
            lines = [f"{a} = {op}({a}, {self.value(kind, 1)})" if op in ("min", "max") else f"{a} {op}= {self.value(kind, 1)}" for a, kind, op in accs]
            lines += [self.contribution(h, kind, op) for h, kind, op in items]
            lines += self.one([], ["total += 1.0"], [f"most = max(most, {self.value('i', 1)})"], ["ev.atomic_add(c, 1, 1)"])
            return [line for step in lines for line in ([f"if {self.truth(1)}:", f"    {step}"] if self.one(0, 0, 1) else [step])]

        def inside() -> list[str]:
            self.atom = "k"
            lines = contributions()
            self.atom = ""
            return ["for k in A.atoms(row):", *_indent(lines)] if lines else []

        def body() -> list[str]:
            self.in_tile = True
            self.frozen |= set(self.known)
            for h, _, _ in items:
                del self.arrays[h]
            self.fixed |= set(self.arrays)
            lines = ["xr = ev.stage(x, range(first, A.item_end(item)))", "y[row] = xr[row]"] if depth == 2 and self.one(0, 0, 0, 0, 1) else []
            lines += self.several(2, self.tile) if self.one(0, 1, 1) else []
            lines += inside() if self.one(0, 0, 1) else []
            lines += contributions() if self.one(0, 1, 1) else []
            value = self.one(f"sum({other}[A.column(k)] for k in A.atoms(row))", f"{other}[A.item_end(item) - 1 - (row - first)]", f"{self.stored}[row] + 1.0", self.number(1))
            store = f"{self.stored}[row] = ({value}) % 64.0"
            lines += self.one([store], [store], [f"if {self.truth(0)}:", f"    {store}"], [])
            return lines

        fixed = set(self.fixed)
        block = self.scoped(body)
        self.in_tile, self.fixed = False, fixed
        for a, kind, _ in accs:
            self.known[a] = kind
        tail = [f"{a} = {a} % {'1009' if kind == 'i' else '64.0'}" for a, kind, _ in accs]
        tail += [f"{h}[{i}] = {h}[{i}] % {'1009' if kind == 'i' else '64.0'}" for h, kind, _ in items for i in range(4)]
        return [*starts, "for row in A.tiles(item):", *block, *tail]

    def reduced(self) -> list[str]:
        """A reduction over the rows of the item."""
        kind, name = self.one("i", "f"), self.name()
        self.in_tile, self.stored = True, "u"
        op = self.one("sum", "min", "max", *(("ev.argmin", "ev.argmax", "ev.first") if kind == "i" else ()))
        value = self.truth(1) if op == "ev.first" else self.value(kind, 1)
        test = f" if {self.truth(1)}" if self.one(0, 0, 1) else ""
        self.in_tile = False
        default = "" if op == "sum" else f", default={'-1' if kind == 'i' else '-1.0'}"
        self.known[name] = kind
        return [f"{name} = {op}(({value} for row in A.tiles(item){test}){default}) % {'1009' if kind == 'i' else '64.0'}"]

    def effect(self) -> list[str]:
        if self.one(0, 1):
            into = self.one("u", "v")
            value = self.number(1).replace(f"{into}[first]", "t[item]")  # updates are refused: items may meet there
            return ["if full:", f"    {into}[first] = {value} % 64.0"]
        got = self.name()
        return self.one([f"t[item] = {self.number(1)} % 64.0"], ["ev.atomic_add(c, 0, 1)"], [f"{got} = ev.atomic_add(c, 2 + item, 1)", f"t[item] = {got}"])

    def of_item(self, depth: int) -> list[str]:
        match self.one("simple", "rows", "rows", "reduced", "effect", *(("if", "while") if depth else ())):
            case "simple":
                return self.simple()
            case "rows":
                return self.rows(depth)
            case "reduced":
                return self.reduced()
            case "if":
                test = self.truth(1)
                return [f"if {test}:", *self.scoped(lambda: self.several(2, lambda: self.of_item(depth - 1)))]
            case "while":
                i = self.name()
                self.known[i] = "i"
                self.frozen.add(i)
                body = self.scoped(lambda: [f"{i} = {i} + 1", *self.several(2, lambda: self.of_item(depth - 1))])
                lines = [f"{i} = 0", f"while {i} < {self.one('2', '3', 'item % 3')} and {self.truth(1)}:", *body]
                del self.known[i]
                return lines
        return self.effect()

    def kernel_of_items(self) -> str:
        self.in_tile = False
        body = self.several(self.one(1, 1, 3, 4), lambda: self.of_item(2))
        body += [f"t[item] = {self.number(1)} % 64.0", *self.one([], ["total += t[item] % 4.0", "most = max(most, item % 7)"])]
        head = ["first = A.item_begin(item)", "full = first < A.item_end(item)"]
        if self.one(0, 1):
            name = self.one("x", "w")
            head += [f"s = ev.stage({name}, A.columns(item))"]
            body = [re.sub(rf"\b{name}\[(?=row|A\.column)", "s[", line) for line in body]
        lines = ["total = 2.0", "most = -5", "for item in A.items():", *_indent([*head, *body]), "g[0] = total", "g[1] = most"]
        return "\n".join([f"def kernel({PARAMETERS}):", *_indent(lines)]) + "\n"


@st.composite
def kernels_of_items(draw: Any) -> str:
    return OfItems(draw).kernel_of_items()
