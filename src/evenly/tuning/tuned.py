"""`Tuning`: what `plan.tune()` measured, and its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evenly import targets
from evenly.schedules import Schedule
from evenly.timing.race import TIE

RENUMBERED = ", columns renumbered"


@dataclass(frozen=True, slots=True)
class Tuning:
    """What `plan.tune()` measured, now or before. `str()` is the report.

    schedule: the fastest; of those within 2% of it, the first candidate. times: microseconds of each
      schedule that was measured, medians, by its text ("NonzeroSplit(block=256, items=4)"), the fastest first.
    kernel: its name. arguments: their types and shapes. structure: of the layout's tiles. target;
      device: what it ran on.
    left_out: why others were not measured, by their text.
    kept: the file that remembers the winner; "" if none does.
    noise: why the winner is not remembered, if its time overlaps with that of another; otherwise "".
    locality: whether the fastest has renumbered columns (`plan.tune(locality=True)`).
    """

    schedule: Schedule
    times: Mapping[str, float]
    kernel: str
    arguments: str
    structure: str
    target: str
    device: str
    left_out: Mapping[str, str] = field(default_factory=dict)
    kept: str = ""
    locality: bool = False
    noise: str = ""

    @property
    def choice(self) -> str:
        """The name of the fastest in `times`."""
        return str(self.schedule) + RENUMBERED * self.locality

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.kernel} on {self.target} ({self.device})"
        yield f"  {self.structure}"
        yield from (f"  {line}" for line in self.table())
        if self.left_out:
            yield "  left out:"
        yield from (f"    {name}: {why}" for name, why in self.left_out.items())
        if self.kept:
            yield f"  remembered in {self.kept}"
        else:
            yield f"  not remembered: {self.noise}" if self.noise else "  not remembered"

    def table(self) -> Iterator[str]:
        """Yield a title, and a line for each schedule: its time, and the ratio to the fastest."""
        chosen = f"> the choice, the first within {TIE - 1:.0%} of the fastest"
        yield f"microseconds of {targets.find(self.target).clock}, {chosen}:"
        wide = max(map(len, self.times), default=0)
        least = min(self.times.values(), default=0.0)
        for name, us in self.times.items():
            ratio = f"  {us / least:6.2f}x" if least else ""
            yield f"{'>' if name == self.choice else ' '} {name:{wide}}  {us:10.2f}{ratio}"
