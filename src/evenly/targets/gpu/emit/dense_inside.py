"""Loops over lanes inside passes, along which the threads of a team lie (device/dense.cuh).

So an atom has several threads. They reduce what the loop accumulates, so that each of them has the result, and compute
the same from there on. The first of them has the effects of their atom.

They take several atoms at once, statement by statement, so that loads for one do not wait for what is done with
another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from evenly.gpus.gpu import REGISTER
from evenly.gpus.numbers import numbers
from evenly.language import ir, walk
from evenly.language.accesses import always
from evenly.language.dense import along_lanes
from evenly.language.schedule_code import whole_tile

from .ahead import Ahead
from .along import Along
from .columns import STEP, few_at_once
from .expressions import ctype
from .known import Words
from .shared_lanes import reduced
from .statements import fields_of, members

if TYPE_CHECKING:
    from .owner import Owner


MOST_AT_ONCE = 40  # columns of a thread, of all its atoms
MOST_AGAIN = 20  # the same in a further round
# The threads that a multiprocessor should hold, if what each has loaded takes so many registers at most.
FITS = ((36, 1024), (56, 768))
FITS_MOVED = ((18, 1024), (56, 768))  # where nothing is reduced: each number is stored, too


def at_once(writer: Owner, s: ir.Pass) -> int:
    """Return how many atoms the threads may take at once: 1 if the order of an atom's statements counts."""
    assert writer.dense is not None
    local = walk.variables_set(s.body) | {s.atom}
    loops = [x for x in s.body if isinstance(x, ir.For)]
    added = [
        a
        for x in s.body
        for a in {y.accumulator for y in walk.statements((x,)) if isinstance(y, ir.Accumulate)}
    ]
    alike = all(walk.variables((x.stop,)).isdisjoint(local) for x in loops)
    sizes = (e.array.dtype.dtype.itemsize for x in loops for e in along_lanes(x))
    once = all(sum(a is b for b in added) == 1 for a in added)
    moved = numbers()["dense"]["moved"] // max(REGISTER, *sizes, 0)
    columns = MOST_AT_ONCE if any(map(reduced, loops)) else moved
    most = max(columns // writer.dense.vector, 1)
    few = writer.items if writer.items <= most else 1 << most.bit_length() - 1
    return min(writer.items, few) if alike and once else 1


class Inside:
    """Writes the walk over the atoms of such a pass."""

    def __init__(self, writer: Owner, s: ir.Pass) -> None:
        self.writer, self.text, self.pass_ = writer, writer.text, s
        unique = self.text.unique
        self.axis, self.item, self.own = unique("axis"), unique("item"), unique("own")
        self.first, self.end, self.at_once = unique("first"), unique("end"), at_once(writer, s)
        self.most = unique("most")  # atoms of a thread at once, in the code
        self.ahead = Ahead(self)
        self.one_atom = False  # whether the code of one atom is being written
        # Whether each effect in the code that is written has to ask whether the tile has its atom.
        self.effects_apart = False
        self.along = {
            id(x): Along(self, x) for x in s.body if isinstance(x, ir.For) and x.kind == "lanes"
        }
        self.dealt = self.is_dealt()

    def is_dealt(self) -> bool:
        """Whether each of some lanes goes on with an atom of its own: nothing is accumulated over the atoms."""
        last, after = self.last()
        return bool(reduced(last.loop) and not self.pass_.accumulators and after)

    def last(self) -> tuple[Along, ir.Block]:
        """Return the last loop over lanes, and the code after it."""
        at = max(i for i, x in enumerate(self.pass_.body) if id(x) in self.along)
        return self.along[id(self.pass_.body[at])], self.pass_.body[at + 1 :]

    @property
    def singles(self) -> int:
        """How many atoms are taken at once if columns are no words."""
        return self.at_once // 2

    @property
    def batches(self) -> str:
        """The parameters of the walk in batches."""
        return self.most

    def width(self) -> int:
        """Return how many columns may be one word, of all loops."""
        return min(x.width() for x in self.along.values())

    def begin(self) -> None:
        assert self.writer.dense is not None
        self.writer.line(f"const auto {self.axis} = {self.writer.dense.along};")

    def write(self) -> None:
        writer, text = self.writer, self.text
        assert writer.dense is not None
        loops, run = list(self.along.values()), text.unique("spread")
        width = self.width()
        arrays = dict.fromkeys(a for x in loops for a in x.words_in())
        for x in loops:
            x.count_beforehand()
        with writer.compound(f"const auto {run} = [&](auto width, auto rounds)"):
            loops[0].rows(arrays)
            self.atoms()
            text.rows.clear()
        writer.lines[-1] += ";"
        self.choose(
            run,
            width,
            loops[0].fit(width, arrays, *dict.fromkeys(x.count for x in loops if x.known)),
            arrays,
        )
        held = max(x.held(self.at_once) for x in loops)
        self.hold(held, FITS if any(reduced(x.loop) for x in loops) else FITS_MOVED)

    def hold(self, held: int, fits: tuple[tuple[int, int], ...], fewest: int = 0) -> None:
        """Bound the registers of a thread, which has loaded so many at a time."""
        dense = self.writer.dense
        assert dense is not None
        held += dense.beside
        if dense.owned or self.width() > 1:
            self.writer.hold(next((n for most, n in fits if held <= most), fewest))

    def asked_for_one_round(self, condition: str, width: int, arrays: Iterable[ir.Array]) -> str:
        """Return when a team takes axes in one round, of words: under this condition, if the host cannot tell."""
        dense = self.writer.dense
        assert dense is not None
        lengths = tuple(x.loop.stop for x in self.along.values())
        fact = Words(width, tuple(arrays), lengths, dense.lanes * dense.vector)
        return self.writer.facts.asked(condition, fact, f"{self.axis}.lanes == {dense.lanes}")

    def choose(self, run: str, width: int, fits: str, arrays: Iterable[ir.Array]) -> None:
        """Write the calls: for words, if rows consist of them, and for axes that the team takes in one round."""
        line, loops = self.writer.line, list(self.along.values())
        counts = [x.count for x in loops] if all(x.known for x in loops) else []
        one = " && ".join(f"{self.axis}.in_one_round({count})" for count in counts)

        def call(condition: str, width: str, rounds: int) -> None:
            line(f"if ({condition}) {run}({width}(), ev::constant<{rounds}>());")
            line("else")

        def call_filled(width: int) -> None:
            lengths = tuple(x.loop.stop for x in loops)
            told = self.width() > 1
            fills = loops[0].asked_to_fill(width, arrays, counts, lengths, once=True, told=told)
            call(fills, loops[0].filled(width, arrays), 1)

        if width > 1:
            words = f"ev::constant<{width}>"
            if counts and loops[0].dense.vector > width:
                call_filled(width)
            if counts:
                call(self.asked_for_one_round(f"{fits} && {one}", width, arrays), words, 1)
            lengths = tuple(x.loop.stop for x in loops if x.known)
            fact = Words(width, tuple(arrays), lengths)
            call(self.writer.facts.asked(fits, fact), words, 2)
        if counts and arrays and loops[0].some_apart:
            call_filled(1)
        line(f"{run}(ev::constant<1>(), ev::constant<2>());")

    def atoms(self) -> None:
        writer, text, s = self.writer, self.text, self.pass_
        assert writer.tile is not None and writer.dense is not None
        code = whole_tile(writer.dense.layout, STEP)
        body, (begin, end, _) = walk.substitute(code, (writer.tile,))
        text.names.pop(s.atom, None)
        writer.declared.add(s.atom)
        writer.line(f"pos {self.first} = 0, {self.end} = 0;")
        with writer.compound("if (live)" if writer.converged else ""):
            writer.block(body)
            writer.line(f"{self.first} = {text.expr(begin)}, {self.end} = {text.expr(end)};")
            if writer.clips:
                writer.line(f"{writer.clips}.clip({self.first}, {self.end});")
        batch = text.unique("batch")
        writer.in_pass, writer.inside = True, self
        items = f"{self.at_once}"
        if self.at_once > 1:
            # Rows of X that are loaded again take registers, and singles have places of their own.
            if self.at_once * writer.dense.vector > MOST_AGAIN:
                items = f"rounds.value > 1 ? {self.at_once // 2} : {items}"
            loops = self.along.values()
            lengths = tuple(x.loop.stop for x in loops if x.known)
            few = few_at_once(self.width(), (a for x in loops for a in x.words_in()), lengths)
            items = f"{few} ? {self.singles} : {items}"
        writer.line(f"constexpr int {self.most} = {items};")
        for x in self.along.values():
            x.load_beforehand()
        self.ahead.begin()
        alone = self.at_once == 1
        with (
            writer.compound(f"const auto {batch} = [&](auto items)"),
            self.each_atom() if alone else nullcontext(),
        ):
            self.batch()
        writer.lines[-1] += ";"
        writer.in_pass, writer.inside = False, None
        given = f"{self.first}, {self.end}, {batch}"
        writer.line(f"{self.axis}.template in_batches<{self.batches}>({given});")

    def some(self) -> AbstractContextManager[None]:
        """Open code that teams without atoms leave out, though they run the batch with others of their warp."""
        if not self.writer.converged:
            return nullcontext()
        return self.writer.compound(f"if ({self.axis}.takes(items, {self.first}, {self.end}))")

    def batch(self) -> None:
        """Write the code of some atoms, each of its statements for all of them."""
        writer, text, s = self.writer, self.text, self.pass_
        before, after = self.halves()
        own = walk.variables_set(before) - set(fields_of(s.accumulators)) - self.of_loops()
        for v in sorted(own & self.between(), key=lambda v: v.name):
            name = text.unique(text.var(v))
            writer.line(f"{ctype(v.type)} {name}[items.value] = {{}};")
            text.names[v] = f"{name}[{self.item}]"
            writer.declared.add(v)
        text.loaded = self.ahead.loads()
        own_loads = self.own_loads(after) if self.dealt else {}
        for x in before:
            if id(x) in self.along:
                self.along[id(x)].write()
            else:
                self.plain(x)
        if self.dealt:
            with self.dealt_out(after, own_loads), self.each_own():
                writer.block(after)
        text.loaded = {}

    def plain(self, x: ir.Stmt) -> None:
        """Write a statement for each atom. Beyond the end of the tile, it has no effect.

        But it sets what others read there, too: it may be where they read.
        """
        effects = any(isinstance(y, ir.Store | ir.Accumulate) for y in walk.statements((x,)))
        made = walk.variables_set((x,)) - set(fields_of(self.pass_.accumulators))
        self.effects_apart = effects and not made.isdisjoint(self.between())
        whole = effects and not self.effects_apart
        inside = self.writer.compound(f"if ({self.is_in()})") if whole else nullcontext()
        with self.some(), self.each_atom(), inside:
            self.writer.block((x,))
        self.effects_apart = False

    def leads(self) -> str:
        """Return the condition under which a thread stores for its atom."""
        first = f"{self.axis}.lane() == 0"
        return f"{first} && {self.is_in()}" if self.effects_apart else first

    def adds(self) -> AbstractContextManager[None]:
        """Open a contribution to what is accumulated over the atoms."""
        return self.writer.compound(f"if ({self.is_in()})") if self.effects_apart else nullcontext()

    def is_in(self) -> str:
        """Return the condition under which the tile has an atom of a batch."""
        return f"{self.axis}.is_in(items, {self.place(self.item)}, {self.end})"

    def place(self, item: str) -> str:
        return f"{self.axis}.place({self.first}, {item})"

    # ---- what each lane does with atoms of its own ---------------------------------------------------
    def own_loads(self, after: ir.Block) -> dict[ir.Element, str]:
        """Write loads of what the code `after` the loop reads at an atom's own place: they do not wait for the loop."""
        writer, own = self.writer, self.own
        writer.line(f"const auto {own} = {self.axis}.template own<items.value>();")
        found = self.at_atoms([o for x in after for o in walk.operands(x)])
        for e, name in found.items():
            writer.line(f"{self.text.machine(e.type)} {name}[{own}.most];")
        if found:
            with self.some(), self.each_own():
                for e, name in found.items():
                    writer.line(f"{name}[{self.item}] = {self.text.expr(e)};")
        return {e: f"{name}[{self.item}]" for e, name in found.items()}

    @contextmanager
    def each_own(self) -> Iterator[None]:
        """Open an unrolled loop over the atoms of a batch that a lane has after its lanes have reduced."""
        item, own, k = self.item, self.own, self.text.var(self.pass_.atom)
        self.writer.line("#pragma unroll")
        with self.writer.compound(f"for (int {item} = 0; {item} < {own}.most; ++{item})"):
            self.writer.line(f"const pos {k} = {self.place(f'{own}.first + {item}')};")
            inside = f"{own}.has({item}) && {self.axis}.is_in(items, {k}, {self.end})"
            with self.writer.compound(f"if ({inside})"):
                yield

    def deals(self, loop: Along) -> bool:
        """Whether each of some lanes goes on with an atom of its own after this loop."""
        return self.dealt and loop is self.last()[0]

    @contextmanager
    def dealt_out(self, block: ir.Block, loaded: dict[ir.Element, str]) -> Iterator[None]:
        """Write the reduction over the lanes, and name what `block` reads as the lanes then have it, each its atoms."""
        writer, text = self.writer, self.text
        loop, _ = self.last()
        whole, named = loop.values()
        writer.line(f"{self.axis}.deal({whole});")
        names, others, read = dict(text.names), text.loaded, walk.variables_read(block)
        for v, name in named.items():
            text.names[v] = name
        for v in sorted(read - set(named), key=lambda v: v.name):
            array = f"[{self.item}]"
            if text.names.get(v, "").endswith(array):
                picked = text.names[v].removesuffix(array)
                text.names[v] = f"ev::picked({picked}, {self.own}.first + {self.item})"
        text.loaded, writer.inside = loaded, None
        yield
        writer.inside, text.loaded = self, others
        text.names.clear()
        text.names.update(names)

    def of_loops(self) -> set[ir.Var]:
        """Return the variables that only the code of single lanes has."""
        found = {v for x in self.along.values() for v in walk.variables_set(x.loop.body)}
        return found - {v for x in self.along.values() for a in reduced(x.loop) for v in a.fields}

    def between(self) -> set[ir.Var]:
        """Return the variables that two statements of an atom have in common."""
        seen = [walk.variables_set((x,)) | walk.variables_read((x,)) for x in self.pass_.body]
        return {v for vs in seen for v in vs if sum(v in others for others in seen) > 1}

    def at_atoms(self, operands: Iterable[ir.Expr]) -> dict[ir.Element, str]:
        """Return what these expressions always read at an atom's own place, with names for it."""
        text = self.text
        read = (e for o in operands for e in always(o))
        return {
            e: text.unique(f"own_{text.array(e.array)}")
            for e in dict.fromkeys(read)
            if isinstance(e, ir.Element)
            and e.indices == (self.pass_.atom,)
            and e not in text.loaded
            and e.array.path not in text.written
            and e.array.path not in text.contended
        }

    def halves(self) -> tuple[ir.Block, ir.Block]:
        """Return the code that all lanes of an atom run, and what each of some lanes runs for atoms of its own."""
        body, after = self.pass_.body, self.last()[1] if self.dealt else ()
        return body[: len(body) - len(after)], after

    @contextmanager
    def each_atom(self) -> Iterator[None]:
        """Open an unrolled loop over the atoms of a batch, outside of such a loop."""
        if self.one_atom:
            yield
            return
        line, k = self.writer.line, self.text.var(self.pass_.atom)
        line("#pragma unroll")
        with self.writer.compound(
            f"for (int {self.item} = 0; {self.item} < items.value; ++{self.item})"
        ):
            line(f"const pos {k} = {self.axis}.atom(items, {self.place(self.item)}, {self.end});")
            self.one_atom = True
            yield
            self.one_atom = False

    def reduce(self, s: ir.Pass) -> None:
        """Write the reduction of the pass's accumulators, of which all threads of an atom have the same."""
        writer, text = self.writer, self.writer.text
        if not s.accumulators:
            return
        named, struct = members(fields_of(s.accumulators)), writer.struct_of(s)
        whole = text.unique("whole")
        values = ", ".join(text.var(v) for v in named)
        method = "fold" if writer.one_pass else "fold_for_all"
        writer.line(f"const {struct} {whole} = {self.axis}.{method}({struct}{{{values}}});")
        for v, m in named.items():
            writer.line(f"{text.var(v)} = {whole}.{m};")
