"""Random kernels in which the members of a team depend on each other: scratch arrays, atomics, lanes, and passes that
conditions and loops guard.

Each tile changes what is its own, so every order gives the same numbers: its scratch array `h`, its element of `own`,
and the elements of `marks` at its atoms. A pass reads none of the arrays that it changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]
HEAD = "def kernel(A, table, own, marks, y, z):\n    for row in A.tiles():\n"
SIZE = 5  # elements of a scratch array
TABLE = 16  # elements of `table`


def _indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@dataclass
class Team:
    """Makes one kernel. names: the variables in scope. frozen: those that may not be assigned here."""

    draw: Draw
    scratch: bool
    names: list[str] = field(default_factory=list)
    frozen: set[str] = field(default_factory=set)
    atom: str = ""
    changed: frozenset[str] = frozenset()  # the arrays that the pass changes
    made: int = 0
    passes: int = 0
    most: int = 5  # passes

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def name(self) -> str:
        self.made += 1
        return f"v{self.made}"

    # ---- numbers: all small --------------------------------------------------------------------
    def leaf(self) -> str:
        read = {"own": "own[row]", "h": f"h[{self.place()}]"}
        if self.atom:
            read["marks"] = "marks[k]"
        free = [e for a, e in read.items() if a not in self.changed and (a != "h" or self.scratch)]
        places = ["k", "A.column(k)", "table[A.column(k) % 16]"] if self.atom else ["row"]
        return self.one(*free, *free, *places, *self.names, "row % 3", str(self.one(-2, 0, 1, 5)))

    def place(self) -> str:
        """A place in the scratch array."""
        near = [f"(k + {self.one(0, 2)}) % {SIZE}", f"A.column(k) % {SIZE}"] if self.atom else []
        return self.one("0", f"{SIZE - 1}", f"row % {SIZE}", *near)

    def value(self, depth: int = 1) -> str:
        if depth == 0:
            return self.leaf()
        a, b = self.value(depth - 1), self.value(depth - 1)
        match self.one("leaf", "add", "times", "table", "if"):
            case "add":
                return f"(({a} {self.one('+', '-')} {b}) % 101)"
            case "times":
                return f"({a} % 11 * ({b} % 7))"
            case "table":
                return f"table[({a}) % {TABLE}]"
            case "if":
                return f"({a} if {self.truth()} else {b})"
        return a

    def truth(self) -> str:
        other = self.one(self.leaf(), str(self.one(-1, 1, 3)))
        return f"({self.leaf()} {self.one('<', '>=', '!=', '==')} {other})"

    def whole(self) -> str:
        """A number from 0 to 3 that only a pass's whole result gives: of other parts it would be negative."""
        self.passes += 1
        return f"(sum(1 for k in A.atoms(row)) - (A.end(row) - A.begin(row)) + {self.one(0, 3)})"

    def reduced(self) -> str:
        self.passes += 1
        self.atom = "k"
        value, test = self.value(), self.one("", f" if {self.truth()}")
        self.atom = ""
        match self.one("sum", "max", "argmin", "any"):
            case "sum":
                return f"(sum({value} for k in A.atoms(row){test}) % 1009)"
            case "argmin":
                return f"(ev.argmin(({value} for k in A.atoms(row){test}), default=0) % 1009)"
            case "any":
                return f"int(any({value} > 3 for k in A.atoms(row){test}))"
        return f"max(({value} for k in A.atoms(row){test}), default=-1)"

    # ---- statements ----------------------------------------------------------------------------
    def assigned(self, value: str) -> list[str]:
        old = [n for n in self.names if n not in self.frozen]
        name = self.one(*old) if old and self.one(0, 1) else self.name()
        if name not in self.names:
            self.names.append(name)
        return [f"{name} = {value}"]

    def block(self, make: Callable[[], list[str]]) -> list[str]:
        names = list(self.names)
        lines = make()
        self.names = names
        return _indent(lines)

    def atoms(self) -> list[str]:
        """A pass with effects."""
        self.passes += 1
        arrays = [*(["h", "h"] if self.scratch else []), "own", "marks"]
        changed = self.one(*arrays)
        self.atom, self.changed = "k", frozenset((changed,))
        test, value = self.truth(), self.value()
        match changed:
            case "h":
                change = f"ev.atomic_{self.one('add', 'max', 'min')}(h, {self.place()}, {value})"
            case "own":
                change = f"ev.atomic_{self.one('add', 'max', 'min')}(own, row, {value})"
            case _:
                change = f"marks[k] = {value}"
        inner = self.one([change], [f"if {test}:", f"    {change}"])
        self.atom, self.changed = "", frozenset()
        return ["for k in A.atoms(row):", *_indent(inner)]

    def leaders(self) -> list[str]:
        """An effect of the tile."""
        array, at = self.one(*([("h", self.place())] if self.scratch else []), ("own", "row"))
        match self.one("store", "atomic", "result"):
            case "store":
                return [f"{array}[{at}] = {self.value()}"]
            case "atomic":
                return [f"ev.atomic_{self.one('add', 'max')}({array}, {at}, {self.value()})"]
        return self.assigned(
            f"ev.atomic_{self.one('add', 'min', 'exch')}({array}, {at}, {self.value()}) % 101"
        )

    def lanes(self) -> list[str]:
        array = f"h[j % {SIZE}]" if self.scratch and self.one(0, 1) else f"table[j % {TABLE}]"
        if self.scratch and self.one(0, 0, 1):
            return [f"for j in ev.lanes({SIZE}):", f"    h[j] = j * {self.leaf()} % 101"]
        return self.assigned(f"sum({array} for j in ev.lanes({self.one('3', str(SIZE))})) % 1009")

    def repeated(self, depth: int) -> list[str]:
        """A loop of few rounds, whatever its condition reads."""
        i = self.name()
        self.frozen.add(i)

        def body() -> list[str]:
            self.names.append(i)
            leave = [f"if {self.truth()}:", f"    {self.one('break', 'continue')}"]
            more = leave if self.one(0, 0, 1) else []
            return [f"{i} += 1", *self.statement(depth), *more, *self.statement(depth)]

        return [
            f"{i} = 0",
            f"while {i} < {self.one('2', '3')} and {self.truth()}:",
            *self.block(body),
        ]

    def ends(self) -> list[str]:
        """A loop that a part of a result would not end."""
        n, i = self.name(), self.name()
        self.names.append(i)
        return [
            f"{n} = {self.whole()}",
            f"{i} = 0",
            f"while {n} != 4:",
            f"    {n} += 1",
            f"    {i} += 1",
        ]

    def statement(self, depth: int) -> list[str]:
        kinds = ["assign", "reduce", "atoms", "atoms", "leaders", "lanes", "whole"]
        if self.passes >= self.most:
            kinds = ["assign", "leaders", "lanes"]
        elif depth:
            kinds += ["if", "while", "while", "ends"]
        match self.one(*kinds):
            case "reduce":
                return self.assigned(self.reduced())
            case "atoms":
                return self.atoms()
            case "leaders":
                return self.leaders()
            case "lanes":
                return self.lanes()
            case "whole":
                return self.assigned(
                    self.one(f"table[{self.whole()}]", f"12 // ({self.whole()} + 1)")
                )
            case "if":
                test = self.truth()
                then = self.block(lambda: self.statement(depth - 1))
                other = self.block(lambda: self.statement(depth - 1))
                return [f"if {test}:", *then, *self.one([], ["else:", *other])]
            case "while":
                return self.repeated(depth - 1)
            case "ends":
                return self.ends()
        return self.assigned(self.value())

    def kernel(self) -> str:
        self.most = self.one(1, 3, 5)
        lines = (
            [f"h = ev.scratch({self.one(str(SIZE), f'row % 2 + {SIZE}')}, np.int64)"]
            if self.scratch
            else []
        )
        for _ in range(self.one(2, 3, 4, 5)):
            lines += self.statement(2)
        last = self.reduced() if self.passes < self.most and self.one(0, 1) else self.value(2)
        lines += [f"y[row] = {last}"]
        lines += [f"z[row] = {' + '.join(n for n in self.names) or '0'}"]
        return HEAD + "\n".join(_indent(_indent(lines))) + "\n"


@st.composite
def kernels_of_teams(draw: Draw) -> str:
    return Team(draw, draw(st.booleans())).kernel()
