"""What target `cuda` would launch, emitted without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.arguments import Binding, is_wide, spec_of
from evenly.language.phases import cut
from evenly.runtime.kernel import layouts_of
from evenly.targets.cuda.emit.code import KernelCode
from evenly.targets.cuda.emit.kernels import emit
from evenly.targets.cuda.emit.unit import Unit
from tests.batteries import matrices
from tests.kernels import Case, laid_out


def emitted(kernel: Any, args: tuple[Any, ...], schedule: Any) -> list[KernelCode]:
    """Every kernel of `kernel` for arguments in CPU memory, the partition kernels too."""
    named = kernel.named(args)
    specs = tuple(spec_of(value, name) for name, value in named.items())
    phases = cut(kernel.program(specs), whole=schedule.owns_tiles)
    layouts = layouts_of(dict(zip(named, specs, strict=True)))
    unit = Unit(phases.name, schedule, layouts, phases.outputs, is_wide(Binding(named)))
    return [k for code in emit(phases, unit) for k in code.all_kernels]


def codes(
    case: Case, schedule: Any, layout: str = "csr", dtype: type = np.float32
) -> list[KernelCode]:
    """The same of a case, on a matrix of rows of very different lengths."""
    matrix = matrices(dtype)["power law"]
    args = case.arguments(laid_out(case, matrix, layout), matrix, dtype)
    return emitted(case.kernel, args, schedule)
