"""The text of errors: one line with what was expected, what was given, and a hint."""

from __future__ import annotations

import doctest
import pickle

import pytest

from evenly import errors
from evenly.errors import (
    EvenlyError,
    InputError,
    InternalError,
    KernelError,
    UnavailableError,
    unknown,
)


def test_an_input_error_is_one_line():
    error = InputError(
        "A.offsets",
        expected="non-decreasing offsets",
        given="offsets[3]=5 after 7",
        hint="sort\n  them",
    )
    assert str(error) == (
        "A.offsets: expected non-decreasing offsets, got offsets[3]=5 after 7; hint: sort them"
    )
    assert (error.argument, error.given) == ("A.offsets", "offsets[3]=5 after 7")
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "x: cannot be used"),
        ({"expected": "an array"}, "x: expected an array"),
        ({"given": "None"}, "x: got None"),
        ({"hint": "leave it out"}, "x: cannot be used; hint: leave it out"),
    ],
)
def test_parts_may_lack(fields, text):
    assert str(InputError("x", **fields)) == text


def test_the_nearest_name_is_suggested():
    known = ["thread_mapped", "merge_path", "work_oriented"]
    assert str(unknown("schedule", "mergepath", known)) == (
        "schedule: expected one of merge_path, thread_mapped, work_oriented, got 'mergepath'; "
        "hint: did you mean 'merge_path'?"
    )
    assert unknown("schedule", "MERGE_PATH", known).hint == "did you mean 'merge_path'?"
    assert unknown("schedule", "zzz", known).hint == ""
    places = ["auto", "cpu", "cuda", "python", "simt"]
    meant = {
        "gpu": "cuda",
        "NVIDIA": "cuda",
        "host": "cpu",
        "emulator": "simt",
        "reference": "python",
        "cup": "cpu",
    }
    for given, name in meant.items():
        assert unknown("target", given, places).hint == f"did you mean {name!r}?"
    assert unknown("schedule", "gpu", known).hint == ""
    assert unknown("schedule", 7, []).expected == "no schedule at all"


def test_an_unavailable_error_says_how_to_get_it():
    error = UnavailableError("target 'cuda'", "no NVIDIA driver", "install one")
    assert str(error) == "target 'cuda': no NVIDIA driver; to get it: install one"
    assert str(UnavailableError("target 'cuda'")) == "target 'cuda' is not available"
    assert isinstance(error, RuntimeError)


def test_all_are_evenly_errors():
    for kind in (InputError, KernelError, UnavailableError, InternalError):
        assert issubclass(kind, EvenlyError)


@pytest.mark.parametrize(
    "error", [InputError("a", expected="b", given="c", hint="d"), UnavailableError("a", "b", "c")]
)
def test_errors_survive_pickling(error):
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(errors).failed == 0
