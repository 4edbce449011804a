"""What lanes inside a pass read at atoms' own places, as column ids: a batch of atoms ahead (device/dense.cuh)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenly.language import ir, walk

if TYPE_CHECKING:
    from .dense_inside import Inside


@dataclass(frozen=True, slots=True)
class Names:
    """Of what a batch has of an element, of what was loaded of it ahead, and of what loads it."""

    name: str
    ahead: str
    load: str


class Ahead:
    """Writes the loads of such elements."""

    def __init__(self, inside: Inside) -> None:
        self.inside, self.writer, self.text = inside, inside.writer, inside.text
        self.found: dict[ir.Element, Names] = {}

    def begin(self) -> None:
        """Write loads of what the first batch always reads at atoms' own places. Each batch does so for the next."""
        inside, text, k = self.inside, self.text, self.text.var(self.inside.pass_.atom)
        before, _ = inside.halves()
        loops = [inside.along[id(x)].loop.body for x in before if id(x) in inside.along]
        plain = tuple(x for x in before if id(x) not in inside.along)
        operands = (o for part in (plain, *loops) for x in part for o in walk.operands(x))
        for e, name in inside.at_atoms(operands).items():
            load, ahead = text.unique("load"), text.unique("ahead")
            self.found[e] = Names(name, ahead, load)
            with self.writer.compound(f"const auto {load} = [&](pos {k})"):
                self.writer.line(f"return {text.expr(e)};")
            self.writer.lines[-1] += ";"
            given = f"{inside.first}, {inside.end}, {load}"
            team = f"{inside.axis}.template load_ahead<{inside.most}>"
            self.writer.line(f"auto {ahead} = {team}({given});")

    def loads(self) -> dict[ir.Element, str]:
        """Write where a batch has what it always reads at atoms' own places. Returns what holds them."""
        inside = self.inside
        for e, x in self.found.items():
            self.writer.line(f"{self.text.machine(e.type)} {x.name}[items.value];")
            given = f"items, {inside.first}, {inside.end}, {x.ahead}, {x.name}, {x.load}"
            self.writer.line(f"{inside.axis}.template load_atoms<{inside.most}>({given});")
        return {e: f"{x.name}[{inside.item}]" for e, x in self.found.items()}
