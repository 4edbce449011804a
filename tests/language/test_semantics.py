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

TARGETS = [
    ("python", "thread_mapped"),
    ("cpu", "thread_mapped"),
    ("cpu", "group_mapped"),
    ("cpu", "merge_path"),
    pytest.param("simt", "group_mapped", marks=pytest.mark.simt),
    pytest.param("simt", "merge_path", marks=pytest.mark.simt),
]
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


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
@pytest.mark.parametrize(("target", "schedule"), TARGETS)
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
