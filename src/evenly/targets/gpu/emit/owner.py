"""Emit the code for a whole tile that a thread or a group owns.

In a group, some of it runs on all members and some on the leader only.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from evenly.gpus.gpu import WARP
from evenly.language import ir, walk
from evenly.language.accesses import contiguous_reads, only_accumulates
from evenly.language.beforehand import known_beforehand
from evenly.language.combine import contributed_once
from evenly.language.dense import has_lanes_inside
from evenly.language.scans import has_scans, running
from evenly.language.schedule_code import whole_tile
from evenly.language.scratch import scratch_in
from evenly.language.types import POS
from evenly.targets.printing.statements import Over

from .agreed import Agreed
from .batches import SideBySide, Strided
from .contended import reread, stored_twice
from .dense import Dense, may_spread
from .dense_inside import Inside, may_lie_inside
from .expressions import Text, ctype
from .kept import Kept, Range
from .parameters import pointer
from .running import walk_together
from .scratch import Shares
from .several import Several
from .shared_lanes import may_share, reduced, share
from .spread import spread
from .statements import (
    Writer,
    fields_of,
    given_loop,
    identity,
    members,
    position,
    range_head,
    value_struct,
)

# Threads of a multiprocessor. By itself, ptxas keeps to 32 registers, which allows 2,048 threads, and issues loads one
# after another that could be in flight together. With a bound of half as many threads it takes the registers that it
# needs, up to 64. That is enough for IN_FLIGHT numbers per thread. If there were more, or wider ones, some would spill.
RESIDENT = 1024
IN_FLIGHT = 12

RANK = ir.Var("rank", POS)  # of a thread in its team


class Owner(Writer):
    """Writes the code for a whole tile, which a thread or all members of a group run.

    All members compute the same values. Only the leader stores, uses atomics and contributes to accumulators of the
    grid.

    atoms: the schedule's range of a tile's atoms; the range of `strided`, if `run` is more than 1.
    items: how many of its atoms a thread loads at once. run: how many of these are contiguous.
    shared: the bytes of shared memory in which a group may stage each array.
    dense: how its members lie along a dense axis; None: they do not.
    """

    def __init__(
        self,
        text: Text,
        size: int,
        items: int,
        run: int,
        atoms: ir.Inline,
        grid: dict[ir.Var, str],
        body: ir.Block,
        plain_tiles: bool,
        shared: int = 0,
        dense: Dense | None = None,
    ) -> None:
        text.names[RANK] = "team.rank()"
        super().__init__(text)
        self.size, self.items, self.run = size, items, run
        self.atoms = atoms
        self.grid_names = grid
        self.body, self.dense = body, dense
        self.kept = Kept(self, body)
        self.agreed = Agreed(self)
        # Whether code for a column of a dense axis is being written, which one thread runs; where its values wait to be
        # stored together.
        self.spreads = False
        self.inside: Inside | None = (
            None  # while code for an atom is written that several threads run
        )
        self.stored: dict[int, str] = {}
        self.dealt = False  # whether the threads of an atom go on with atoms of their own, at last
        self.in_pass = False
        self.walks = ""  # the condition under which atoms are walked, if an engine has one
        self.clips = (
            ""  # what says which of a tile's atoms a team has, if it shares tiles with others
        )
        # Whether the step between atoms is positive though it is no constant, as an engine may promise.
        self.upward = False
        self.tile: ir.Var | None = None
        # Writes the walk over an item's tiles.
        self.over_tiles: Callable[[ir.Pass], None] | None = None
        # The bytes of shared memory in which a group may stage each array.
        stages = stages_in(body)
        self.staging = shared
        self.shares = Shares()
        # The teams of several blocks, if a tile may belong to one.
        self.several: Several | None = None
        self.structs: list[str] = []
        self.made: dict[int, str] = {}  # the names of the structs, by the id of the pass
        # Registers do not suffice: `short`: if ptxas decides how many; `heavy`: even with a bound on threads.
        # resident: the threads that a multiprocessor should hold, if not RESIDENT; 0: nobody says.
        self.short, self.heavy, self.resident = False, False, 0
        passes = sum(isinstance(s, ir.Pass) for s in walk.statements(body))
        on_top = sum(isinstance(s, ir.Pass) for s in body)
        # Local arrays are indexed by what code computes, so all members need the whole result, and each a tile.
        local = any(v.length for v in walk.variables_set(body)) or bool(scratch_in(body))
        # Members that read what their leader stores must synchronize before and after the store.
        # So must those whose loops over an item's tiles, or whose leader, store into one array: another may have the
        # element in each.
        nested = any(isinstance(s, ir.Pass) and s.of is not None for s in walk.statements(body))
        self.shared = reread(body) if passes and size > 1 else set()
        if nested and size > 1:
            self.shared |= stored_twice(body)
        if size > 1:
            self.shared |= {s.array for s in scratch_in(body)}
        # Then all of them need the result on which it depends whether there is a store.
        self.one_pass = passes == 1 and on_top == 1 and not (local or self._meets_inside(body))
        # All groups of a warp can walk their tiles together if no group skips or repeats a pass. Groups without a tile
        # compute on another group's tile, so they must not read what that group stores.
        # Members that scan wait for each other after every `size` atoms of their own tile.
        # Under a condition, the members of one team alone would wait for what their leader's atomic returns.
        asks = not self.one_pass and any(map(_asks, body))
        alone = self.shared or local or stages or nested or has_scans(body) or asks
        if dense is not None:  # lanes around a pass and inside of it meet in every batch
            on_top += sum(map(self._has_both, body))
        alike = passes > 0 and on_top == passes and not alone
        self.converged = plain_tiles and alike and 1 < size <= WARP and WARP % size == 0

    def _has_both(self, s: ir.Stmt) -> bool:
        """Whether all teams of a warp walk the atoms of a loop's pass together: it has as many lanes for all tiles."""
        if not (isinstance(s, ir.For) and s.kind == "lanes" and known_beforehand(s.stop)):
            return False
        return may_spread(self, s, frozenset()) and has_lanes_inside(s)

    def statement(self, s: ir.Stmt) -> None:
        super().statement(self.agreed.told(s))
        if isinstance(s, ir.Assign) and not s.var.length and self.agreed.unsteady(s.value):
            self.agreed.tell(s.var)

    def begin_scratch(self, s: ir.Scratch) -> None:
        self.line(self.shares.begin(self.text, s))

    def _meets_inside(self, body: ir.Block) -> bool:
        """Whether members synchronize in a branch or a loop, outside passes."""
        inside = [b for s in body if not isinstance(s, ir.Pass) for b in walk.blocks(s)]
        return any(self.shared & walk.arrays_written(b) for b in inside)

    def leads(self) -> bool:
        return self.size > 1 and not (self.in_pass or self.spreads)

    @property
    def leader(self) -> str:
        """The condition under which a thread performs the effects of its tile."""
        return "team.leader() && live" if self.converged else "team.leader()"

    def store(self, s: ir.Store) -> None:
        if id(s) in self.stored:
            self.simple(f"{self.stored[id(s)]} = {self.text.expr(s.value)}")
            return
        if self.inside is not None:
            self.line(f"if ({self.inside.axis}.lane() == 0) {self.store_text(s)}")
            return
        if not self.leads():
            super().store(s)
            return
        if s.array in self.shared:
            self.line("team.sync();")
        self.line(f"if ({self.leader}) {self.store_text(s)}")
        if s.array in self.shared:
            self.line("team.sync();")

    def effect(self, text: str) -> None:
        super().effect(f"if ({self.leader}) {text}" if self.leads() else text)

    def atomic(self, s: ir.Atomic) -> None:
        if not self.leads():
            super().atomic(s)
            return
        call = self.atomic_call(s)
        if s.array in self.shared:
            self.line("team.sync();")
        if s.result is None:
            self.line(f"if ({self.leader}) {call};")
        else:
            self.assign(s.result, f"({self.leader}) ? {call} : 0")
            if not self.one_pass:
                self.agreed.tell(s.result)
        if s.array in self.shared:
            self.line("team.sync();")

    def push(self, s: ir.Push) -> None:
        self.effect(f"tasks.push({{{', '.join(map(self.text.expr, s.values))}}})")

    def accumulate(self, acc: ir.Accumulator, values: tuple[ir.Expr, ...]) -> None:
        if self.leads() and acc.fields[0] in self.grid_names:
            with self.compound(f"if ({self.leader})"):
                super().accumulate(acc, values)
            return
        super().accumulate(acc, values)

    def accumulate_item(
        self, acc: ir.Accumulator, values: tuple[ir.Expr, ...], index: ir.Expr
    ) -> None:
        if self.leads() and acc.fields[0] in self.grid_names:
            with self.compound(f"if ({self.leader})"):
                super().accumulate_item(acc, values, index)
            return
        super().accumulate_item(acc, values, index)

    def stage(self, s: ir.Stage) -> None:
        """Write the copy to shared memory by all members, for a group that has some."""
        t, kind, places = self.text, ctype(s.array.dtype), self.most_staged(s.array)
        if self.size == 1 or not places:
            return
        plain = t.array(replace(s.array, staged=""))
        memory, view = t.unique("staged"), t.unique(s.array.staged)
        self.line(f"EV_SHARED({kind}, {memory}, {places} * team.per_block);")
        own = f"{memory} + {places} * team.local()"
        over = f"{t.expr(s.first)}, {t.expr(s.last)}"
        near = "team.near" if self.several else "team"  # who has the shared memory
        self.line(
            f"const {self.staged_type(s.array)} {view}({own}, {pointer(plain)}, {over}, {near});"
        )
        t.staged[s.array] = view

    def most_staged(self, array: ir.Array) -> int:
        """Return how many elements of an array a group may stage."""
        return self.staging // array.dtype.dtype.itemsize

    def staged_type(self, array: ir.Array) -> str:
        return f"ev::staged<{ctype(array.dtype)}, {self.most_staged(array)}, pos>"

    def loop(self, s: ir.For) -> None:
        """Write a loop that all members run. They lie along lanes around passes.

        In kernels with scratch arrays they share other lanes, too, which may be many.
        """
        outside = self.declared - {v for a in reduced(s) for v in a.fields}
        if self.inside is not None and id(s) in self.inside.along:
            self.inside.along[id(s)].write()
            return
        if not self.in_pass and may_spread(self, s, outside):
            spread(self, s)
            return
        if self.leads() and self.shares.arrays and may_share(s, outside, set(self.grid_names)):
            share(self, s)
        else:
            super().loop(s)

    def walk(self, s: ir.Pass) -> None:
        """Write the walk over each member's share of the atoms, then the reduction over the members."""
        assert self.tile is not None
        self.identities((*s.accumulators, *(running(s) if self.size == 1 else ())))
        along = self.dense is not None and may_lie_inside(s, self.text.contended)
        inside = Inside(self, s) if along else None
        if inside is not None:
            self.walk_inside(inside)
        elif s.of is None:
            self.walk_atoms(s)
        else:
            assert self.over_tiles is not None
            self.over_tiles(s)
        if self.size == 1:
            self.pin(s)
            return
        if inside is None:
            self.reduce(s)
        else:
            inside.reduce(s)
        # The code that follows, or the next pass, may read what members have stored in this one.
        stores = bool(self.shared) and any(
            isinstance(x, ir.Store | ir.Atomic) for x in walk.statements(s.body)
        )
        if stores or self._leaves(s) or not (s.accumulators or self.one_pass):
            self.line("team.sync();")

    def _leaves(self, s: ir.Pass) -> bool:
        """Whether a warp walks an item's tiles and touches what others may store next. Shuffles order nothing."""
        return (
            s.of is not None
            and self.size <= WARP
            and bool(self.shared & walk.arrays_touched(s.body))
        )

    def walk_inside(self, inside: Inside) -> None:
        """Write the walk over atoms that several members have each."""
        self.dealt = inside.dealt
        inside.begin()
        with self.compound(f"if ({self.walks})" if self.walks else ""):
            inside.write()

    def walk_atoms(self, s: ir.Pass) -> None:
        """Write the walk over each member's share of the atoms."""
        assert self.tile is not None
        self.kept.declare(s)
        body, results = walk.substitute(self.atoms, (self.tile,))
        conditions = [self.walks] if self.walks else []
        conditions += ["live"] if self.converged else []
        together = self.size > 1 and has_scans(s.body)
        if self.size > WARP and self.size % WARP and not together:
            conditions.append("team.active()")
        with self.compound(f"if ({' && '.join(conditions)})" if conditions else ""):
            if results:
                self.block(body)
                self.atom_loop(s, results)
            else:
                self.generate(body, lambda over: self.given_atoms(s, over))

    def atom_loop(self, s: ir.Pass, over: tuple[ir.Expr, ...], alone: bool = True) -> None:
        """Write the loop over a range of atoms. alone: whether the tile has no other range."""
        t, (start, stop, step) = self.text, over
        t.names.pop(s.atom, None)
        name = t.var(s.atom)
        self.declared.add(s.atom)
        if not isinstance(stop, ir.Var | ir.Const):
            end = t.unique(f"{name}_end")
            self.line(f"const pos {end} = {t.expr(stop)};")
        else:
            end = t.expr(stop)
        self.in_pass = True
        upward = self.upward or (isinstance(step, ir.Const) and step.value > 0)
        self.ascends = upward and alone
        together = self.size > 1 and has_scans(s.body)  # threads that exchange values, atom by atom
        kept = alone and upward and not together and bool(self.kept.of(s))
        begin = start.left if self.run > 1 and isinstance(start, ir.Binary) else start
        given = Range(t.expr(begin), t.expr(start), end, t.expr(step))
        with self.kept.walk(s, given) if kept else nullcontext():
            self.atoms_in_order(s, over, end, upward)
        self.in_pass = self.ascends = False

    def atoms_in_order(self, s: ir.Pass, over: tuple[ir.Expr, ...], end: str, upward: bool) -> None:
        """Write the loop over a range of atoms, whose end has this name."""
        t, (start, _, step), name = self.text, over, self.text.var(s.atom)
        if self.size > 1 and has_scans(s.body):
            assert isinstance(start, ir.Binary)  # of `strided`: the tile's first atom, and the rank
            walk_together(self, s, t.expr(start.left), end, t.expr(step))
        elif self.items > 1 and upward and only_accumulates(s):
            self.batches(s, start, end, step)
        else:
            head = range_head("pos", name, t.expr(start), end, t.expr(step), step, self.upward)
            with self.compound(head):
                self.block(s.body)

    def given_atoms(self, s: ir.Pass, over: Over) -> None:
        """Write the loop over what a generator method gives: with a constant step, batches as for a single range."""
        if len(over) == 3 and isinstance(over[2], ir.Const):
            start, stop = (ir.Var(n, POS) for n in ("start", "stop"))
            for v, e in zip((start, stop), over, strict=False):
                self.assign(v, position(self.text, e))
            self.atom_loop(s, (start, stop, over[2]), alone=False)
            return
        self.text.names.pop(s.atom, None)
        self.declared.add(s.atom)
        self.in_pass = True
        with given_loop(self, self.text.var(s.atom), over):
            self.block(s.body)
        self.in_pass = False

    def pin(self, s: ir.Pass) -> None:
        """Keep the compiler from moving code that follows the loop before its end.

        With a bound on registers it may do so, which is faster for short tiles.
        """
        for v in fields_of(s.accumulators) if not self.short else ():
            if not v.length:
                self.line(f"ev::pin({self.text.var(v)});")

    def batches(self, s: ir.Pass, start: ir.Expr, end: str, step: ir.Expr) -> None:
        """Write the walk over atoms, `items` of them at a time, each of which contributes to a value of its own.

        Their loads do not wait for each other, since each is only predicated. (A loop that the compiler unrolls would
        walk the remaining atoms one by one.) Then the values are combined in order.
        """
        over = self.text.expr(start), end, self.text.expr(step)
        self.short |= self.size > WARP or widest(s) == 8
        self.heavy |= len(fields_of(s.accumulators)) * self.items > IN_FLIGHT or widest(s) > 8
        given = self, self.text.var(s.atom), self.items
        elements = contiguous_reads(s, self.text.written) if self.run > 1 else []
        if elements:
            # Eight elements of each array are loaded before the first of them is used.
            self.short |= self.run == 8
            assert isinstance(start, ir.Binary)  # of `strided`: the tile's first atom, and the rank
            runs = SideBySide(elements, self.run, self.text.expr(start.left), *given, over)
            self.batch(s, runs)
            over = runs.left
        self.batch(s, Strided(*given, over))

    def batch(self, s: ir.Pass, asked: Strided) -> None:
        t, fields, name = self.text, fields_of(s.accumulators), asked.name
        first, parts, item = t.unique(f"{name}_first"), t.unique("parts"), t.unique("item")
        part = {v: f"{parts}[{item}].{m}" for v, m in members(fields).items()}
        start = identity(t, s.accumulators)
        self.line("#pragma unroll 1")
        each = f"{first} < {asked.end}; {first} += {self.items} * {asked.width}"
        with self.compound(f"for (pos {first} = {asked.start}; {each})"):
            asked.load(first)
            self.line(f"{self.struct_of(s)} {parts}[{self.items}];")
            with self.each_of_a_batch(item):
                self.line(f"{parts}[{item}] = {{{start}}};")
                self.line(f"const pos {name} = {first} + {asked.apart(item)};")
                names = {v: t.var(v) for v in fields}
                t.names.update(part)
                t.loaded = asked.loaded(item)
                self.fresh = contributed_once(s)
                with self.compound(f"if ({asked.inside})"):
                    self.block(s.body)
                self.fresh = frozenset()
                t.names.update(names)
                t.loaded = {}
            with self.each_of_a_batch(item):
                for acc in s.accumulators:
                    values = tuple(ir.Var(v.name, v.type) for v in acc.fields)
                    t.names.update({x: part[v] for x, v in zip(values, acc.fields, strict=True)})
                    self.declared.update(values)
                    self.combine(acc, acc.fields, values)

    def each_of_a_batch(self, item: str) -> AbstractContextManager[None]:
        self.line("#pragma unroll")
        return self.compound(f"for (int {item} = 0; {item} < {self.items}; ++{item})")

    def min_blocks(self, block: int) -> int:
        """Return the number of blocks that a multiprocessor must be able to hold; 0: the compiler decides."""
        if self.heavy or not (self.short or self.resident):
            return 0
        return (self.resident or RESIDENT) // block

    def struct_of(self, s: ir.Pass) -> str:
        """Return the name of the struct of a pass's accumulators."""
        if id(s) not in self.made:
            numbers, _ = parted(s)
            self.made[id(s)] = self.struct("tile_value", numbers)
        return self.made[id(s)]

    def struct(self, name: str, accumulators: tuple[ir.Accumulator, ...]) -> str:
        """Emit a struct of accumulators, and return its name."""
        made = self.text.unique(name)
        if self.several:
            self.several.reduces(accumulators)
        self.structs += value_struct(self.text, made, accumulators)
        return made

    def reduce(self, s: ir.Pass) -> None:
        """Write the reduction over the members. The elements of local arrays are reduced one after the other."""
        numbers, arrays = parted(s)
        if numbers:
            self.reduce_numbers(s, numbers)
        for acc in arrays:
            self.reduce_array(acc)

    def reduce_array(self, acc: ir.Accumulator) -> None:
        (array,) = acc.fields
        element = replace(acc, fields=(ir.Var("element", array.type),))
        (member,) = members(element.fields).values()
        struct, i = self.struct("element_value", (element,)), self.text.unique("element")
        item = f"{self.text.var(array)}[{i}]"
        with self.compound(f"for (int {i} = 0; {i} < {array.length}; ++{i})"):
            self.simple(f"{item} = team.reduce({struct}{{{item}}}).{member}")

    def reduce_numbers(self, s: ir.Pass, numbers: tuple[ir.Accumulator, ...]) -> None:
        named, struct = members(fields_of(numbers)), self.struct_of(s)
        names = [self.text.var(v) for v in named]
        result = self.text.unique("whole")
        method = "reduce_to_leader" if self.one_pass else "reduce"
        self.line(f"const {struct} {result} = team.{method}({struct}{{{', '.join(names)}}});")
        for m, name in zip(named.values(), names, strict=True):
            self.line(f"{name} = {result}.{m};")


