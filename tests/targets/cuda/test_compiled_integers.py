"""Integers of every width compiled by NVRTC, without a GPU: registers stay under a ceiling, and nothing spills."""

from __future__ import annotations

import pytest
from tests.emitting import emitted
from tests.integers import COUNTED, atomics, few, hashed, reduced, reductions
from tests.kernels import SCHEDULES
from tests.language.building import made
from tests.language.integer_expressions import LARGE, ROWS, arguments, kernel_text
from tests.language.test_typed_expressions import Rows

import evenly as ev
from evenly.targets.cuda import compile as compiling

pytest.importorskip("cuda.core")


@pytest.mark.parametrize(("schedule", "layout", "t"), few(5)[::2])
def test_reductions_compile_within_the_ceiling(schedule: str, layout: str, t: str) -> None:
    for code in emitted(reduced, reductions(layout, t), SCHEDULES[schedule]):
        found = compiling.resources(code.source, code.name, "sm_90")
        assert found["code"] > 0
        assert found["registers"] <= 128, code.name
        assert max(found["spills"], found["stack"]) <= 32, code.name


@pytest.mark.parametrize("t", COUNTED)
def test_atomics_compile(t: str) -> None:
    for code in emitted(hashed, atomics(t), ev.MergePath()):
        assert compiling.resources(code.source, code.name, "sm_80")["code"] > 0


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_expressions_compile(arch: str) -> None:
    text, _ = kernel_text(1)
    given = (Rows(ROWS), *arguments().values())
    for code in emitted(ev.kernel(made(text, LARGE=LARGE), source=text), given, ev.ThreadMapped()):
        assert compiling.resources(code.source, code.name, arch)["code"] > 0
