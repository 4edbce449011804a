"""The columns of a dense axis that a thread has: what the writers of loops over lanes share (device/dense.cuh)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenly.gpus.gpu import WORD
from evenly.language import ir, walk
from evenly.language.dense import side_by_side
from evenly.language.types import POS

from .expressions import ctype
from .known import Words, answered

if TYPE_CHECKING:
    from .owner import Owner

STEP = ir.Var("step", POS)  # from one atom of a thread to its next
BANKS = 32 * 4  # bytes of L1 that a warp loads at a time


class Columns:
    """What the writers of such loops share. axis: the name of the team along the axis."""

    def __init__(self, writer: Owner, loop: ir.For, axis: str = "") -> None:
        assert writer.dense is not None
        self.writer, self.text, self.loop, self.dense = writer, writer.text, loop, writer.dense
        # What differs from column to column: an atom of a pass is one for all of them.
        atoms = {s.atom for s in loop.body if isinstance(s, ir.Pass)}
        self.varying = (walk.variables_set(loop.body) | {loop.var}) - atoms
        name, unique = self.text.var(loop.var), self.text.unique
        self.axis, self.count = axis or unique("axis"), unique(f"{name}_count")
        self.first, self.column, self.c = unique(f"{name}_first"), unique(name), unique("c")

    def stop(self) -> str:
        return self.text.expr(ir.Cast(self.loop.stop, POS))

    def choose(self, body: str, width: int, arrays: Iterable[ir.Array], *counts: str) -> None:
        """Write the call of the code for words of so many columns, if all rows consist of them, and for single ones.

        counts: the lengths of axes, which have to consist of them, too: they may be shorter than the rows.
        """
        line, arrays = self.writer.line, list(arrays)
        # With more axes there is more code, of fewer kinds.
        fills = len(counts) == 1 and bool(arrays)
        if width > 1 and fills and self.dense.vector > width:
            self.call_filled(body, width, arrays, counts)
        if width > 1:
            fits = self.writer.facts.asked(
                self.fit(width, arrays, *counts), Words(width, tuple(arrays), self.lengths())
            )
            line(f"if ({fits}) {body}(ev::constant<{width}>());")
            line("else")
        if fills and self.some_apart:
            self.call_filled(body, 1, arrays, counts)
        line(f"{body}(ev::constant<1>());")

    def call_filled(
        self, body: str, width: int, arrays: list[ir.Array], counts: Iterable[str]
    ) -> None:
        fills = self.asked_to_fill(width, arrays, counts, self.lengths(), once=False)
        self.writer.line(f"if ({fills}) {body}({self.filled(width, arrays)}());")
        self.writer.line("else")

    def lengths(self) -> tuple[ir.Expr, ...]:
        """Return the lengths of axes that have to consist of words."""
        return (self.loop.stop,)

    @property
    def some_apart(self) -> bool:
        """Whether a thread may have several columns that are no words, and so an address for each."""
        return self.dense.vector > 1

    def at_once(self, items: int) -> str:
        """Return how many atoms are loaded at once: half as many if columns take more loads or registers."""
        few = few_at_once(self.width(), self.words_in(), self.lengths())
        return f"{few} ? {items // 2} : {items}" if items > 1 and self.some_apart else f"{items}"

    def fit(self, width: int, arrays: Iterable[ir.Array], *counts: str) -> str:
        """Return the condition under which rows and axes consist of words of so many columns, and rows are short."""
        text = self.text
        of_size: dict[int, list[ir.Array]] = {}
        for array in arrays:
            of_size.setdefault(_size(array), []).append(array)
        tests, lengths = [], list(counts)
        for size, these in of_size.items():
            lengths += [text.extent(a, a.ndim - 1) for a in these]
            tests.append(f"ev::whole_words<{width}, {size}>({' | '.join(lengths)})")
            tests += [f"ev::aligned<{width}>({text.array(a)}.data)" for a in these if width > 1]
            lengths = []
        return " && ".join(tests)

    def filled(self, width: int, arrays: Iterable[ir.Array]) -> str:
        """Return the kind of words at constant distances, in runs that leave room for other rows of a warp."""
        return f"ev::filled<{width}, {self.run(width, arrays)[0]}>"

    def run(self, width: int, arrays: Iterable[ir.Array]) -> tuple[int, int]:
        """Return the columns of a thread's runs and of its last one, if its words have `width` columns."""
        return runs(self.dense.lanes, self.dense.vector, width, max(map(_size, arrays)))

    def asked_to_fill(
        self,
        width: int,
        arrays: Iterable[ir.Array],
        counts: Iterable[str],
        lengths: tuple[ir.Expr, ...],
        once: bool,
        told: bool = False,
    ) -> str:
        """Return when rows are short, of words, and threads have all of their columns but the last run.

        counts, lengths: those of axes, as named and as expressions. once: whether a team takes them in one round.
        told: only if the host knows it, since the kernel has other code already.
        """
        arrays, counts = list(arrays), list(counts)
        lanes, vector, (_, last) = self.dense.lanes, self.dense.vector, self.run(width, arrays)
        most = lanes * vector if once else 0
        fact = Words(width, tuple(arrays), lengths, most, (lanes, vector, last))
        tests = [f"{self.axis}.fills({self.filled(width, arrays)}(), {n})" for n in counts]
        tests += [f"{self.axis}.in_one_round({n})" for n in counts] if once else []
        test = " && ".join([*tests, self.fit(width, arrays, *(counts if width > 1 else ()))])
        test = "false" if told else test
        return self.writer.facts.asked(test, fact, f"{self.axis}.lanes == {self.dense.lanes}")

    def rows(self, arrays: Iterable[ir.Array]) -> None:
        """Name the lengths of rows, of 32 bits where they consist of words: indices take fewer instructions."""
        for array in arrays:
            axis, name = array.ndim - 1, self.text.unique(f"row_{self.text.array(array)}")
            self.writer.line(
                f"const auto {name} = ev::row(width, {self.text.extent(array, axis)});"
            )
            self.text.rows[array.path, axis] = name

    def head(self) -> str:
        """Return the head of the loop over the columns that the team has at a time."""
        first = self.first
        return f"for (pos {first} = 0; {first} < {self.count}; {first} += {self.axis}.columns)"

    @contextmanager
    def each_column(self, step: str = "") -> Iterator[None]:
        """Open an unrolled loop over a thread's columns. step: the columns that it takes at a time."""
        c = self.c
        self.writer.line("#pragma unroll")
        change = f"{c} += {step}" if step else f"++{c}"
        with self.writer.compound(f"for (int {c} = 0; {c} < {self.dense.vector}; {change})"):
            yield

    @contextmanager
    def each_word(self) -> Iterator[str]:
        """Open an unrolled loop over the words of a thread on the axis. Yields the name of its first column."""
        word = self.text.unique("first_c")
        self.writer.line("#pragma unroll")
        head = f"for (int {word} = 0; {word} < {self.dense.vector}; {word} += width.value)"
        with self.writer.compound(head), self.writer.compound(f"if ({self.leaves(word)})"):
            yield word

    def leaves(self, column: str) -> str:
        """Return the condition under which a thread stores what it has for a column, and for others of its word."""
        return f"{self.axis}.leaves(width, {self.first}, {self.count}, {column})"

    @contextmanager
    def of_word(self, word: str) -> Iterator[None]:
        """Open an unrolled loop over the columns of a word."""
        c = self.c
        self.writer.line("#pragma unroll")
        with self.writer.compound(f"for (int {c} = {word}; {c} < {word} + width.value; ++{c})"):
            yield

    def word_stores(self, block: ir.Block) -> list[ir.Store]:
        """Return the stores that wait for all columns of a word: no other place in their arrays is read or stored.

        Nor is their own place read later: till the word is stored, memory has what was there before.
        """
        stored = [s.array for s in walk.statements(block) if isinstance(s, ir.Store)]
        read = [e for e in walk.expressions(block) if isinstance(e, ir.Element)]
        return [
            s
            for i, s in enumerate(block)
            if isinstance(s, ir.Store)
            and self.is_word(s)
            and stored.count(s.array) == 1
            and all(e.indices == s.indices for e in read if e.array == s.array)
            and s.array not in walk.arrays_read(block[i + 1 :])
        ]

    def store_words(self, block: ir.Block, word: str) -> None:
        """Write code for the columns of a word, and then its stores that are words."""
        writer, stores = self.writer, self.word_stores(block)
        words = {id(s): self.text.unique("stored") for s in stores}
        for s in stores:
            writer.line(f"{ctype(s.array.dtype)} {words[id(s)]}[{self.dense.vector}];")
        with self.of_word(word):
            writer.stored = {s: f"{name}[{self.c}]" for s, name in words.items()}
            writer.block(block)
            writer.stored = {}
        if words:
            writer.line(f"const int {self.c} = {word};")
        for s in stores:
            given = f"{self.address(s)}, {words[id(s)]} + {self.c}"
            writer.line(f"ev::store_word(width, {given});")

    def has(self, column: str) -> str:
        """Return the condition under which a thread has a column: the team's columns may reach beyond the axis."""
        return f"{self.axis}.has(width, {self.first}, {self.count}, {column})"

    def load_word(self, e: ir.Element, to: str) -> None:
        self.writer.line(f"ev::load_word(width, {self.address(e)}, {to} + {self.c});")

    def address(self, e: ir.Element | ir.Store) -> str:
        """Return where the word of a thread's column is."""
        text = self.text
        if len(e.indices) != 2:
            return f"{text.array(e.array)}.data + {text.index(e)}"
        row, length = text.operand(e.indices[0], 0), text.row_length(e.array, 1)
        place = f"{self.column}, {self.c}, {row}, {length}"
        return f"{self.axis}.element(width, {text.array(e.array)}.data, {place})"

    def varies(self, e: ir.Element) -> bool:
        return not self.varying.isdisjoint(walk.variables((e,)))

    def is_word(self, e: ir.Element | ir.Store) -> bool:
        return side_by_side(e, self.loop.var, self.varying)

    def words_in(self) -> list[ir.Array]:
        """Return the arrays whose columns lie side by side."""
        raise NotImplementedError

    def width(self) -> int:
        """Return how many columns may be one word: a power of two that divides `vector`."""
        widest = max((a.dtype.dtype.itemsize for a in self.words_in()), default=WORD)
        vector = self.dense.vector
        return min(vector & -vector, max(WORD // widest, 1))


def few_at_once(width: int, arrays: Iterable[ir.Array], lengths: tuple[ir.Expr, ...]) -> str:
    """Return when code takes fewer atoms at once: for columns with an address each, or beside other code for words.

    For other code there is none if the host knows which it is.
    """
    if width == 1:
        return "width.apart"
    known = answered(Words(width, tuple(arrays), lengths))
    return f"(width.apart || (width.value == 1{' && !EV_KNOWN' if known else ''}))"


def runs(lanes: int, vector: int, width: int, size: int) -> tuple[int, int]:
    """Return how many of a thread's columns lie side by side, of all but a last word if words are odd; and of the last.

    So many numbers of `size` bytes as the banks of L1 have, divided by the lanes of a row.
    """
    words = vector // width
    even = words - words % 2
    run = width * max(1, min(even & -even, BANKS // (size * width * lanes)))
    return run, width if vector % run else run


def _size(array: ir.Array) -> int:
    """Return the bytes of an element."""
    return int(array.dtype.dtype.itemsize)
