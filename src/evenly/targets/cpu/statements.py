"""Print statements as Python text for Numba. A pass over atoms looks different for a worker and for a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

from evenly.language import ir, walk
from evenly.language.accesses import gathers
from evenly.language.diagnostics import Location
from evenly.language.scans import running
from evenly.language.schedule_code import whole_tile
from evenly.language.types import POS, words_of
from evenly.targets.printing.statements import Over, Statements, Words

from .columns import emit_columns, may_take_columns
from .common import shared
from .division import SHARE
from .extremes import compare, emit_extremes, finds_extremes
from .staged import Stage, emit_staged
from .text import Text, memory_type
from .unrolled import emit_unrolled
from .vectors import LONG, reduces


@dataclass(frozen=True, slots=True)
class Ranks:
    """The loop over the members of a group: its head. setup: writes what each member runs first."""

    loop: str
    setup: Callable[[], None]


class Writer(Statements[Text]):
    """Writes the statements of one function, line by line."""

    words = Words("while True", "if {c}", end="", print="print", string=repr)

    def __init__(self, text: Text) -> None:
        super().__init__(text)
        self.atoms: ir.Inline | None = None  # the range of a tile's atoms; required for passes
        self.in_order: ir.Inline | None = None  # all of a tile's atoms, which scans walk in order
        self.ranks: Ranks | None = None
        self.any_order = False  # whether sums of floats may be added in another order
        self.met_nan = (
            ""  # where extremes of floats ignore NaN, the variable that says if any was met
        )
        self.staged: dict[ir.Var, Stage] = {}  # the passes whose terms are staged, by their atom
        self.staged_end = ""  # the variable that holds where they end
        self.packs = False  # whether there are blocks of lanes, which LLVM is to pack into vectors
        self.tile: ir.Var | None = None
        self.pushing: Callable[[ir.Push], None] | None = None  # where a crew runs tasks
        self.at: Location | None = None  # where the next range was made, for the check of its step

    # ---- lines -----------------------------------------------------------------------------
    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def compound(self, head: str) -> Iterator[None]:
        self.line(f"{head}:")
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def otherwise(self) -> AbstractContextManager[None]:
        return self.compound("else")

    def local(self, wanted: str) -> str:
        """Return a name for a variable of the engine."""
        return self.text.names.of(wanted, wanted)

    # ---- statements --------------------------------------------------------------------------
    def assign(self, v: ir.Var, text: str) -> None:
        self.line(f"{self.text.var(v)} = {text}")

    def fill(self, array: ir.Var, text: str) -> None:
        value = f"uint8({text})" if array.type.is_bool else text
        with self.compound(f"for {self.local('element')} in range({array.length})"):
            self.line(f"{self.text.var(array)}[{self.local('element')}] = {value}")

    def set_item(self, s: ir.SetItem) -> None:
        index, value = self.text.expr(s.index), self.text.stored(s.array.type, s.value)
        self.line(f"{self.text.var(s.array)}[{index}] = {value}")

    def begin_scratch(self, s: ir.Scratch) -> None:
        """Write the loop that fills the worker's part of the memory for this array with zeros."""
        t, array, element = self.text, replace(s.array, own=False), self.local("element")
        memory, room, length = t.array(array), t.extent(array, 0), t.expr(s.length)
        if t.checks is not None:
            length = f"check_length({length}, {t.check('length', s.array.name, s.at)}, record)"
        self.line(f"{t.array(s.array)} = shifted({memory}, worker * {room})")
        zero = memory_type(array.dtype)
        with self.compound(f"for {element} in range({length})"):
            self.line(f"{t.array(s.array)}[{element}] = {zero}(0)")

    def store(self, s: ir.Store) -> None:
        t = self.text
        *indices, value = self.common(*s.indices, s.value)
        place = t.subscript(replace(s, indices=tuple(indices)))
        self.line(f"{place} = {t.stored(s.array.dtype, value)}")

    def atomic_call(self, s: ir.Atomic) -> str:
        values = ", ".join(self.text.expr(e) for e in s.operands)
        place = f"{self.text.array(s.array)}, {self.text.index(s)}"
        if s.array.of_call and s.op in ("add", "exch"):
            return f"atomic_{s.op}_unless({place}, {values}, workers == 1)"
        return f"atomic_{s.op}({place}, {values})"

    def push(self, s: ir.Push) -> None:
        assert self.pushing is not None
        self.pushing(s)

    def assertion(self, s: ir.Assert) -> str:
        number = self.text.check("assertion", s.text, s.at)
        return f"check_that({self.text.expr(s.condition)}, {number}, record)"

    def statement(self, s: ir.Stmt) -> None:
        self.at = self.text.at = s.at or self.at
        super().statement(s)

    def loop(self, s: ir.For) -> None:
        if may_take_columns(self, s):
            emit_columns(self, s)
            return
        with self.compound(f"for {self.text.var(s.var)} in {self.range(s.start, s.stop, s.step)}"):
            self.inner(s.body)

    def range(self, start: ir.Expr, stop: ir.Expr, step: ir.Expr) -> str:
        """Return `range(...)` over 64-bit integers."""
        first, last, by = (self.text.expr(ir.Cast(e, POS)) for e in (start, stop, step))
        if by == "1":
            return f"range({first}, {last})"
        if isinstance(step, ir.Const | ir.Processor):  # counts of processors are positive
            return f"range({first}, {last}, {by})"
        if self.text.checks is not None:
            number = self.text.check("step", "range", self.at)
            return f"range({first}, {last}, check_divisor({by}, {number}, record))"
        # Python refuses a step of zero. Native code cannot raise, so there the range is empty.
        return f"range({first}, {last} if {by} != 0 else {first}, {by} if {by} != 0 else 1)"

    def common(self, *expressions: ir.Expr) -> tuple[ir.Expr, ...]:
        if self.text.checks is not None:
            return expressions  # each check reports its own place, so subexpressions are not shared
        assigned, rest = shared(expressions)
        for a in assigned:
            self.assign(a.var, self.text.expr(a.value))
        return rest

    def combine(
        self,
        acc: ir.Accumulator,
        a: tuple[ir.Expr, ...],
        b: tuple[ir.Expr, ...],
        later: bool = False,
    ) -> None:
        if self.met_nan and finds_extremes(acc):
            compare(self, acc, a[0], b[0])
            return
        if self.any_order and acc.op in ("sum", "product") and acc.fields[0].type.is_float:
            verb = "add" if acc.op == "sum" else "multiply"
            self.assign(
                acc.fields[0],
                f"{verb}_in_any_order({self.text.expr(a[0])}, {self.text.expr(b[0])})",
            )
            return
        super().combine(acc, a, b, later)

    # ---- passes ----------------------------------------------------------------------------------
    def walk(self, s: ir.Pass) -> None:
        """Write a pass over a whole tile. If a group shares the tile, its members run in sequence."""
        assert self.atoms is not None
        assert self.tile is not None
        self.identities((*s.accumulators, *running(s)))
        if s.of is not None:
            self.tiles_of_item(s, s.of)
            return
        if running(s):
            assert self.in_order is not None
            self.atom_loop(s, self.inline(self.in_order, self.tile))
            return
        if self.ranks is None:
            self.all_atoms(s, self.atoms, self.tile)
            return
        with self.compound(self.ranks.loop):
            self.ranks.setup()
            self.all_atoms(s, self.atoms, self.tile)

    def tiles_of_item(self, s: ir.Pass, of: ir.LayoutCode) -> None:
        """Write the loop over an item's tiles, in order."""
        assert self.in_order is not None
        assert self.tile is not None
        over = self.inline(self.in_order, self.tile)
        outer = self.tile, self.atoms, self.in_order
        self.tile, self.atoms = s.atom, whole_tile(of, ir.Const(1, POS))
        self.in_order = self.atoms
        self._loop(s, self.range(*over))
        self.tile, self.atoms, self.in_order = outer

    def all_atoms(self, s: ir.Pass, atoms: ir.Inline, tile: ir.Var) -> None:
        """Write the loops over the atoms of a tile that a schedule's method gives."""
        if atoms.results:
            self.atom_loop(s, self.inline(atoms, tile))
            return

        def each(over: Over) -> None:
            if len(over) == 1:
                self.assign(s.atom, self.text.expr(over[0]))
                self.block(s.body)
            else:
                self.atom_loop(s, over)

        self.generate(walk.substitute(atoms, (tile,))[0], each)

    def atom_loop(self, s: ir.Pass, atoms: tuple[ir.Expr, ...]) -> None:
        """Write the loop over a range of atoms."""
        start, stop, step = atoms
        plain = not (isinstance(step, ir.Const) and step.value == 1) or self.text.checks is not None
        if plain or not reduces(s):
            self._loop(s, self.range(start, stop, step))
            return
        low, high = (self.named(n, e) for n, e in (("low", start), ("high", stop)))
        if s.atom in self.staged:
            emit_staged(self, s, low, high)
            return
        if gathers(s):
            emit_unrolled(self, s, low, high)
            return
        first, last = self.text.var(low), self.text.var(high)
        with self.compound(f"if {last} - {first} >= {LONG}"):
            self.any_order = True
            emit_extremes(self, s, lambda: self._loop(s, f"range({first}, {last})"))
            self.any_order = False
        with self.compound("else"):
            self._loop(s, f"range({first}, {last})", "as_it_stands()")

    def _loop(self, s: ir.Pass, atoms: str, first: str = "") -> None:
        with self.compound(f"for {self.text.var(s.atom)} in {atoms}"):
            if first:
                self.line(first)
            self.block(s.body)

    def named(self, name: str, e: ir.Expr) -> ir.Var:
        """Return a variable that holds `e`, which is `e` itself if it is a variable."""
        if isinstance(e, ir.Var):
            return e
        v = engine_var(name)
        self.line(f"{self.text.var(v)} = {self.text.expr(e)}")
        return v

    def over(self, tiles: ir.Inline, tile: ir.Var, body: Callable[[], None]) -> None:
        """Write the loops over the tiles that a schedule's method gives."""

        def each(over: Over) -> None:
            if len(over) == 1:
                self.assign(tile, self.text.expr(over[0]))
                body()
                return
            with self.compound(f"for {self.text.var(tile)} in {self.range(*over)}"):
                body()

        if tiles.results:
            each(self.inline(tiles))
        else:
            self.generate(tiles.body, each)

    # ---- pieces of layouts and schedules ---------------------------------------------------------
    def inline(self, code: ir.Inline, *arguments: ir.Expr) -> tuple[ir.Expr, ...]:
        """Write the body of `code`, and return its results. The arguments must be cheap to repeat."""
        body, results = walk.substitute(code, arguments)
        self.block(body)
        return results

    def held(self, name: str, code: ir.Inline, *arguments: ir.Expr) -> ir.Var:
        """Return a new variable that holds the single result of `code`."""
        (result,) = self.common(*self.inline(code, *arguments))
        v = engine_var(name)
        self.line(f"{self.text.var(v)} = {self.text.expr(result)}")
        return v

    # ---- scratch memory --------------------------------------------------------------------------
    def scratch(
        self, phase: int, name: str, v: ir.Var | None = None, size: int = 1, lanes: bool = False
    ) -> str:
        """Return a pointer to `size` values for each worker (and lane) of this phase. v: a variable of their type."""
        pointer = self.text.names.of((phase, name), name)
        kind = "int64" if v is None else memory_type(v.type)
        words = 1 if v is None else words_of(v.type)
        slot = self.text.slots.scratch(phase, name, size * words, lanes)
        self.text.unpacked.setdefault(pointer, f"pointer(slots, {slot}, {kind})")
        return pointer

    def shared(self, name: str) -> str:
        """Return a pointer to integers that the host and a phase exchange: `facts` or `shares`."""
        pointer = self.local(name)
        self.text.unpacked.setdefault(
            pointer, f"pointer(slots, {self.text.slots.shared(name)}, int64)"
        )
        return pointer

    def share(self) -> list[str]:
        """Read the numbers of the worker's share (see `division`) into variables. Return their names."""
        names = ("first_tile", "first_atom", "end_tile", "end_atom", "first_whole", "end_whole")
        pointer = self.shared("shares")
        for i, name in enumerate(names):
            self.line(f"{self.local(name)} = {pointer}[{SHARE} * worker + {i}]")
        return [self.local(n) for n in names]

    def to_scratch(self, pointer: str, index: str, v: ir.Var) -> None:
        value = self.text.var(v)
        self.line(f"{pointer}[{index}] = {f'uint8({value})' if v.type.is_bool else value}")

    def from_scratch(self, pointer: str, index: str, v: ir.Var) -> None:
        test = " != 0" if v.type.is_bool else ""
        self.line(f"{self.text.var(v)} = {pointer}[{index}]{test}")


def engine_var(name: str) -> ir.Var:
    """Return a variable that an engine adds to those of the program. It is a position."""
    return ir.Var(name, POS)


def like(v: ir.Var, prefix: str) -> ir.Var:
    """Return a new variable of the same type as `v`."""
    return ir.Var(f"{prefix}_{v.name}", v.type)
