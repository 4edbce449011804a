"""The CPU as a place: NumPy arrays and the wall clock."""

from __future__ import annotations

import contextlib
import importlib.metadata
import statistics
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from evenly import targets
from evenly.layouts import csr
from evenly.timing.calls import CallClock
from evenly.version import __version__

from .case import Case
from .contender import CALL, Contender, LeftOut
from .peers import cpu_peers
from .place import Live, Rates

COPIED = 1 << 28  # bytes, more than any cache holds


class CpuBench:
    """The CPU, with all the threads that Numba uses."""

    target = "cpu"
    clock = CALL

    def active(self) -> AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def machine(self) -> tuple[str, str]:
        versions = versions_of("numpy", "scipy", "numba", "sparse_dot_mkl")
        return targets.get(self.target).device(), versions

    def rates(self) -> Rates:
        source, target = np.ones(COPIED, np.uint8), np.empty(COPIED, np.uint8)
        took = []
        for _ in range(5):
            start = time.perf_counter()
            np.copyto(target, source)
            took.append(time.perf_counter() - start)
        return Rates(2 * COPIED / statistics.median(took), None)

    def load(self, case: Case) -> Live:
        matrix = case.matrix
        x, y = case.sets[-1][1].copy(), np.empty(matrix.shape[0], matrix.dtype)
        return Live(csr(matrix), matrix.indptr, matrix.indices, matrix.data, x, y, case.sets)

    def rewrite(self, live: Live, turn: int) -> None:
        values, x = live.sets[turn % len(live.sets)]
        np.copyto(live.values, values)
        np.copyto(live.x, x)

    def peers(self, live: Live, by_hand: bool) -> Iterator[Contender | LeftOut]:
        return cpu_peers(live)

    def clock_of(self, contender: Contender) -> CallClock:
        return CallClock(contender.launch)


def versions_of(*packages: str) -> str:
    """Return the versions of the packages that are installed: "evenly 0.1.0, numpy 2.3.1"."""
    found = [f"evenly {__version__}"]
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{package} {importlib.metadata.version(package)}")
    return ", ".join(found)
