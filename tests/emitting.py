"""Emit what target `cuda` would launch, without a GPU, and what target `cpu` would compile, without Numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.arguments import Binding, is_wide, spec_of
from evenly.language.cutting import cut
from evenly.language.ir import Path
from evenly.language.phases import Phases
from evenly.language.schedule_code import schedule_code
from evenly.language.specs import LayoutSpec
from evenly.runtime.kernel import layouts_of
from evenly.targets.cpu import CpuTarget
from evenly.targets.gpu.emit.code import KernelCode
from evenly.targets.gpu.emit.unit import Unit
from evenly.targets.gpu.kernels import emit
from tests.batteries import matrices
from tests.kernels import Case, laid_out


def emitted(kernel: Any, args: tuple[Any, ...], schedule: Any) -> list[KernelCode]:
    """Every kernel of `kernel` for arguments in CPU memory, the partition kernels too."""
    phases, layouts = typed(kernel, args, schedule, queues=schedule.engine == "tasks")
    wide = is_wide(Binding(kernel.named(args)))
    unit = Unit(phases.name, schedule, layouts, phases.stored, wide)
    return [k for code in emit(phases, unit) for k in code.all_kernels]


def emitted_for_cpu(kernel: Any, args: tuple[Any, ...], schedule: Any) -> str:
    """The module of `kernel` under a schedule whose own methods the CPU runs: not DynamicChunks, not Lrb."""
    phases, layouts = typed(kernel, args, schedule)
    codes = {path: schedule_code(schedule, spec, path) for path, spec in layouts.items()}
    return CpuTarget().emit(phases, schedule, codes=codes).text


def typed(
    kernel: Any, args: tuple[Any, ...], schedule: Any, queues: bool = False
) -> tuple[Phases, dict[Path, LayoutSpec]]:
    """The phases of a kernel for these arguments under a schedule, and the layouts by path."""
    named = kernel.named(args)
    specs = tuple(spec_of(value, name) for name, value in named.items())
    phases = cut(kernel.program(specs), whole=schedule.owns_tiles, queues=queues)
    return phases, layouts_of(dict(zip(named, specs, strict=True)))


def codes(
    case: Case, schedule: Any, layout: str = "csr", dtype: type = np.float32
) -> list[KernelCode]:
    """The kernels emitted for a case, on a matrix of rows of very different lengths."""
    matrix = matrices(dtype)["power law"]
    args = case.arguments(laid_out(case, matrix, layout), matrix, dtype)
    return emitted(case.kernel, args, schedule)
