"""Every construct, in every way that it can be run: the table in `cases`.

`python` is the reference. `program` executes the typed program literally, `chunks` reduces
a tile's atoms in pieces, `whole` and `split` execute the phases that schedules launch.
The targets come through the public interface, each under schedules of both engines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import evenly
from evenly.language import source
from evenly.language.cutting import cut, needs_whole_tiles
from evenly.language.diagnostics import LanguageError
from evenly.targets.python import run

from .building import lowered
from .cases import CASES, Case
from .interpreter import run_phases, run_program

TARGETS = {
    "python": ("thread_mapped",),
    "cpu": ("thread_mapped", "group_mapped", "merge_path"),
    "simt": ("group_mapped", "merge_path"),
}
SPLITS = ("merge_path", "work_oriented", "nonzero_split")


def _python(case: Case, arguments: dict[str, Any]) -> None:
    meets = lowered(case.function, arguments).meets
    run(case.function, source.fetch(case.function), arguments, meets)


def _program(case: Case, arguments: dict[str, Any]) -> None:
    run_program(lowered(case.function, arguments), arguments)


def _chunks(case: Case, arguments: dict[str, Any]) -> None:
    run_program(lowered(case.function, arguments), arguments, chunk=2)


def _whole(case: Case, arguments: dict[str, Any]) -> None:
    run_phases(cut(lowered(case.function, arguments), whole=True), arguments, chunk=1)


def _split(case: Case, arguments: dict[str, Any]) -> None:
    if case.owned_only:
        pytest.skip("for schedules that own whole tiles")
    run_phases(cut(lowered(case.function, arguments), whole=False), arguments, chunk=2)


WAYS: dict[str, Callable[[Case, dict[str, Any]], None]] = {
    "python": _python,
    "program": _program,
    "chunks": _chunks,
    "whole": _whole,
    "split": _split,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_construct(case: Case, way: str) -> None:
    arguments = case.arguments()
    WAYS[way](case, arguments)
    case.check(arguments)


def on_targets() -> list:
    """Every case on every target, and under both engines: in turn, `cpu` takes one and `simt` the other.

    `make test-all` takes all schedules on both.
    """
    found = []
    for i, case in enumerate(CASES):
        owned, split = ("thread_mapped", "group_mapped")[i // 2 % 2], "merge_path"
        on_cpu, on_simt = (owned, split) if i % 2 else (split, "group_mapped")
        if case.owned_only:
            on_cpu, on_simt = owned, "group_mapped"
        usual = {("python", "thread_mapped"), ("cpu", on_cpu), ("simt", on_simt)}
        for target, schedules in TARGETS.items():
            for schedule in schedules:
                marks = [pytest.mark.simt] if target == "simt" else []
                if (target, schedule) not in usual:
                    marks.append(pytest.mark.slow)
                name = f"{target}-{schedule}-{case.name}"
                found.append(pytest.param(case, target, schedule, id=name, marks=marks))
    return found


@pytest.mark.parametrize(("case", "target", "schedule"), on_targets())
def test_construct_on_a_target(case: Case, target: str, schedule: str) -> None:
    if case.owned_only and schedule in SPLITS:
        pytest.skip("for schedules that own whole tiles")
    arguments = case.arguments()
    evenly.kernel(case.function)[schedule].on(target)(*arguments.values())
    case.check(arguments)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_which_kernels_need_whole_tiles(case: Case) -> None:
    program = lowered(case.function, case.arguments())
    assert (needs_whole_tiles(program) is not None) == case.owned_only
    if case.owned_only:
        with pytest.raises(LanguageError, match="under a schedule that splits tiles") as caught:
            cut(program, whole=False)
        assert caught.value.location.function == case.name
        assert "ThreadMapped" in caught.value.hint
