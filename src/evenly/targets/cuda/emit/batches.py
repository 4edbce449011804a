"""Which atoms a thread asks for at once: every so manieth of a tile, or runs of atoms that lie side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenly.language import ir, walk

from .expressions import ctype
from .statements import Writer


class Strided:
    """Atoms `width` apart, so that the threads of a group have neighbours: `items` from `start`, until `end`.

    name: of an atom, in the text that walks them; `inside`: the condition on which it is one of the tile's.
    """

    def __init__(
        self, writer: Writer, name: str, over: tuple[str, str, str], items: int, run: int = 1
    ) -> None:
        self.writer, self.text = writer, writer.text
        self.name, self.items, self.run = name, items, run
        self.start, self.end, self.width = over
        self.inside = f"{name} < {self.end}"

    def apart(self, item: str) -> str:
        """How far from a thread's first atom the one of number `item` is."""
        return item if self.width == "1" else f"{item} * {self.width}"

    def begin(self) -> None:
        """What stands before the loop."""

    def load(self, first: str) -> None:
        """What is loaded before anything is asked of the atoms from `first` on."""

    def loaded(self, item: str) -> dict[ir.Element, str]:
        return {}

    def left(self) -> str:
        """The head of a loop over atoms that no batch has; none where there are none."""
        return ""


class SideBySide(Strided):
    """Runs of `run` atoms, a group's runs side by side, too; an instruction loads 16 bytes of what an array has there.

    Runs are aligned, so they may begin before the tile's first atom and end behind its last: what is loaded there is
    not used. What is left are atoms beyond the last whole run of an array, and all where one is not aligned.

    elements: what a pass reads at each of its atoms, and nobody writes, each with the name under which it is kept.
    """

    def __init__(self, elements: list[ir.Element], *given: Any) -> None:
        super().__init__(*given)
        unique, array = self.text.unique, self.text.array
        self.elements = {e: unique(f"{array(e.array)}_run") for e in elements}
        self.own = unique(f"{self.name}_begin"), self.end
        self.whole, self.stop = unique(f"{self.name}_whole"), unique(f"{self.name}_stop")
        self.begin_at = self.start
        self.start = f"({self.own[0]} & -{self.run}) + team.rank() * {self.run}"
        self.end = self.stop
        self.inside = f"{self.name} >= {self.own[0]} && {self.name} < {self.stop}"

    def apart(self, item: str) -> str:
        return f"({item} - {item} % {self.run}) * {self.width} + {item} % {self.run}"

    def begin(self) -> None:
        whole = "ev::highest<pos>()"
        for e in self.elements:
            array, extent = self.text.array(e.array), self.text.extent(e.array, 0)
            whole = f"ev::whole_runs<{self.run}>({array}.data, {extent}, {whole})"
        begin, end = self.own
        self.writer.line(f"const pos {begin} = {self.begin_at} - team.rank();")
        self.writer.line(f"const pos {self.whole} = {whole};")
        self.writer.line(f"const pos {self.stop} = {end} < {self.whole} ? {end} : {self.whole};")

    def load(self, first: str) -> None:
        line, item = self.writer.line, self.text.unique("item")
        for e, name in self.elements.items():
            line(f"{ctype(e.type)} {name}[{self.items}];")
        line("#pragma unroll")
        with self.writer.braces(
            f"for (int {item} = 0; {item} < {self.items}; {item} += {self.run})"
        ):
            line(f"const pos {self.name} = {first} + {item} * {self.width};")
            with self.writer.braces(
                f"if ({self.name} < {self.stop})" if self.items > self.run else ""
            ):
                for e, name in self.elements.items():
                    at = f"{self.text.array(e.array)}.data + {self.name}"
                    line(f"ev::load_run<{self.run}>({at}, {name} + {item});")

    def loaded(self, item: str) -> dict[ir.Element, str]:
        return {e: f"{name}[{item}]" for e, name in self.elements.items()}

    def left(self) -> str:
        """The head of a loop over what is left."""
        begin, end = self.own
        start = f"({begin} > {self.whole} ? {begin} : {self.whole}) + team.rank()"
        each = f"{self.name} < {end}; {self.name} += {self.width}"
        return f"for (pos {self.name} = {start}; {each})"


def read_side_by_side(s: ir.Pass, written: frozenset[ir.Path]) -> list[ir.Element]:
    """What a pass reads at each atom, whatever its conditions, that lies beside what it reads at the next."""
    read = (e for x in s.body for operand in walk.operands(x) for e in _always(operand))
    return list(
        dict.fromkeys(
            e
            for e in read
            if isinstance(e, ir.Element) and e.indices == (s.atom,) and e.array.path not in written
        )
    )


def _always(e: ir.Expr) -> Iterator[ir.Expr]:
    """What is evaluated wherever `e` is."""
    yield e
    inner = walk.parts(e)
    for part in inner[:1] if isinstance(e, ir.Select | ir.Logic) else inner:
        yield from _always(part)
