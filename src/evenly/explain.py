"""`ev.explain`: what `auto` saw and why it chose, and what tune() has measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenly import targets
from evenly.arguments import as_layout
from evenly.errors import InputError
from evenly.layouts.contract import is_layout
from evenly.layouts.moving import device_of
from evenly.runtime.kernel import Kernel
from evenly.schedules import Schedule
from evenly.version import __version__

from .choosing.auto import Choice, consider
from .choosing.equal import has_equal_tiles
from .choosing.statistics import forget
from .choosing.task import product_of
from .tuning import winners
from .tuning.key import structure_of
from .tuning.tuned import Tuning


@dataclass(frozen=True)
class Explanation:
    """The statistics, the choice and what was rejected; `str()` is the report.

    once: what a call without a plan gets. equal: a plan reads no offsets. measured: what `plan.tune()` remembers
    of this structure on this target, one a kernel and device.
    """

    layout: str
    target: str
    choice: Choice
    once: Schedule
    equal: bool = False
    measured: tuple[Tuning, ...] = ()

    def kept(self) -> list[str]:
        """What a plan keeps of the structure, and calls do not that have none."""
        lines = []
        if self.once != self.choice.schedule:
            what = "in a plan, which keeps the order of tiles"
            lines.append(f"    {what}; a call without one gets {self.once}")
        if self.equal:
            lines.append(
                "    tiles of equal length: a plan works out where they begin, unless the kernel asks"
            )
        return lines

    def __str__(self) -> str:
        st = self.choice.statistics
        lines = [
            f"{self.layout} on {self.target}",
            f"  tiles {st.tiles:,}, atoms {st.atoms:,}",
            f"  atoms a tile: mean {st.mean:.2f}, longest {st.greatest:,}, "
            f"spread {st.spread:.2f}, empty tiles {st.empty:.1%}",
            f"  chosen: {self.choice.schedule}",
            f"    because {self.choice.why}",
            *self.kept(),
            "  rejected:",
            *(f"    {name}: {reason}" for name, reason in self.choice.rejected),
        ]
        for tuning in self.measured:
            lines += [
                f"  measured for {tuning.kernel} on {tuning.device}, which its plans follow:",
                f"    ({tuning.arguments})",
                *(f"    {line}" for line in tuning.table()),
            ]
        return "\n".join(lines)


def explain(A: Any, target: str = "auto", kernel: Any = None) -> Explanation:
    """What `auto` sees in a layout or sparse matrix, the schedule that it chooses, and why.

    kernel: show of what `plan.tune()` has measured for this structure only what is this kernel's (by its name).

    Prints nothing itself: `print(ev.explain(A))`. Raises InputError for what is no layout, target or kernel.
    """
    layout = as_layout(A, "A")
    if not is_layout(layout):
        raise InputError("A", expected="a layout or a sparse matrix", given=type(A).__name__)
    if target == "auto":
        target = device_of(layout)
    reference = targets.find(target).reference
    forget([layout])
    choice = consider(layout, target, product_of(layout))
    once = consider(layout, target, product_of(layout, kept=False)).schedule
    alike = not reference and has_equal_tiles(layout)
    measured = remembered(structure_of(choice.statistics), target, kernel)
    return Explanation(repr(layout), target, choice, once, alike, measured)


def remembered(structure: str, target: str, kernel: Any) -> tuple[Tuning, ...]:
    """What was measured of a structure on a target, by this version; of one kernel, or of all."""
    if kernel is not None and not isinstance(kernel, Kernel):
        raise InputError("kernel", expected="a function with @ev.kernel", given=repr(kernel))
    return tuple(
        winner.tuning(str(winners.path()))
        for key, winner in winners.remembered().get(structure, {}).items()
        if (key.target, key.evenly) == (target, __version__)
        and (kernel is None or key.kernel.split()[0] == kernel.name)
    )