def stages_in(body: ir.Block) -> int:
    """Return how many arrays a block of code stages."""
    return sum(isinstance(s, ir.Stage) for s in walk.statements(body))


def parted(s: ir.Pass) -> tuple[tuple[ir.Accumulator, ...], tuple[ir.Accumulator, ...]]:
    """Return a pass's accumulators of numbers, and those of local arrays."""
    numbers = tuple(a for a in s.accumulators if not a.fields[0].length)
    return numbers, tuple(a for a in s.accumulators if a.fields[0].length)


def widest(s: ir.Pass) -> int:
    """Return the bytes of the widest number that a pass reads."""
    read = [e.array.dtype for e in walk.expressions(s.body) if isinstance(e, ir.Element)]
    return max((t.dtype.itemsize for t in read if t != POS), default=0)


def strided(layout: ir.LayoutCode, size: int, width: ir.Expr) -> ir.Inline:
    """Return the atoms of a tile that one member of a team takes: every `width`-th, starting at its rank."""
    atoms = whole_tile(layout, width)
    begin, *rest = atoms.results
    start = begin if size == 1 else ir.Binary("+", begin, RANK, POS)
    return replace(atoms, results=(start, *rest))


def _asks(s: ir.Stmt) -> bool:
    """Whether an atomic inside of the statement, outside of passes, returns a value."""
    inner = () if isinstance(s, ir.Pass) else walk.blocks(s)
    return any(
        isinstance(x, ir.Atomic) and x.result is not None
        for block in inner
        for x in walk.statements(block)
    )
