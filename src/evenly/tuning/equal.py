"""Tiles of equal length in a plan: where they begin is worked out, and their offsets are not read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.arguments import Binding
from evenly.interop.transfer import to_numpy
from evenly.language import ir, walk
from evenly.layouts.equal import EQUAL, equal

from .statistics import statistics

if TYPE_CHECKING:
    from evenly.runtime.plan import Plan

# What executables have, some of them: each takes a binding first.
METHODS = {"prepare", "store", "launches", "workspace_bytes", "also_decides", "counters"}


def without_offsets(plan: Plan, compiled: Callable[[Binding], Any]) -> Plan:
    """The plan, or one that reads no offsets of those of its layouts whose tiles all have equally many atoms.

    compiled: makes the plan's executable for other arguments.
    """
    binding = plan._binding
    known = sizes(plan.kernel.program(plan._specs), binding)
    if not known or plan.target == "python":
        return plan
    quick = compiled(moved(binding, known))
    return plan.run_by(lambda plain: WithoutOffsets(plain, quick, known, binding))


def sizes(program: ir.Program, binding: Binding) -> dict[str, int]:
    """The atoms of each tile of such layouts, by name; of those whose offsets the kernel reads itself, none."""
    expressions = (e for step in program.steps for e in walk.expressions(step.body))
    read = {e.array.path for e in expressions if isinstance(e, ir.Element)}
    return {
        name: statistics(value).greatest
        for name, value in binding.arguments.items()
        if (name, "offsets") not in read and has_equal_tiles(value)
    }


def has_equal_tiles(layout: Any) -> bool:
    """Whether it has offsets, and all of its tiles equally many atoms, and not none."""
    if type(layout) not in EQUAL:
        return False
    st = statistics(layout)
    # The last offset on a GPU is taken at its word: a count alone would not tell.
    return st.greatest > 0 and st.greatest * st.tiles == st.atoms and st.deviation == 0


def moved(binding: Binding, known: Mapping[str, int]) -> Binding:
    """The arguments with layouts of equal tiles in the place of these."""
    made = {name: equal(binding.arguments[name], size) for name, size in known.items()}
    return Binding({**binding.arguments, **made})


class WithoutOffsets:
    """An executable that reads no offsets in calls on the layouts that it knows; others are run as they are.

    plain: the executable of any arguments, whose METHODS it has. quick: the same of layouts of equal tiles.
    known: the atoms of a tile, by the layouts' names.
    """

    def __init__(self, plain: Any, quick: Any, known: Mapping[str, int], binding: Binding) -> None:
        self.plain, self.quick, self.known = plain, quick, known
        self._layouts = {name: [binding.arguments[name]] for name in known}

    def knows(self, name: str, layout: Any) -> None:
        """This layout has the tiles of the plan's own one of that name, too."""
        if name in self._layouts:
            self._layouts[name].append(layout)

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS or not hasattr(self.plain, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def run(binding: Binding, *more: Any) -> Any:
            if self._knows_all(binding):
                return getattr(self.quick, name)(moved(binding, self.known), *more)
            return getattr(self.plain, name)(binding, *more)

        return run

    def changed(self, binding: Binding, stored: Any) -> ir.Path | None:
        """The path of a layout whose tiles are no longer what they were."""
        for name, size in self.known.items():
            now = to_numpy(binding.arguments[name].offsets)
            if not np.array_equal(now, np.arange(len(now)) * size):
                return (name,)
        if not hasattr(self.quick, "changed"):
            return None
        found: ir.Path | None = self.quick.changed(moved(binding, self.known), stored)
        return found

    def _knows_all(self, binding: Binding) -> bool:
        """By the objects: of others not even the same offsets tell, which somebody may have changed in place."""
        given = binding.arguments
        return all(any(given[n] is one for one in ones) for n, ones in self._layouts.items())
