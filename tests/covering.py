"""Which kernels, schedules, row layouts and dtypes the tests of a target take, and the test itself.

The default run takes a covering set: every pair of (kernel, engine), (kernel, layout) and (schedule, layout) meets.
Of schedules that have an engine, a kernel meets every second. `make test-all` runs the product.
For target `cpu` it is smaller: what that compiles depends on the kind of a schedule alone.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from tests.emitting import arguments, emitted_for_cpu
from tests.kernels import CASES, ROW_LAYOUTS, SCHEDULES, inputs, laid_out, reference, tolerance

DTYPES = (np.float32, np.float64)
MOST_THREADS = 60_000  # that an emulator takes through a kernel for tiles of one matrix


@functools.cache
def of_engines() -> dict[str, list[str]]:
    """The names of the schedules of each engine."""
    found: dict[str, list[str]] = {}
    for name, schedule in SCHEDULES.items():
        found.setdefault(schedule.engine, []).append(name)
    return found


def covering() -> set[tuple[str, str, str, int]]:
    """Return a set in which kernels meet engines, schedules their kernels in turn, and all of them each layout and dtype."""
    chosen = set()
    for i, kernel in enumerate(CASES):
        for j, schedule in enumerate(SCHEDULES):
            alike = of_engines()[SCHEDULES[schedule].engine]
            if len(alike) == 1 or (i + alike.index(schedule)) % 2 == 0:
                layout = ROW_LAYOUTS[(i + j) % len(ROW_LAYOUTS)]
                chosen.add((kernel, schedule, layout, (i // 2 + j // 2) % 2))
    return chosen


@functools.cache
def kinds() -> tuple[tuple[str, ...], ...]:
    """The schedules of which target `cpu` makes the same program of SpMV; of other kernels, too (tests/test_covering.py)."""
    found: dict[Any, list[str]] = {}
    for name in SCHEDULES:
        found.setdefault(program_for_cpu("spmv", name), []).append(name)
    return tuple(map(tuple, found.values()))


def program_for_cpu(kernel: str, schedule: str) -> tuple[str, tuple[int, ...]]:
    """The text that target `cpu` compiles, and how it divides the work of each phase."""
    case = CASES[kernel]
    made = emitted_for_cpu(case.kernel, arguments(case), SCHEDULES[schedule])
    return made.text, made.rules


def covering_of_kinds() -> set[tuple[str, str, str, int]]:
    """Return a set in which each kernel meets each layout, and both meet each kind of schedule and dtype."""
    chosen, turns = set(), [itertools.cycle(names) for names in kinds()]
    for i, kernel in enumerate(CASES):
        for j, layout in enumerate(ROW_LAYOUTS):
            chosen.add((kernel, next(turns[(i + j) % len(turns)]), layout, (i + j // 2) % 2))
    return chosen


def parameters(chosen: set[tuple[str, str, str, int]]) -> list:
    """The product, for parametrize: (kernel, schedule, layout, number of the dtype). All that is not chosen is slow."""
    product = itertools.product(CASES, SCHEDULES, ROW_LAYOUTS, range(2))
    return [
        pytest.param(*p, id="-".join(map(str, p)), marks=() if p in chosen else pytest.mark.slow)
        for p in product
    ]


def one_in(every: int, *axes: Iterable[Any]) -> list:
    """The product of the axes, for parametrize: each value meets one in `every` of another axis, the others are slow."""
    product = itertools.product(*map(enumerate, axes))
    return [
        pytest.param(
            *(value for _, value in chosen),
            marks=() if sum(at for at, _ in chosen) % every == 0 else pytest.mark.slow,
        )
        for chosen in product
    ]


def gives_what_the_reference_gives(
    kernel: str, schedule: Any, layout: str, dtype: type, target: str, **options: Any
) -> None:
    """Compare a case's kernel with the reference on the whole battery."""
    case = CASES[kernel]
    bound = case.kernel[schedule].on(target, **options)
    for name, matrix in inputs(case, layout, dtype, target == "simt").items():
        args = case.arguments(laid_out(case, matrix, layout), matrix, dtype)
        if target == "simt" and threads_of_tiles(schedule, args[0]) > MOST_THREADS:
            continue
        bound(*args)
        expected = reference(case, name, matrix, layout, dtype)
        for place, wanted in zip(case.outputs, expected, strict=True):
            np.testing.assert_allclose(
                args[place], wanted, **tolerance(dtype), err_msg=f"{name}, argument {place}"
            )


def threads_of_tiles(schedule: Any, layout: Any) -> int:
    """The threads of a launch in which each tile has a team of its own: tests of hundreds show what thousands would."""
    owned = schedule.owner == "group" and not getattr(schedule, "flatten", False)
    return int(layout.num_tiles) * schedule.size if owned else 0
