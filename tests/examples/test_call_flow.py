"""docs/how_a_call_flows.md names files and functions: all of them exist, and a call passes them in the page's order."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import evenly as ev
from evenly.interop.generators import rmat
from tests.examples import pages

PAGE = pages.ROOT / "docs" / "how_a_call_flows.md"
SOURCE = Path(ev.__file__).parent
PLACE = re.compile(r"`([\w/]+\.(?:py|cuh)): ([^`]+)`")  # `runtime/plan.py: Plan.bind, Plan.check`
DEVICE = re.compile(r"^(?:template <.*> )?(?:struct (\w+)|EV_DEVICE .*?(\w+)\()", re.MULTILINE)
ROW = re.compile(r"^\| \d+ \|.*$", re.MULTILINE)


def places(text: str) -> list[tuple[str, str]]:
    """Each file that the text names, and each name in it, in order."""
    return [(file, name) for file, names in PLACE.findall(text) for name in names.split(", ")]


def defined(file: str) -> set[str]:
    """What a file defines: functions, classes, constants, and what its classes have."""
    text = (SOURCE / file).read_text()
    if file.endswith(".cuh"):
        return {struct or function for struct, function in DEVICE.findall(text)}
    return set(_members(ast.parse(text).body, ""))


def _members(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        match node:
            case ast.ClassDef(name=name, body=inner):
                yield prefix + name
                yield from _members(inner, f"{prefix}{name}.")
            case ast.FunctionDef(name=name):
                yield prefix + name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name


def section(title: str) -> str:
    """The text under a heading, up to the next one."""
    return PAGE.read_text().split(f"# {title}\n", 1)[1].split("\n#", 1)[0]


def steps(title: str) -> list[tuple[str, str]]:
    """The first place of each row of the table under a heading."""
    return [places(row)[0] for row in ROW.findall(section(title))]


@pytest.mark.parametrize("file", sorted({file for file, _ in places(PAGE.read_text())}))
def test_what_it_names_is_there(file: str) -> None:
    named = {name for where, name in places(PAGE.read_text()) if where == file}
    assert named <= defined(file)


def test_it_names_files_in_this_form_only() -> None:
    prose = PLACE.sub("", pages.FENCE.sub("", PAGE.read_text()))
    assert not re.findall(r"`[^`]*\.(?:py|cuh)\b[^`]*`", prose)


def test_a_call_passes_its_steps_in_order() -> None:
    @ev.kernel
    def never_called_before(A, x, y):
        for row in A.tiles():
            y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))

    A, x, y = ev.csr(rmat(4)), np.ones(16, np.float32), np.empty(16, np.float32)
    called: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(f"{SOURCE}/"):
            called.append((code.co_filename[len(f"{SOURCE}/") :], code.co_qualname))

    sys.setprofile(note)
    try:
        never_called_before[ev.MergePath()](A, x, y)
    finally:
        sys.setprofile(None)
    first = [called.index(step) for step in steps("On every target") + steps("On `cpu`")]
    assert first == sorted(first)
