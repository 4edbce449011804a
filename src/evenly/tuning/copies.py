"""What a kernel is measured on: its own inputs, and copies of its outputs.

A kernel that reads what it writes, or updates it, would find something else at each run, and so
other work: a search that is done finds nothing more to do. Its copies are restored before each run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.interop.arrays import as_numpy, view
from evenly.interop.device_array import DeviceArray, device_empty
from evenly.language import ir, walk
from evenly.targets.cuda.place import device_at
from evenly.timing.calls import CallClock, nothing
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import Clock


def reads_what_it_writes(program: ir.Program, outputs: Iterable[str]) -> bool:
    """Whether what a run stores into arguments of these names may change what the next one does."""
    written = frozenset((name,) for name in outputs)
    blocks = [step.body for step in program.steps]
    updated = any(isinstance(s, ir.Atomic) for block in blocks for s in walk.statements(block))
    return updated or any(
        isinstance(e, ir.Element) and e.array.path in written
        for block in blocks
        for e in walk.expressions(block)
    )


class Copies:
    """The arguments of a plan with copies for outputs, in the place of the originals.

    arguments: by name, to plan for. clock: of such a plan.
    """

    def __init__(self, binding: Binding, outputs: Iterable[str], restored: bool) -> None:
        """outputs: the names of the arguments that are written. restored: before each run."""
        self.originals = {name: binding.arguments[name] for name in outputs}
        self.restored = restored
        self.copies = self.made(binding)
        self.arguments = {**binding.arguments, **self.copies}

    def made(self, binding: Binding) -> dict[str, Any]:
        raise NotImplementedError

    def clock(self, plan: Any) -> Clock:
        raise NotImplementedError


class CpuCopies(Copies):
    """In NumPy's memory; whole calls are timed."""

    def made(self, binding: Binding) -> dict[str, Any]:
        return {name: as_numpy(array, name).copy() for name, array in self.originals.items()}

    def restore(self) -> None:
        for name, copy in self.copies.items():
            np.copyto(copy, as_numpy(self.originals[name], name))

    def clock(self, plan: Any) -> Clock:
        arguments = tuple(self.arguments.values())
        return CallClock(
            lambda: plan(*arguments), before=self.restore if self.restored else nothing
        )


class CudaCopies(Copies):
    """On the originals' GPU; the kernels are timed."""

    def made(self, binding: Binding) -> dict[str, Any]:
        views = {name: view(array, name) for name, array in self.originals.items()}
        self.sources = {name: DeviceArray(found) for name, found in views.items()}
        copies = {n: device_empty(v.shape, v.dtype, v.device_id) for n, v in views.items()}
        device = device_at(binding)
        device.sync()  # whoever writes the arguments, on whatever stream, is done
        for name, copy in copies.items():
            copy.copy_from(self.sources[name], device.default_stream)
        device.sync()
        return copies

    def restore(self, stream: Any) -> None:
        for name, copy in self.copies.items():
            copy.copy_from(self.sources[name], stream)

    def clock(self, plan: Any) -> Clock:
        return GraphClock(plan.launches, self.restore if self.restored else None)


PLACES: dict[str, type[Copies]] = {"cpu": CpuCopies, "cuda": CudaCopies}
