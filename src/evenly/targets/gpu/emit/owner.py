"""Emit the code for a whole tile that a thread or a group owns: its passes, and what is around them (led.py)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

from evenly.gpus.gpu import WARP
from evenly.language import ir, walk
from evenly.language.accesses import only_accumulates
from evenly.language.beforehand import known_beforehand
from evenly.language.dense import has_lanes_inside
from evenly.language.scans import has_scans, running
from evenly.language.schedule_code import whole_tile
from evenly.language.types import POS
from evenly.targets.printing.statements import Over

from .batches import batches
from .contended import overtakes
from .dense import Dense, may_lie_inside, may_spread
from .dense_inside import Inside
from .expressions import Text, ctype
from .held import read_first, walk_read_first
from .kept import Kept, Range
from .known import Facts
from .led import RANK, Led, has_arrays
from .parameters import pointer
from .running import walk_together
from .scratch import Shares
from .several import Several
from .shared_lanes import may_share, reduced, share
from .spread import spread
from .statements import fields_of, given_loop, members, position, range_head, value_struct

# Threads of a multiprocessor. By itself, ptxas keeps to 32 registers, which allows 2,048 threads, and issues loads one
# after another that could be in flight together. With a bound of half as many threads it takes the registers that it
# needs, up to 64. That is enough for batches of some numbers (`batches.IN_FLIGHT`). If there were more, or wider ones,
# some would spill.
RESIDENT = 1024
AT_ONCE = 8  # items of an array that are reduced together


class Owner(Led):
    """Writes the code for a whole tile, which a thread or all members of a group run.

    atoms: the schedule's range of a tile's atoms; the range of `strided`, if `run` is more than 1.
    items: how many of its atoms a thread loads at once. run: how many of these are contiguous.
    staging: the bytes of shared memory in which a group may stage each array.
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
        staging: int = 0,
        dense: Dense | None = None,
    ) -> None:
        super().__init__(text, size, body, grid)
        self.items, self.run, self.atoms = items, run, atoms
        self.staging, self.dense = staging, dense
        self.kept = Kept(self, body)
        self.shares = Shares()
        # While code for an atom is written that several threads run; whether they go on with atoms of their own.
        self.inside: Inside | None = None
        self.dealt = False
        self.walks = ""  # the condition under which atoms are walked, if an engine has one
        self.clips = (
            ""  # what says which of a tile's atoms a team has, if it shares tiles with others
        )
        # Whether the step between atoms is positive though it is no constant, as an engine may promise.
        self.upward = False
        self.tile: ir.Var | None = None
        # Writes the walk over an item's tiles.
        self.over_tiles: Callable[[ir.Pass], None] | None = None
        # The teams of several blocks, if a tile may belong to one.
        self.several: Several | None = None
        self.structs: list[str] = []
        self.made: dict[int, str] = {}  # the names of the structs, by the id of the pass
        # Registers do not suffice: `short`: if ptxas decides how many; `heavy`: even with a bound on threads.
        # resident: the threads that a multiprocessor should hold, if not RESIDENT; 0: nobody says.
        self.short, self.heavy, self.resident = False, False, 0
        # The same for code that is compiled for what the host knows; the facts.
        self.resident_known, self.facts = 0, Facts()
        in_warp = 1 < size <= WARP and WARP % size == 0
        self.converged = plain_tiles and in_warp and self._alike()

    def _alike(self) -> bool:
        """Whether all groups of a warp can walk their tiles together: no group skips or repeats a pass."""
        body = self.body
        passes = [s for s in walk.statements(body) if isinstance(s, ir.Pass)]
        # Groups without a tile compute on another group's tile, so they must not read what that group stores.
        # They walk no atoms, so they have no results.
        # Members that scan wait for each other after every `size` atoms of their own tile.
        # Under a condition, the members of one team alone would wait for what their leader's atomic returns.
        alone = (
            self.shared
            or has_arrays(body)
            or self.whole
            or stages_in(body)
            or any(s.of is not None for s in passes)
            or has_scans(body)
            or (not self.one_pass and any(map(_asks, body)))
        )
        on_top = sum(isinstance(s, ir.Pass) for s in body)
        if self.dense is not None:  # lanes around a pass and inside of it meet in every batch
            on_top += sum(map(self._has_both, body))
        return len(passes) == on_top > 0 and not alone

    def _has_both(self, s: ir.Stmt) -> bool:
        """Whether all teams of a warp walk the atoms of a loop's pass together: it has as many lanes for all tiles."""
        if not (isinstance(s, ir.For) and s.kind == "lanes" and known_beforehand(s.stop)):
            return False
        return may_spread(self, s, frozenset()) and has_lanes_inside(s)

    def begin_scratch(self, s: ir.Scratch) -> None:
        self.line(self.shares.begin(self.text, s))

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

    def store(self, s: ir.Store) -> None:
        if self.inside is not None and id(s) not in self.stored:
            self.line(f"if ({self.inside.leads()}) {self.store_text(s)}")
        else:
            super().store(s)

    def accumulate(self, acc: ir.Accumulator, values: tuple[ir.Expr, ...]) -> None:
        with self.inside.adds() if self.inside is not None else nullcontext():
            super().accumulate(acc, values)

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
        if self.size > 1 and overtakes(s, self.body):
            self.line("team.sync();")  # all members have read what some of them are about to store
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
            batches(self, s, start, end, step)
        elif self.size > 1 and self.items > 1 and upward and (body := self.read_first(s)):
            walk_read_first(self, s, body, (t.expr(start), end, t.expr(step)))
        else:
            head = range_head("pos", name, t.expr(start), end, t.expr(step), step, self.upward)
            with self.compound(head):
                self.block(s.body)

    def read_first(self, s: ir.Pass) -> ir.Block | None:
        contended = self.text.contended & {a.path for a in walk.arrays_touched(s.body)}
        plain = not (self.inside or self.kept.of(s) or contended)
        return read_first(s, self.text.written) if plain else None

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

    def min_blocks(self, block: int) -> int:
        """Return the number of blocks that a multiprocessor must be able to hold; 0: the compiler decides."""
        if self.heavy or not (self.short or self.resident):
            return 0
        return (self.resident or RESIDENT) // block

    def hold(self, threads: int) -> None:
        """Bound a thread's registers, so that a multiprocessor holds so many threads. 0: do not.

        An engine that hands out tiles has the code of one for several teams, so it bounds what is compiled for words
        alone.
        """
        assert self.dense is not None
        if threads and self.dense.owned:
            self.resident = min(self.resident or threads, threads)
        elif threads:
            self.resident_known = min(self.resident_known or threads, threads)

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
        together = min(array.length, AT_ONCE)
        if self.several:
            self.several.reduces((element,) * together)
        made = self.struct("element_value", (element,))
        self.line(f"ev::reduce_items<{made}, {together}>(team, {self.text.var(array)});")

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
