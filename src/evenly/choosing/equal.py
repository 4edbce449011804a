"""Tiles of equal length in a plan: their offsets are computed instead of read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.interop.transfer import to_numpy
from evenly.language import ir, walk
from evenly.layouts.contract import LayoutInstance
from evenly.layouts.equal import EQUAL, equal
from evenly.targets.contract import Executable, Stored

from .statistics import statistics


def without_offsets(
    plain: Executable,
    program: ir.Program,
    binding: Binding,
    compiled: Callable[[Binding], Executable],
) -> Executable | None:
    """Return an executable that reads no offsets of arguments whose tiles all have equally many atoms.

    plain: the executable that reads them. compiled: compiles an executable for other arguments.
    Returns None if there are no such arguments.
    """
    known = sizes(program, binding)
    if not known:
        return None
    return WithoutOffsets(plain, compiled(moved(binding, known)), known, binding)


def sizes(program: ir.Program, binding: Binding) -> dict[str, int]:
    """Return the atoms of each tile of such layouts, by name, without layouts whose offsets the kernel reads itself."""
    expressions = (e for step in program.pieces for e in walk.expressions(step.body))
    read = {e.array.path for e in expressions if isinstance(e, ir.Element)}
    return {
        name: statistics(value).greatest
        for name, value in binding.arguments.items()
        if (name, "offsets") not in read and has_equal_tiles(value)
    }


def has_equal_tiles(layout: LayoutInstance) -> bool:
    """Whether the layout has offsets, and all of its tiles have the same number of atoms, at least one."""
    if type(layout) not in EQUAL:
        return False
    st = statistics(layout)
    # On a GPU the last offset is trusted; only the measured lengths show that all tiles are equal.
    return st.greatest > 0 and st.greatest * st.tiles == st.atoms and st.deviation == 0


def moved(binding: Binding, known: Mapping[str, int]) -> Binding:
    """Return the arguments with layouts of equal tiles in place of these."""
    for name, size in known.items():
        binding = binding.beside(name, equal(binding.arguments[name], size))
    return binding


class WithoutOffsets(Executable):
    """An executable that reads no offsets in calls on the layouts that it knows. Other calls run as they are.

    plain: the executable for any arguments. quick: the executable for layouts of equal tiles. known: the number of
    atoms of a tile, by the layouts' names.
    """

    def __init__(
        self, plain: Executable, quick: Executable, known: Mapping[str, int], binding: Binding
    ) -> None:
        self.plain, self.quick, self.known = plain, quick, known
        self.remembers = plain.remembers
        self._layouts = {name: [binding.arguments[name]] for name in known}

    def knows(self, name: str, layout: LayoutInstance) -> None:
        """Note that this layout has the same tiles as the plan's own layout of that name."""
        if name in self._layouts:
            self._layouts[name].append(layout)

    def prepare(self, binding: Binding, stored: Stored | None = None) -> Callable[[], None]:
        executable, given = self._which(binding)
        return executable.prepare(given, stored)

    def bind(
        self, binding: Binding, stored: Stored | None = None, stream: int | None = None
    ) -> Callable[[], None]:
        executable, given = self._which(binding)
        return executable.bind(given, stored, stream)

    def also_decides(self, binding: Binding) -> tuple[Callable[[], Any], ...]:
        return self.plain.also_decides(binding)

    def store(self, binding: Binding) -> Stored:
        executable, given = self._which(binding)
        return executable.store(given)

    def changed(self, binding: Binding, stored: Stored) -> ir.Path | None:
        for name, size in self.known.items():
            now = to_numpy(binding.arguments[name].offsets)
            if not np.array_equal(now, np.arange(len(now)) * size):
                return (name,)
        executable, given = self._which(binding)
        return executable.changed(given, stored)

    def workspace_bytes(self, binding: Binding, stored: Stored | None = None) -> int:
        executable, given = self._which(binding)
        return executable.workspace_bytes(given, stored)

    def launches(self, binding: Binding, stored: Stored | None = None) -> list[Any]:
        executable, given = self._which(binding)
        return executable.launches(given, stored)

    def counters(self, binding: Binding, stored: Stored | None = None) -> list[Any]:
        executable, given = self._which(binding)
        return executable.counters(given, stored)

    def _which(self, binding: Binding) -> tuple[Executable, Binding]:
        """Return the executable for such a call, and its arguments."""
        if self._knows_all(binding):
            return self.quick, moved(binding, self.known)
        return self.plain, binding

    def _knows_all(self, binding: Binding) -> bool:
        """Whether all layouts are the known objects. Equal offsets are not enough: they may change in place."""
        given = binding.arguments
        return all(any(given[n] is one for one in ones) for n, ones in self._layouts.items())
