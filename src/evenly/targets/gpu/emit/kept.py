"""Keep what several passes over a tile read at its atoms in registers, where each thread has few of them.

A softmax reads its elements in each of its passes. If a thread has at most `items` atoms of a tile, it loads their
elements in the first pass, all at once, and every pass takes them from registers. Longer tiles are read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenly.language import ir
from evenly.language.accesses import at_atoms, read_again

from .expressions import ctype

if TYPE_CHECKING:
    from .owner import Owner


class Kept:
    """Writes the passes of a tile over the atoms of a thread that fit into its registers."""

    def __init__(self, writer: Owner, body: ir.Block) -> None:
        self.writer = writer
        alike = writer.items > 1 and writer.run == 1 and writer.dense is None
        self.first = read_again(body, writer.text.written) if alike else {}
        self.names: dict[ir.Array, str] = {}

    def declare(self, s: ir.Pass) -> None:
        """Write the arrays of registers that a pass fills, before its walk."""
        text = self.writer.text
        for array, first in self.first.items():
            if first is s:
                self.names[array] = name = text.unique(f"kept_{text.array(array)}")
                self.writer.line(f"{ctype(array.dtype)} {name}[{self.writer.items}];")

    def of(self, s: ir.Pass) -> dict[ir.Element, str]:
        """Return the elements that a pass reads out of registers, and the arrays of these."""
        return {e: self.names[e.array] for e in at_atoms(s) if e.array in self.names}

    @contextmanager
    def walk(self, s: ir.Pass, start: str, end: str, step: str) -> Iterator[None]:
        """Write the walk over atoms in registers. What is written within is the walk over longer tiles."""
        writer, text = self.writer, self.writer.text
        name, item, items = text.var(s.atom), text.unique("item"), writer.items
        with writer.compound(f"if ({end} - ({start}) <= {items} * {step})"):
            filled = [array for array, first in self.first.items() if first is s]
            if filled:
                with self._each(item, name, start, end, step):
                    for array in filled:
                        writer.line(f"{self.names[array]}[{item}] = {text.array(array)}[{name}];")
            text.loaded = {e: f"{kept}[{item}]" for e, kept in self.of(s).items()}
            with self._each(item, name, start, end, step):
                writer.block(s.body)
            text.loaded = {}
        with writer.compound("else"):
            yield

    @contextmanager
    def _each(self, item: str, name: str, start: str, end: str, step: str) -> Iterator[None]:
        """Write the code for each of a thread's atoms."""
        writer = self.writer
        writer.line("#pragma unroll")
        with writer.compound(f"for (int {item} = 0; {item} < {writer.items}; ++{item})"):
            writer.line(f"const pos {name} = {start} + {item} * {step};")
            with writer.compound(f"if ({name} < {end})"):
                yield
