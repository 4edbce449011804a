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
from evenly.targets.cpu import CpuTarget, Emitted
from evenly.targets.gpu.emit.code import KernelCode
from evenly.targets.gpu.emit.unit import Unit
from evenly.targets.gpu.engines import engine_of
from evenly.targets.gpu.kernels import emit
from tests.batteries import matrices
from tests.kernels import Case, laid_out


def emitted(kernel: Any, args: tuple[Any, ...], schedule: Any) -> list[KernelCode]:
    """Every kernel of `kernel` for arguments in CPU memory, the partition kernels too."""
    phases, layouts = typed(kernel, args, schedule, queues=schedule.engine == "tasks")
    wide = is_wide(Binding(kernel.named(args)))
    unit = Unit(phases.name, schedule, layouts, phases.stored, wide)
    return [k for code in emit(phases, unit) for k in code.all_kernels]


def emitted_for_cpu(kernel: Any, args: tuple[Any, ...], schedule: Any) -> Emitted:
    """What target `cpu` compiles of `kernel` under a schedule."""
    phases, layouts = typed(kernel, args, schedule)
    own = layouts if engine_of(schedule).on_cpu == "methods" else {}
    codes = {path: schedule_code(schedule, spec, path) for path, spec in own.items()}
    return CpuTarget().emit(phases, schedule, codes=codes)


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
    return emitted(case.kernel, arguments(case, layout, dtype), schedule)


def arguments(case: Case, layout: str = "csr", dtype: type = np.float32) -> tuple[Any, ...]:
    """The arguments of a case on that matrix."""
    matrix = matrices(dtype)["power law"]
    return case.arguments(laid_out(case, matrix, layout), matrix, dtype)
