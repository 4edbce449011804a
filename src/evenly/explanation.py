"""`ev.explain`: show which schedule `auto` chooses, why, and what tune() has measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from evenly import targets
from evenly.arguments import as_layout
from evenly.errors import InputError
from evenly.language.items import has_items
from evenly.layouts.contract import is_layout
from evenly.layouts.items import Items, ItemStatistics
from evenly.layouts.moving import device_of
from evenly.runtime.kernel import Kernel
from evenly.runtime.plan import Plan
from evenly.schedules import Schedule
from evenly.version import __version__

from .choosing.auto import Choice, consider
from .choosing.equal import has_equal_tiles
from .choosing.look import forget
from .choosing.task import Task, product_of
from .tuning import winners
from .tuning.key import calls_of, structure_of
from .tuning.tuned import Tuning

SHOWN = 8  # of the schedules rejected


@dataclass(frozen=True)
class Explanation:
    """The statistics of a layout, the schedule chosen and those rejected. `str()` is the report.

    once: the schedule of a call without a plan. equal: whether all tiles have equal length, so that a plan reads no
    offsets. measured: what is remembered of this structure on this target, for plans or plain calls of a kernel.
    tasks: whether it is a set of tasks, of which nobody knows statistics.
    items: the statistics of a batch's items. by_items: the choice for loops over items; None: the layout has none.
    kernel: the name of the kernel that it is about; "": an SpMV.
    """

    layout: str
    target: str
    choice: Choice
    once: Schedule
    equal: bool = False
    measured: tuple[Tuning, ...] = ()
    items: ItemStatistics | None = None
    by_items: Choice | None = None
    tasks: bool = False
    kernel: str = ""

    def real(self, schedule: str) -> str:
        """Return what a schedule took where it was measured for this kernel's plans, behind a comma; else ""."""
        of_plans = (t for t in self.measured if self.kernel and calls_of(t.arguments)[1] == "plans")
        found = (t.times[schedule] for t in of_plans if schedule in t.times)
        return next((f", {us:.1f} us measured" for us in found), "")

    def kept(self) -> list[str]:
        """Return lines on how a plan differs from a call without one, which keeps nothing of the structure."""
        lines = []
        if self.once != self.choice.schedule:
            what = "in a plan, which keeps what follows from the structure"
            lines.append(f"    {what}; a call without one gets {self.once}")
        if self.equal:
            lines.append(
                "    tiles of equal length: a plan works out where they begin, unless the kernel asks"
            )
        return lines

    def rejected(self) -> list[str]:
        """Return a line for each of the nearest of the schedules rejected, and how many more there are."""
        every = self.choice.rejected
        lines = [f"    {name}: {reason}{self.real(name)}" for name, reason in every]
        more = len(lines) - SHOWN
        return [*lines[:SHOWN], f"    and {more} more"] if more > 1 else lines

    def statistics(self) -> list[str]:
        st = self.choice.statistics
        if self.tasks:
            return []
        lengths = f"longest {st.greatest:,}, spread {st.spread:.2f}, empty tiles {st.empty:.1%}"
        unknown = st.atoms > 0 and st.greatest == 0
        return [
            f"  tiles {st.tiles:,}, atoms {st.atoms:,}",
            *(() if self.items is None else (f"  {self.items}",)),
            f"  atoms a tile: mean {st.mean:.2f}, {'no offsets to tell more' if unknown else lengths}",
        ]

    def over_items(self) -> list[str]:
        """Return lines on what loops over items get."""
        if self.by_items is None:
            return []
        chosen = f"  for loops over items: {self.by_items.schedule}"
        return [chosen, f"    because {self.by_items.why}"]

    def __str__(self) -> str:
        lines = [
            f"{f'{self.kernel}: ' * bool(self.kernel)}{self.layout} on {self.target}",
            *self.statistics(),
            f"  chosen: {self.choice.schedule}",
            f"    because {self.choice.why}{self.real(str(self.choice.schedule))}",
            *([f"    what work costs: {self.choice.costs}"] if self.choice.costs else []),
            *self.kept(),
            *self.over_items(),
            *(("  rejected:", *self.rejected()) if self.choice.rejected else ()),
        ]
        for tuning in self.measured:
            types, calls = calls_of(tuning.arguments)
            follow = f"its {calls} follow" + ' under "tuned"' * (calls != "plans")
            lines += [
                f"  measured for {tuning.kernel} on {tuning.device}, which {follow}:",
                f"    ({types})",
                *(f"    {line}" for line in tuning.table()),
            ]
        return "\n".join(lines)


def explain(A: Any, target: str = "auto", kernel: Any = None) -> Explanation:
    """Explain which schedule `auto` chooses, and why: `print(ev.explain(A))`.

    A: a layout or a sparse matrix, of which an SpMV is explained; or a plan (`kernel.plan(...)`): its kernel, on its
      own arguments and target.
    target: "auto" (where the arrays are), or the name of a target.
    kernel: of the results of `plan.tune()` for this structure, show only those of this kernel (by its name).

    Raises InputError if an argument is not a layout, sparse matrix or plan, a target, or a kernel.
    """
    if isinstance(A, Plan):
        return _of_plan(A)
    layout = as_layout(A, "A")
    if not is_layout(layout):
        raise InputError("A", expected="a layout or a sparse matrix", given=type(A).__name__)
    if target == "auto":
        target = device_of(layout)
    reference = targets.find(target).reference
    forget([layout])
    tasks = bool(getattr(layout, "tasks", False))
    ranged = bool(getattr(layout, "ranged", ()))
    kept, once_only = (
        replace(product_of(layout, kept=k), tasks=tasks, ranged=ranged) for k in (True, False)
    )
    choice = consider(layout, target, kept)
    once = consider(layout, target, once_only).schedule
    alike = not (reference or tasks) and has_equal_tiles(layout)
    measured = remembered(structure_of(choice.statistics), target, kernel)
    items = layout.item_statistics if isinstance(layout, Items) else None
    product = Task(items=True, splits=True)  # what the choice is shown for: an SpMV
    over = consider(layout, target, product) if has_items(type(layout)) else None
    return Explanation(repr(layout), target, choice, once, alike, measured, items, over, tasks)


def _of_plan(plan: Plan) -> Explanation:
    task, layout = plan.task, plan.first_layout
    choice = consider(layout, plan.target, task)
    once = consider(layout, plan.target, replace(task, kept=False)).schedule
    structure = structure_of(choice.statistics)
    measured = remembered(structure, plan.target, plan.kernel)
    if plan.tuning is not None:
        measured = plan.tuning, *(one for one in measured if one.times != plan.tuning.times)
    about = f"{layout!r}", plan.target, choice, once
    return Explanation(*about, measured=measured, tasks=task.tasks, kernel=plan.kernel.name)


def remembered(structure: str, target: str, kernel: Any) -> tuple[Tuning, ...]:
    """Return what this version of evenly has measured of a structure on a target, for one kernel or for all."""
    if kernel is not None and not isinstance(kernel, Kernel):
        raise InputError("kernel", expected="a function with @ev.kernel", given=repr(kernel))
    return tuple(
        winner.tuning(str(winners.path()))
        for key, winner in winners.remembered().get(structure, {}).items()
        if (key.target, key.evenly) == (target, __version__)
        and (kernel is None or key.kernel.split()[0] == kernel.name)
    )
