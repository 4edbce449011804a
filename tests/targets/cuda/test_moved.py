"""Nothing of a launch depends on where arrays lie, but the arguments that are their addresses."""

from __future__ import annotations

import itertools
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.emitting import arguments, typed
from tests.kernels import CASES, SCHEDULES, Case

from evenly.arguments import Binding, is_wide
from evenly.gpus.gpu import Gpu
from evenly.interop.arrays import is_array, view
from evenly.schedules import Schedule
from evenly.targets.gpu.launching import Addresses, Program

# Each schedule with one of the cases.
PAIRS = list(zip(itertools.cycle(CASES), SCHEDULES, strict=False))


def displaced(array: np.ndarray, by: int) -> np.ndarray:
    """Return a copy that begins so many bytes behind a multiple of 512."""
    memory = np.zeros(array.nbytes + 1024, np.uint8)
    begin = -memory.ctypes.data % 512 + by
    there = memory[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    there[...] = array
    return there


def launches(case: Case, args: dict[str, Any], schedule: Schedule) -> list[Any]:
    """The launches for these arguments, with the same scratch memory each time."""
    from evenly.targets.cuda.executable import Launch

    phases, layouts = typed(case.kernel, tuple(args.values()), schedule)
    binding = Binding(args)
    program = Program(phases, schedule, layouts, is_wide(binding))
    run, made = program.run(binding, Gpu(132)), []
    for step in run.steps:
        code = step.kernel.for_arguments(binding)
        assert not code.facts  # those are not moved
        given = program.arguments(step, binding, run.scratch, Addresses(1 << 40, 1 << 41, 1 << 42))
        sizes = step.grid, (code.block, 1, 1), given
        kept: Any = (), []
        made.append(Launch(code, b"", SimpleNamespace(handle=3), *sizes, memory=kept))
    return made


@pytest.mark.parametrize(("name", "schedule"), PAIRS)
def test_moved_launches_are_those_that_are_prepared_there(
    name: str, schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cuda.bindings.driver")
    from evenly.targets.cuda import prepared

    monkeypatch.setattr(prepared, "only_one_device", lambda: True)
    case, place = CASES[name], ("device", SimpleNamespace(handle=0), threading.Lock())
    given = case.kernel.named(arguments(case))
    own = [name for name, value in given.items() if is_array(value)]
    first = launches(case, given, SCHEDULES[schedule])
    for by in (8, 64):
        there = given | {name: displaced(given[name], by) for name in own}
        anew = launches(case, there, SCHEDULES[schedule])
        addresses = tuple(view(there[name]).pointer for name in own)
        moved = prepared.Movable(first, *place, own).moved(addresses)
        assert [x.code.source for x in first] == [x.code.source for x in anew]
        for (values, _, _), item, launch in zip(moved._arguments, moved.items, anew, strict=True):
            assert bytes(values) == bytes(prepared.packed(launch.arguments)[0])
            assert item[1:7] == (*launch.grid, *launch.block)
