"""Measure plans on a GPU: time their kernels by the GPU's clock."""

from __future__ import annotations

from typing import Any

from evenly.arguments import Binding
from evenly.interop.arrays import view
from evenly.interop.device_array import DeviceArray, device_empty
from evenly.targets.contract import Copies
from evenly.timing.calls import CallClock
from evenly.timing.graphs import GraphClock
from evenly.timing.rounds import Clock

from .compile import require
from .place import device_at


class CudaCopies(Copies):
    """Copies on the same GPU as the originals. The clock times the kernels."""

    def made(self, binding: Binding) -> dict[str, Any]:
        views = {name: view(array, name) for name, array in self.originals.items()}
        self.sources = {name: DeviceArray(found) for name, found in views.items()}
        copies = {n: device_empty(v.shape, v.dtype, v.device_id) for n, v in views.items()}
        device = device_at(binding)
        device.sync()  # wait for all work on any stream that still writes the arguments
        for name, copy in copies.items():
            copy.copy_from(self.sources[name], device.default_stream)
        device.sync()
        return copies

    def restore(self, stream: Any) -> None:
        for name, copy in self.copies.items():
            copy.copy_from(self.sources[name], stream)

    def clock(self, plan: Any) -> Clock:
        if plan.repeats:
            return self.clock_of_calls(plan)
        return GraphClock(plan.launches, self.restore if self.restored else None)

    def clock_of_calls(self, plan: Any) -> Clock:
        """Return the host's clock around calls of `plan`. A graph with loops cannot be part of a clock's graph."""
        device = require().Device()

        def before() -> None:
            if self.restored:
                self.restore(device.default_stream)
            device.sync()

        return CallClock(plan.prepared(), device.sync, before)
