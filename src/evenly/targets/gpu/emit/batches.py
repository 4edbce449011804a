"""Which atoms a thread loads at once: atoms at a fixed distance, or runs of contiguous atoms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenly.language import ir

from .expressions import Text, ctype
from .statements import Writer


class Strided:
    """A batch of `items` atoms from `start` to `end`, `width` apart, so that a group's threads read contiguous atoms.

    name: the variable of an atom in the emitted text. inside: the condition under which the atom belongs to the tile.
    """

    def __init__(self, writer: Writer, name: str, items: int, over: tuple[str, str, str]) -> None:
        self.writer, self.text, self.name, self.items = writer, writer.text, name, items
        self.start, self.end, self.width = over
        self.inside = f"{name} < {self.end}"

    def apart(self, item: str) -> str:
        """Return the distance from a thread's first atom to its atom number `item`."""
        return item if self.width == "1" else f"{item} * {self.width}"

    def load(self, first: str) -> None:
        """Write loads that precede all code for the atoms from `first` on."""

    def loaded(self, item: str) -> dict[ir.Element, str]:
        """Return the elements that `load` has loaded for an atom, and the names that hold them."""
        return {}


class SideBySide(Strided):
    """A batch of runs of `run` contiguous atoms. The runs of a group are contiguous, too.

    One instruction loads 16 bytes of an array. Runs are aligned, so they may begin before the tile's first atom and end
    after its last. What is loaded there is not used.

    elements: the elements that a pass reads at each atom, and that no kernel writes. begin: the tile's first atom.
    left: the range of atoms beyond the last whole run of an array; all atoms, if an array is not aligned.
    """

    def __init__(self, elements: list[ir.Element], run: int, begin: str, *given: Any) -> None:
        super().__init__(*given)
        line, unique, name = self.writer.line, self.text.unique, self.name
        self.run = run
        self.names = {e: unique(f"run_{self.text.array(e.array)}") for e in elements}
        own, whole, stop = unique(f"{name}_begin"), unique(f"{name}_whole"), unique(f"{name}_stop")
        line(f"const pos {own} = {begin};")
        line(f"const pos {whole} = {whole_runs(self.text, elements, str(run))};")
        line(f"const pos {stop} = {self.end} < {whole} ? {self.end} : {whole};")
        self.left = f"({own} > {whole} ? {own} : {whole}) + team.rank()", self.end, self.width
        self.start, self.end = f"({own} & -{run}) + team.rank() * {run}", stop
        self.inside = f"{name} >= {own} && {name} < {stop}"

    def apart(self, item: str) -> str:
        return f"({item} - {item} % {self.run}) * {self.width} + {item} % {self.run}"

    def load(self, first: str) -> None:
        line, compound, item = self.writer.line, self.writer.compound, self.text.unique("item")
        for e, name in self.names.items():
            line(f"{ctype(e.type)} {name}[{self.items}];")
        line("#pragma unroll")
        with compound(f"for (int {item} = 0; {item} < {self.items}; {item} += {self.run})"):
            line(f"const pos {self.name} = {first} + {item} * {self.width};")
            with compound(f"if ({self.name} < {self.end})" if self.items > self.run else ""):
                for e, name in self.names.items():
                    at = f"{self.text.array(e.array)}.data + {self.name}"
                    line(f"ev::load_run<{self.run}>({at}, {name} + {item});")

    def loaded(self, item: str) -> dict[ir.Element, str]:
        return {e: f"{name}[{item}]" for e, name in self.names.items()}


def whole_runs(text: Text, elements: Iterable[ir.Element], run: str) -> str:
    """Return the number of atoms in runs that lie wholly inside all arrays; 0 if one of them is not aligned."""
    found = "ev::highest<pos>()"
    for e in elements:
        array, extent = text.array(e.array), text.extent(e.array, 0)
        found = f"ev::whole_runs<{run}>({array}.data, {extent}, {found})"
    return found
