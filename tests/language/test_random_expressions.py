"""Random typed expressions: the reference against the typed program, executed literally."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from evenly.language import source
from evenly.language.diagnostics import LanguageError
from evenly.targets.python import RunError, run

from .building import lowered, made
from .cases.table import tiles
from .interpreter import run_program
from .random_expressions import arguments, kernels


def _agree(text: str) -> None:
    note(text)
    function = made(text)
    given = {"A": tiles(4), **arguments()}
    try:
        program = lowered(function, given, text)
    except LanguageError:
        return  # two constants whose result does not fit, a division by a literal zero
    try:
        run(function, source.fetch(function, text), given, program.meets)
    except RunError:
        return  # a division by zero, or a float without an integer: undefined elsewhere
    again: dict[str, Any] = {"A": tiles(4), **arguments()}
    run_program(program, again)
    for name in ("ob", "oi", "of", "oc"):
        np.testing.assert_array_equal(given[name], again[name], err_msg=name)


@settings(max_examples=100)
@given(text=kernels())
def test_the_reference_has_the_types_of_the_program(text: str) -> None:
    _agree(text)


@pytest.mark.slow
@settings(max_examples=5000)
@given(text=kernels(4))
def test_the_reference_has_the_types_of_the_program_at_length(text: str) -> None:
    _agree(text)
