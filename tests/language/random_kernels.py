"""Random kernels: `Wild` ones, which are mostly refused, and `Tame` ones, which all run."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

# fmt: off
Draw = Callable[[st.SearchStrategy[Any]], Any]


def _indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


# ---- wild: anything that parses ------------------------------------------------------------------
NAMES = [
    "A", "B", "S", "F", "x", "y", "z", "b", "m", "n", "s", "none", "row",
    "k", "i", "q", "acc", "total", "square", "both", "pair", "plain", "PAIR", "TABLE", "THING",
    "missing", "sum", "range", "math", "ev",
]
FUNCTIONS = [
    "square", "both", "pair", "nothing", "plain", "endless", "returns_in_a_loop", "sometimes_a_pair", "sum", "min",
    "max", "any", "all", "abs", "len", "range", "int", "float", "bool", "print",
    "enumerate", "math.sqrt", "math.floor", "math.atan2", "math.isnan", "math.foo", "np.float32", "np.int64", "np.sum", "A.value",
    "A.column", "A.row", "A.atoms", "A.tiles", "A.begin", "A.shape", "A.nothing", "B.value", "B.column", "S.atoms",
    "S.tiles", "F.push", "F.tiles", "F.atoms", "x.sum", "ev.argmin", "ev.argmax", "ev.first", "ev.reduce", "ev.lanes", "ev.atomic_add", "ev.atomic_min", "ev.atomic_cas",
    "ev.thread_index", "ev.group", "ev.local", "q", "x",
]
BINARY = [
    "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^",
]
COMPARE = [
    "<", "<=", ">", ">=", "==", "!=",
]
ODD = (
    "[1]", "{}", "(lambda v: v)", "'text'", "x[1:2]", "square(*PAIR)", "square(**x)", "(q := 1)", "...", "1j", "f'{n}'",
    "[v for v in x]", "(x @ y)", "(n in x)", "(x is y)", "(n not in x)",
)


@dataclass
class Wild:
    """`odd`: with what the parser refuses; most are made without, so that they get further."""

    draw: Draw
    odd: bool = False
    names: list[str] = field(default_factory=lambda: NAMES)

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def times(self, low: int, high: int) -> range:
        return range(self.draw(st.integers(low, high)))

    def expr(self, depth: int) -> str:
        if depth <= 0:
            return self.atom()
        kind = self.one("atom", "atom", "binary", "call", "subscript", "compare", "generator", "logic", "if", "tuple", "unary", "attribute", *(["odd"] if self.odd else ["call", "none"]))
        e = self.expr
        match kind:
            case "binary":
                return f"({e(depth - 1)} {self.one(*BINARY)} {e(depth - 1)})"
            case "call":
                arguments = [e(depth - 1) for _ in self.times(0, 3)]
                if self.one(0, 0, 0, 1):
                    arguments.append(f"{self.one('default', 'start', 'v', 'key')}={e(depth - 1)}")
                return f"{self.one(*FUNCTIONS)}({', '.join(arguments)})"
            case "subscript":
                return f"{e(depth - 1)}[{', '.join(e(depth - 1) for _ in self.times(1, 2)) or '0'}]".replace("[]", "[0]")
            case "compare":
                return f"({e(depth - 1)} {self.one(*COMPARE)} {e(depth - 1)})"
            case "generator":
                name = self.one("sum", "min", "max", "any", "all", "ev.argmax", "ev.first", "")
                tail = self.one("", "", ", default=-1", ", 0")
                target = self.one("k", "k", "i", "(k, i)")
                test = f" if {e(depth - 2)}" if self.one(0, 0, 1) else ""
                made = f"({e(depth - 1)} for {target} in {self.iterable(depth - 1)}{test})"
                return f"{name}({made}{tail})" if name else made
            case "logic":
                return f"({e(depth - 1)} {self.one('and', 'or')} {e(depth - 1)})"
            case "if":
                return f"({e(depth - 1)} if {e(depth - 1)} else {e(depth - 1)})"
            case "tuple":
                return f"({''.join(e(depth - 1) + ', ' for _ in self.times(0, 3))})"
            case "unary":
                return f"({self.one('-', '+', '~', 'not ')}{e(depth - 1)})"
            case "attribute":
                return f"{self.one(*self.names)}.{self.one('values', 'shape', 'size', 'value', 'num_tiles', 'offsets', 'foo', '__class__')}"
            case "odd":
                return self.one(*ODD)
            case "none":
                return f"({e(depth - 1)} is{self.one('', ' not')} None)"
        return self.atom()

    def atom(self) -> str:
        return str(self.one(*self.names, 0, 1, 2, -1, 0.5, "True", "None", 2**31, 2**63, "1e400"))

    def iterable(self, depth: int) -> str:
        return self.one(
            "A.atoms(row)", "A.atoms(row)", "range(3)", "range(n)", "ev.lanes(2)", "A.atoms(A.column(k))", "B.atoms(row)",
            "A.tiles()", "S.atoms(row)", "range(0, 3, n)", self.expr(depth),
        )

    def target(self, depth: int) -> str:
        return self.one("q", "q", "acc", "total", "row", "k", "n", "x", "A", "(q, acc)", "y[row]", "y[0]", "z[row]", "m[row, 0]", "y[k]", "b[row]", "A.foo", f"y[{self.expr(depth)}]")

    def block(self, depth: int, loops: int = 0) -> list[str]:
        return [line for _ in range(1 + len(self.times(0, 2))) for line in self.statement(depth, loops)]

    def statement(self, depth: int, loops: int) -> list[str]:
        kind = self.one("assign", "assign", "update", "for", "if", "while", "expr", "leave", *(["odd"] if self.odd else ["assign"])) if depth > 0 else self.one("assign", "update", "expr")
        match kind:
            case "update":
                target = self.one("q", "acc", "total", "y[row]", "y[k]", "z[row]", "y[0]", "x", "n")
                return [f"{target} {self.one(*BINARY)}= {self.expr(2)}"]
            case "for":
                target = self.one("k", "k", "i", "row", "q", "k, i", "acc", "y[0]")
                return [f"for {target} in {self.iterable(1)}:", *_indent(self.block(depth - 1, loops + 1))]
            case "if":
                other = ["else:", *_indent(self.block(depth - 1, loops))] if self.one(0, 1) else []
                return [f"if {self.expr(2)}:", *_indent(self.block(depth - 1, loops)), *other]
            case "while":
                return [f"while {self.expr(2)}:", *_indent(self.block(depth - 1, loops + 1))]
            case "expr":
                return [self.expr(3) if self.odd else f"{self.one('ev.atomic_add', 'ev.atomic_max', 'nothing')}({self.expr(1)}, {self.expr(1)}, {self.expr(2)})"]
            case "leave":
                return [self.one("pass", "return", "return 1", *(("break", "continue") if loops else ()))]
            case "odd":
                return [self.one("del n", "global TABLE", "import os", "assert n", "raise x", "q: int", "q: int = 1", "yield x", "def g(): pass", "with x: pass", "q @= x")]
        return [f"{self.target(1)} = {self.expr(3)}"]

    def kernel(self, parameters: str) -> str:
        body = []
        for _ in range(1 + len(self.times(0, 1))):
            if self.one(0, 1, 1, 1):
                body += [f"for {self.one('row', 'row', 'row', 'k', '(row, k)')} in {self.one('A', 'A', 'B', 'S')}.tiles():", *_indent(self.block(3, 1))]
            else:
                body += self.block(2)
        return "\n".join([f"def kernel({parameters}):", *_indent(body)]) + "\n"


# ---- tame: typed, terminating, without races -----------------------------------------------------
@dataclass
class Tame:
    """A kernel over a Csr `A` with float32 values, vectors x (float32), z (int32), w (float64).

    Every expression has a known kind: "i" or "f" ("b" for conditions); integers stay small
    (they are reduced after every multiplication), so that nothing depends on overflow.
    Sums of floats are of small integers: every order gives the same bits.
    """

    draw: Draw
    known: dict[str, str] = field(default_factory=dict)  # the variables in scope, with their kinds
    arrays: dict[str, str] = field(default_factory=dict)  # the local arrays of four elements that may be read
    frozen: set[str] = field(default_factory=set)  # those that may not be assigned here
    atom: str = ""
    fresh: int = 0
    cost: int = 0
    in_tile: bool = True  # or between the loops over tiles, where `row` is not known

    def one(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    # ---- local arrays ----------------------------------------------------------------------------
    def index(self) -> str:
        names = [f"{n} % 4" for n, kind in self.known.items() if kind == "i"]
        return self.one("0", "3", "row % 4", "n % 4", *names, *([f"A.column({self.atom}) % 4"] if self.atom else []))

    def elements(self, kind: str) -> list[str]:
        return [f"{h}[{self.index()}]" for h, k in self.arrays.items() if k == kind]

    def small(self, kind: str, depth: int) -> str:
        return f"{self.integer(depth)} % 1009" if kind == "i" else f"{self.number(depth)} % 64.0"

    def item(self) -> list[str]:
        """A new local array, or a store into one."""
        kind = self.one("i", "f")
        old = [h for h, k in self.arrays.items() if k == kind]
        if not old or self.one(0, 0, 0, 1):
            name = self.name()
            self.arrays[name] = kind
            return [f"{name} = ev.local(4, {'np.int64' if kind == 'i' else 'np.float64'})"]
        return [f"{self.one(*old)}[{self.index()}] {self.one('=', '=', '+=')} {self.small(kind, 2)}"]

    def contribution(self, h: str, kind: str, op: str) -> str:
        i, v = self.index(), self.small(kind, 1)
        return f"{h}[{i}] = {op}({h}[{i}], {v})" if op in ("min", "max") else f"{h}[{i}] {op}= {v}"

    # ---- expressions -----------------------------------------------------------------------------
    def integer(self, depth: int) -> str:
        names = [n for n, kind in self.known.items() if kind == "i"]
        here = ["row", "n", "z[row]"] if self.in_tile else ["n", "z[1]", "len(x)"]
        leaves = [*here, str(self.one(-3, 0, 1, 2, 7)), *names, *names, *self.elements("i")]
        if self.atom:
            leaves += [f"A.column({self.atom})", f"z[A.column({self.atom})]", self.atom]
        if depth <= 0:
            return self.one(*leaves)
        e = self.integer
        match self.one("leaf", "add", "mul", "div", "bits", "if", "abs", "min", "int", "shift", "truth"):
            case "add":
                return f"(({e(depth - 1)} {self.one('+', '-')} {e(depth - 1)}) % 1009)"
            case "mul":
                return f"({e(depth - 1)} % 97 * ({e(depth - 1)} % 89) % 1009)"
            case "div":
                return f"({e(depth - 1)} {self.one('//', '%')} {self.one(-7, -2, 3, 5)})"
            case "bits":
                return f"({e(depth - 1)} {self.one('&', '|', '^')} {e(depth - 1)})"
            case "if":
                return f"({e(depth - 1)} if {self.truth(depth - 1)} else {e(depth - 1)})"
            case "abs":
                return f"abs({e(depth - 1)})"
            case "min":
                return f"{self.one('min', 'max')}({e(depth - 1)}, {e(depth - 1)})"
            case "int":
                return f"{self.one('int', 'math.floor', 'math.ceil')}({self.number(depth - 1)} / 4)"
            case "shift":
                return f"(({e(depth - 1)} % 50) {self.one('<<', '>>')} {self.one(0, 1, 3)})"
            case "truth":
                return f"int({self.truth(depth - 1)})"
        return self.one(*leaves)

    def number(self, depth: int) -> str:
        """A float whose value is a small integer."""
        names = [n for n, kind in self.known.items() if kind == "f"]
        here = ["x[row]", "w[row]"] if self.in_tile else ["x[1]", "(g[0] % 64.0)"]
        leaves = [*here, str(self.one("-2.0", "0.0", "1.0", "3.0")), *names, *names, *self.elements("f")]
        if self.atom:
            leaves += [f"A.value({self.atom})", f"x[A.column({self.atom})]"]
        if depth <= 0:
            return self.one(*leaves)
        e = self.number
        match self.one("leaf", "add", "mul", "if", "min", "abs", "of", "div"):
            case "add":
                return f"(({e(depth - 1)} {self.one('+', '-')} {e(depth - 1)}) % 64.0)"
            case "mul":
                return f"({e(depth - 1)} % 8.0 * ({e(depth - 1)} % 8.0))"
            case "if":
                return f"({e(depth - 1)} if {self.truth(depth - 1)} else {e(depth - 1)})"
            case "min":
                return f"{self.one('min', 'max')}({e(depth - 1)}, {e(depth - 1)})"
            case "abs":
                return f"{self.one('abs', '-')}({e(depth - 1)})"
            case "of":
                return f"float({self.integer(depth - 1)} % 16)"
            case "div":
                return f"({e(depth - 1)} // {self.one('2.0', '-4.0')})"
        return self.one(*leaves)

    def truth(self, depth: int) -> str:
        if depth > 0 and self.one(0, 0, 1):
            return f"({self.truth(depth - 1)} {self.one('and', 'or')} {self.truth(depth - 1)})"
        if depth > 0 and self.one(0, 0, 0, 1):
            return f"(not {self.truth(depth - 1)})"
        pick = self.integer if self.one(0, 1) else self.number
        if self.one(0, 0, 1):
            return f"({pick(depth - 1)} {self.one('<', '<=')} {pick(depth - 1)} {self.one('<', '!=')} {pick(depth - 1)})"
        return f"({pick(depth - 1)} {self.one('<', '<=', '>', '>=', '==', '!=')} {pick(depth - 1)})"

    def reduction(self, kind: str) -> str:
        """A pass as an expression."""
        outer, self.atom = self.atom, "k"
        test = f" if {self.truth(1)}" if self.one(0, 0, 1) else ""
        value = self.number(2) if kind == "f" else self.integer(2)
        name = self.one("sum", "min", "max", *(("ev.argmin", "ev.argmax", "ev.first", "count") if kind == "i" else ()))
        if name == "ev.first":
            value = self.truth(1)
        if name.startswith("ev.arg") and self.one(0, 1):
            value = self.number(2)
        if name == "count":
            name, value = "sum", self.truth(1)
        self.atom = outer
        default = "" if name == "sum" else f", default={'-1' if kind == 'i' else '-1.0'}"
        made = f"{name}(({value} for k in A.atoms(row){test}){default})"
        return f"({made} % 1009)" if kind == "i" else made

    # ---- statements ------------------------------------------------------------------------------
    def value(self, kind: str, depth: int = 2, passes: bool = False) -> str:
        if passes and self.one(0, 1):
            return self.reduction(kind)
        return self.integer(depth) if kind == "i" else self.number(depth)

    def assign(self, passes: bool) -> list[str]:
        if self.in_tile and not self.atom and self.one(0, 0, 1):
            return self.item()
        kind = self.one("i", "f")
        old = [n for n, k in self.known.items() if k == kind and n not in self.frozen]
        name = self.one(*old) if old and self.one(0, 1) else self.name()
        line = f"{name} = {self.value(kind, 2, passes)}"
        self.known[name] = kind
        return [line]

    def scoped(self, make: Callable[[], list[str]]) -> list[str]:
        """A block whose new names end with it."""
        known, frozen, arrays = dict(self.known), set(self.frozen), dict(self.arrays)
        lines = make()
        self.known, self.frozen, self.arrays = known, frozen, arrays
        return _indent(lines or ["pass"])

    def several(self, most: int, make: Callable[[], list[str]]) -> list[str]:
        return [line for _ in range(self.draw(st.integers(1, most))) for line in make()]

    def simple(self) -> list[str]:
        """Statements without passes, anywhere."""
        match self.one("assign", "assign", "if", "range", "while"):
            case "if":
                test = self.truth(1)
                then = self.scoped(lambda: self.several(2, lambda: self.assign(False)))
                other = self.scoped(lambda: self.several(2, lambda: self.assign(False)))
                return [f"if {test}:", *then, *(["else:", *other] if self.one(0, 1) else [])]
            case "range":
                i = self.name()

                def body() -> list[str]:
                    self.known[i] = "i"
                    self.frozen.add(i)
                    leave = [f"if {self.truth(1)}:", f"    {self.one('break', 'continue')}"] if self.one(0, 0, 1) else []
                    return [*self.several(2, lambda: self.assign(False)), *leave, *self.assign(False)]

                return [f"for {i} in range({self.one('3', 'n', '1, 6, 2', '4, 0, -1', 'row % 3' if self.in_tile else '2')}):", *self.scoped(body)]
            case "while":
                i = self.name()
                self.known[i] = "i"
                self.frozen.add(i)
                body = self.scoped(lambda: [f"{i} = {i} + 1", *self.several(2, lambda: self.assign(False))])
                lines = [f"{i} = 0", f"while {i} < {self.one('3', 'n')} and {self.truth(1)}:", *body]
                del self.known[i]
                return lines
        return self.assign(False)

    def atoms(self) -> list[str]:
        """A loop over atoms: accumulators, locals, stores by atom."""
        kinds = [self.one("i", "f") for _ in range(self.draw(st.integers(1, 2)))]
        accs = [(self.name(), kind, self.one("+", "min", "max", "-", *("|^&" if kind == "i" else "*"))) for kind in kinds]
        starts = [f"{n} = {self.value(kind, 1) if op != '*' else '1.0'}" for n, kind, op in accs]
        items = [(h, kind, self.one("+", "min", "max", "-", *("|^&" if kind == "i" else ""))) for h, kind in self.arrays.items() if self.one(0, 1)]
        self.atom = "k"

        def body() -> list[str]:
            self.frozen |= set(self.known)  # what is outside is read only
            for h, _, _ in items:
                del self.arrays[h]
            lines = self.scans() if self.one(0, 0, 1) else []
            lines += self.several(2, self.simple) if self.one(0, 1) else []
            for n, kind, op in accs:
                v = self.value(kind, 2)
                if op == "*":
                    v = f"({v} % 2.0 + 1.0)"
                step = f"{n} = {op}({n}, {v})" if op in ("min", "max") else self.one(f"{n} {op}= {v}", f"{n} = {n} {op} {v}")
                lines += [f"if {self.truth(1)}:", f"    {step}"] if self.one(0, 1) else [step]
            for h, kind, op in items:
                step = self.contribution(h, kind, op)
                lines += [f"if {self.truth(1)}:", f"    {step}"] if self.one(0, 1) else [step]
            if self.one(0, 1):
                lines += [f"out_atom[k] = {self.value('f', 2)}"]
            return lines

        block = self.scoped(body)
        self.atom = ""
        for n, kind, _ in accs:
            self.known[n] = kind
        tail = [f"{n} = {n} % 1009" for n, kind, op in accs if kind == "i"]
        return [*starts, "for k in A.atoms(row):", *block, *tail]

    def scans(self) -> list[str]:
        """One or two scans, which do not know each other."""
        lines, made = [], {}
        for _ in range(self.one(1, 1, 2)):
            name, kind = self.name(), self.one("i", "f")
            made[name] = kind
            how = self.one("", ", exclusive=True", f", start={self.value(kind, 0)}")
            scan = f"ev.scan({self.value(kind, 1)}{how}) % {'1009' if kind == 'i' else '64.0'}"
            lines.append(f"{name} = {scan if kind == 'f' else self.one(scan, f'ev.rank({self.truth(1)})')}")
        self.known |= made
        return lines

    def tile(self) -> list[str]:
        match self.one("simple", "assign", "atoms", "if", "store"):
            case "simple":
                return self.simple()
            case "assign":
                return self.assign(True)
            case "if":
                test = self.truth(1)
                then = self.scoped(lambda: self.several(2, lambda: self.assign(True)))
                other = self.scoped(lambda: self.several(2, lambda: self.assign(True)))
                return [f"if {test}:", *then, *(["else:", *other] if self.one(0, 1) else [])]
            case "store":
                return self.store()
        return self.atoms()

    def store(self) -> list[str]:
        target, kind = self.one(("y[row]", "f"), ("q[row]", "i"))
        return [f"{target} {self.one('=', '=', '+=')} {self.value(kind, 2, True)}"]

    def kernel(self) -> str:
        lines = []
        grid = self.one(0, 1)
        if grid:
            lines += ["total = 2.0", "most = -5"]
        for _ in range(self.draw(st.integers(1, 2))):
            body = [*self.several(4, self.tile), *self.store()]
            if grid:
                body += [f"total += {self.value('f', 1)}", f"most = max(most, {self.value('i', 1)})"]
            lines += ["for row in A.tiles():", *_indent(body)]
            self.known, self.frozen, self.arrays = {}, set(), {}
        if grid:
            lines += ["g[0] = total", "g[1] = most"]
        return "\n".join(["def kernel(A, x, z, w, n, y, q, out_atom, g):", *_indent(lines)]) + "\n"

    # ---- while around loops over tiles -----------------------------------------------------------
    def loop_over_tiles(self) -> list[str]:
        """A loop over tiles that reads the names of the kernel and accumulates into `total` and `most`."""
        known, frozen = self.known, self.frozen
        self.known = {n: k for n, k in known.items() if n not in ("total", "most")}
        self.frozen, self.in_tile = set(self.known), True
        body = [*self.several(2, self.tile), *self.store()]
        body += [f"total += {self.value('f', 1)}", f"most = max(most, {self.value('i', 1)})"]
        self.known, self.frozen, self.in_tile, self.arrays = known, frozen, False, {}
        return ["for row in A.tiles():", *_indent(body), "total = total % 64.0"]

    def round(self, depth: int) -> list[str]:
        """A while around loops over tiles, and statements between them."""
        count = self.name()
        self.known[count] = "i"
        self.frozen.add(count)

        def body() -> list[str]:
            lines = [f"{count} += 1"]
            for _ in range(self.draw(st.integers(1, 2))):
                lines += self.several(2, self.simple) if self.one(0, 1) else []
                lines += self.one(["total = 1.0", "most = -3"], [])
                lines += self.round(depth - 1) if depth and self.one(0, 0, 1) else self.loop_over_tiles()
                lines += self.one(["g[0] = total"], ["g[1] = most"], [])
                lines += self.assign(False) if self.one(0, 1) else []
            return lines

        more = self.one("", f" and {self.truth(1)}", f" or {count} < 1")
        lines = [f"{count} = 0", f"while {count} < {self.one('3', '2', '0')}{more}:", *self.scoped(body)]
        return lines

    def kernel_of_rounds(self) -> str:
        self.in_tile = False
        self.known = {"p": "i", "f": "f", "most": "i", "total": "f"}
        lines = ["p = 3", "f = 1.0", "total = 2.0", "most = -5"]
        lines += self.several(2, self.simple) if self.one(0, 1) else []
        lines += self.loop_over_tiles() if self.one(0, 1) else []
        lines += self.several(2, lambda: self.round(1))
        lines += ["g[0] = total + f", "g[1] = most + p"]
        return "\n".join(["def kernel(A, x, z, w, n, y, q, out_atom, g):", *_indent(lines)]) + "\n"


@st.composite
def wild_kernels(draw: Draw, parameters: str) -> str:
    return Wild(draw, odd=draw(st.sampled_from([False, False, False, True]))).kernel(parameters)


# ---- mutated: a kernel that is right, and then is not --------------------------------------------
@st.composite
def mutated(draw: Draw, text: str) -> str:
    """The kernel in `text` with one to three of its expressions or statements replaced by wild ones."""
    tree = ast.parse(text)
    kernel = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    kernel.decorator_list = []
    names = sorted({n.id for n in ast.walk(kernel) if isinstance(n, ast.Name)} | {a.arg for a in kernel.args.args})
    wild = Wild(draw, names=[*names, *names, "square", "PAIR", "TABLE", "missing"])
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(kernel))
        node, name, index = places[draw(st.integers(0, len(places) - 1))]
        held = getattr(node, name)
        old = held if index is None else held[index]
        if isinstance(old, ast.stmt):
            kinds = ["add", "drop", "twice", "wrap"]
            new = _statements(wild, old, draw(st.sampled_from(kinds)))
            held[index : index + 1] = new
        else:
            others = [p for p in places if isinstance(_at(p), ast.expr)]
            other = _at(others[draw(st.integers(0, len(others) - 1))]) if draw(st.booleans()) else None
            new_expr = copy.deepcopy(other) if other is not None else ast.parse(wild.expr(2), mode="eval").body
            if index is None:
                setattr(node, name, new_expr)
            else:
                held[index] = new_expr
    return ast.unparse(ast.fix_missing_locations(kernel)) + "\n"


def _statements(wild: Wild, old: ast.stmt, kind: str) -> list[ast.stmt]:
    if kind == "drop":
        return [ast.Pass()]
    if kind == "twice":
        return [old, copy.deepcopy(old)]
    if kind == "wrap":
        head = wild.one("for i in range(3):", "while n > 0:", "if n > 0:", "for j in ev.lanes(2):", "for k in A.atoms(row):", "for row in A.tiles():")
        made = ast.parse(f"{head}\n    pass").body[0]
        made.body = [old]  # type: ignore[attr-defined]
        return [made]
    return [*ast.parse("\n".join(wild.statement(1, 0))).body, old]


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Where statements and read expressions hang in the tree."""
    for name, value in ast.iter_fields(node):
        for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(item, ast.stmt) or (isinstance(item, ast.expr) and not isinstance(getattr(item, "ctx", None), ast.Store)):
                yield node, name, index
            if isinstance(item, ast.AST):
                yield from _places(item)


def _at(place: tuple[ast.AST, str, int | None]) -> Any:
    node, name, index = place
    held = getattr(node, name)
    return held if index is None else held[index]


@st.composite
def tame_kernels(draw: Draw) -> str:
    return textwrap.dedent(Tame(draw).kernel())


@st.composite
def kernels_of_rounds(draw: Draw) -> str:
    return Tame(draw).kernel_of_rounds()
