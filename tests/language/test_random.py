"""Kernels made at random: never an internal error, and the same result in every way."""

from __future__ import annotations

import inspect
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import evenly as ev
from evenly.language import source
from evenly.language.cutting import cut, needs_whole_tiles
from evenly.language.diagnostics import LanguageError, Location
from evenly.targets.python import run

from .building import lowered, made
from .cases import CASES
from .cases.table import f32, f64, i32, rows
from .interpreter import run_phases, run_program
from .random_kernels import kernels_of_rounds, mutated, tame_kernels, wild_kernels
from .refusals import ARGUMENTS, CAPTURED

FUNCTIONS = {n: v for n, v in CAPTURED.items() if n not in ("np", "math")}


@settings(max_examples=300)
@given(text=wild_kernels(", ".join(ARGUMENTS)))
def test_nothing_but_refusals(text: str) -> None:
    """Whatever parses is lowered and cut, or refused; no other error ever comes out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            compile(text, "<kernel>", "exec")
        except SyntaxError:
            assume(False)
        function = made(text, **FUNCTIONS)
    at = _place_of_refusal(function, text)
    assert at is None or 1 <= at.column < at.end_column <= len(at.text) + 1, str(at)


def _place_of_refusal(function: Callable[..., Any], text: str) -> Location | None:
    try:
        program = lowered(function, ARGUMENTS, text)
        cut(program, whole=True)
        cut(program, whole=False)
    except LanguageError as error:
        return error.location
    return None


SOURCES = {c.name: textwrap.dedent(inspect.getsource(c.function)) for c in CASES}


@settings(max_examples=300)
@given(data=st.data())
def test_mutants_are_run_or_refused(data: st.DataObject) -> None:
    """The kernels of the table with something in them exchanged: the deeper parts of the compiler."""
    case = data.draw(st.sampled_from(CASES))
    text = data.draw(mutated(SOURCES[case.name]))
    note(text)
    seen = {**case.function.__globals__, **FUNCTIONS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            compile(text, "<kernel>", "exec")
        except SyntaxError:
            assume(False)
        function = made(text, **seen)
    arguments = case.arguments()
    try:
        program = lowered(function, arguments, text)
        phases = [
            cut(program, whole=True),
            *([] if needs_whole_tiles(program) else [cut(program, whole=False)]),
        ]
    except LanguageError:
        return
    for made_phases in phases:
        assert made_phases.name == program.name


def _arguments() -> dict[str, Any]:
    return {
        "A": rows(
            [1, -2, 3], [], [4, 0, 2, 5, 1], [7], columns=[[0, 3, 1], [], [2, 2, 0, 1, 3], [3]]
        ),
        "x": f32(1, -3, 2, 5),
        "z": i32(3, 0, -4, 7),
        "w": f64(2, 0, -1, 6),
        "n": 3,
        "y": np.zeros(4, np.float64),
        "q": np.zeros(4, np.int64),
        "out_atom": np.zeros(9, np.float64),
        "g": np.zeros(2, np.float64),
    }


@settings(max_examples=150)
@given(text=tame_kernels() | kernels_of_rounds())
def test_every_way_gives_the_same(text: str) -> None:
    note(text)
    function = made(text)
    program = lowered(function, _arguments(), text)
    reference = _arguments()
    run(function, source.fetch(function, text), reference, program.meets)
    ways: dict[str, Callable[[dict[str, Any]], None]] = {
        "program": lambda a: run_program(program, a),
        "chunks": lambda a: run_program(program, a, 2),
        "whole": lambda a: run_phases(cut(program, whole=True), a),
        "split": lambda a: run_phases(cut(program, whole=False), a, 2),
    }
    for way, execute in ways.items():
        got = _arguments()
        execute(got)
        for name in ("y", "q", "out_atom", "g"):
            np.testing.assert_array_equal(got[name], reference[name], err_msg=f"{way}: {name}")


def _on(target: str, text: str) -> None:
    note(text)
    function = made(text)
    kernel = ev.kernel(function, source=text)
    reference = _arguments()
    kernel.on("python")(*reference.values())
    for schedule in ("thread_mapped", "merge_path"):
        got = _arguments()
        kernel[schedule].on(target)(*got.values())
        for name in ("y", "q", "out_atom", "g"):
            np.testing.assert_array_equal(got[name], reference[name], err_msg=f"{schedule}: {name}")


TARGETS = pytest.mark.parametrize("target", ["cpu", pytest.param("simt", marks=pytest.mark.simt)])


@TARGETS
@settings(max_examples=8)
@given(text=tame_kernels())
def test_targets_give_the_same(target: str, text: str) -> None:
    _on(target, text)


@TARGETS
@settings(max_examples=4)
@given(text=kernels_of_rounds())
def test_targets_give_the_same_with_rounds(target: str, text: str) -> None:
    _on(target, text)


@pytest.mark.slow
@TARGETS
@settings(max_examples=100)
@given(text=tame_kernels() | kernels_of_rounds())
def test_targets_give_the_same_at_length(target: str, text: str) -> None:
    _on(target, text)
