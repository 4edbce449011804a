"""Compile a kernel to an executable of target `cpu`, with a given number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tests.language.building import lowered

from evenly.arguments import Binding
from evenly.arguments import spec_of as runtime_spec
from evenly.language.cutting import cut
from evenly.language.specs import LayoutSpec
from evenly.layouts.csr import Csr
from evenly.targets.cpu import CpuExecutable, CpuTarget

WORKERS = (1, 2, 3, 7)


def compiled(
    function: Callable[..., Any], arguments: dict[str, Any], schedule: Any, debug: bool = False
) -> CpuExecutable:
    """The executable of a kernel (or of its function) for these arguments."""
    phases = cut(lowered(getattr(function, "function", function), arguments), schedule.owns_tiles)
    specs = {(name,): runtime_spec(value, name) for name, value in arguments.items()}
    layouts = {path: spec for path, spec in specs.items() if isinstance(spec, LayoutSpec)}
    return CpuTarget().compile(phases, schedule, layouts, False, debug)


def run(executable: CpuExecutable, arguments: dict[str, Any], workers: int | None = None) -> None:
    executable.run(Binding(arguments), workers)


def csr_of(offsets: np.ndarray, dtype: Any = np.float32, columns: int = 50, seed: int = 0) -> Csr:
    """A matrix of small integers with these offsets."""
    rng = np.random.default_rng(seed)
    n = int(offsets[-1])
    indices = rng.integers(0, columns, n).astype(np.int32)
    return Csr(offsets.astype(np.int32), indices, rng.integers(-4, 5, n).astype(dtype), columns)


def tiles_of(A: Csr) -> Iterator[tuple[int, slice]]:
    """Each row, with the range of its atoms."""
    for row in range(A.num_tiles):
        yield row, slice(int(A.offsets[row]), int(A.offsets[row + 1]))
