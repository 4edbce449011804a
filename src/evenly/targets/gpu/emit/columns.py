"""The columns of a dense axis that a thread has: what the writers of loops over lanes share (device/dense.cuh)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenly.gpus.gpu import WORD
from evenly.language import ir, walk
from evenly.language.dense import side_by_side
from evenly.language.types import POS

if TYPE_CHECKING:
    from .owner import Owner

STEP = ir.Var("step", POS)  # from one atom of a thread to its next


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
        line = self.writer.line
        if width > 1:
            fits = self.fit(width, arrays, *counts)
            line(f"if ({fits}) {body}(ev::constant<{width}>());")
        line(f"{'else ' if width > 1 else ''}{body}(ev::constant<1>());")

    def fit(self, width: int, arrays: Iterable[ir.Array], *counts: str) -> str:
        """Return the condition under which rows and axes consist of words of so many columns."""
        tests = [f"{count} % {width} == 0" for count in counts]
        return " && ".join([*tests, *(self.whole(array, width) for array in arrays)])

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

    def has(self, column: str) -> str:
        """Return the condition under which a thread has a column: the team's columns may reach beyond the axis."""
        return f"{self.axis}.has(width, {self.first}, {self.count}, {column})"

    def load_word(self, e: ir.Element, to: str) -> None:
        text = self.text
        if len(e.indices) == 2:
            row, lane = text.operand(e.indices[0], 0), text.index_on(e, 1)
            at = f"{text.array(e.array)}.data + {lane}, {row}, {text.row_length(e.array, 1)}"
            place = f"ev::in_row({at})"
        else:
            place = f"{text.array(e.array)}.data + {text.index(e)}"
        self.writer.line(f"ev::load_word(width, {place}, {to} + {self.c});")

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

    def whole(self, array: ir.Array, width: int) -> str:
        row = self.text.extent(array, array.ndim - 1)
        return f"ev::whole_words<{width}>({self.text.array(array)}.data, {row})"
