"""Measure plans on a CPU: time whole calls by the host's clock."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.arguments import Binding
from evenly.interop.arrays import as_numpy
from evenly.targets.contract import Copies
from evenly.timing.calls import CallClock, nothing
from evenly.timing.rounds import Clock


class CpuCopies(Copies):
    """Copies as NumPy arrays. The clock times whole calls."""

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
