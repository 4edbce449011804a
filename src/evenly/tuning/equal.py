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


def without_offsets(
    plan: Plan, program: ir.Program, binding: Binding, compiled: Callable[[Binding], Any]
) -> Plan:
    """The plan, or one that reads no offsets of those of its layouts whose tiles all have equally many atoms.

    compiled: makes the executable of other arguments.
    """
    known = sizes(program, binding)
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
        if (name, "offsets") not in read and is_equal(value)
    }


def is_equal(layout: Any) -> bool:
    """Whether it has offsets, and all of its tiles equally many atoms, and not none."""
    if type(layout) not in EQUAL:
        return False
    st = statistics(layout)
    return st.greatest > 0 and st.deviation == 0 and st.greatest * st.tiles == st.atoms


def moved(binding: Binding, known: Mapping[str, int]) -> Binding:
    """The arguments with layouts of equal tiles in the place of these."""
    made = {name: equal(binding.arguments[name], size) for name, size in known.items()}
    return Binding({**binding.arguments, **made})


class WithoutOffsets:
    """An executable for calls on layouts with certain offsets, which it does not read; others are run as they are.

    plain: the executable of any arguments, whose methods it has. quick: the same of layouts of equal tiles.
    known: the atoms of a tile, by the layouts' names.
    """

    def __init__(self, plain: Any, quick: Any, known: Mapping[str, int], binding: Binding) -> None:
        self.plain, self.quick, self.known = plain, quick, known
        self.offsets = {name: binding.arguments[name].offsets for name in known}

    def __getattr__(self, name: str) -> Any:
        getattr(self.plain, name)  # AttributeError where there is no such thing

        def run(binding: Binding, *more: Any) -> Any:
            quickly = self._knows(binding)
            executable = self.quick if quickly else self.plain
            return getattr(executable, name)(
                moved(binding, self.known) if quickly else binding, *more
            )

        return run

    def changed(self, binding: Binding, stored: Any) -> ir.Path | None:
        """The path of a layout whose tiles are no longer what they were."""
        for name, size in self.known.items():
            now = to_numpy(self.offsets[name])
            if not np.array_equal(now, np.arange(len(now)) * size):
                return (name,)
        if not hasattr(self.quick, "changed"):
            return None
        found: ir.Path | None = self.quick.changed(moved(binding, self.known), stored)
        return found

    def _knows(self, binding: Binding) -> bool:
        arguments = binding.arguments
        return all(arguments[name].offsets is offsets for name, offsets in self.offsets.items())
