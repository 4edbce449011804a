"""Kernels for what the host knows of their arguments, as `cuda` compiles them: code that the others leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.batteries import matrices
from tests.dense import CASES

import evenly as ev
from evenly.targets.gpu.emit.code import KernelCode
from evenly.targets.simt import source
from evenly.targets.simt.executable import SimtExecutable


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What was known in each run, of kernels that ask."""
    found: list[int] = []
    bindings: list[Any] = []
    text, execute = source.program_text, SimtExecutable._execute

    def program_text(kernels: Sequence[KernelCode]) -> str:
        made = [k.for_arguments(bindings[0]) if bindings and k.facts else k for k in kernels]
        found.extend(k.known for k in made if bindings and k.facts)
        return text([replace(k, source=f"{k.source}\n#undef EV_KNOWN\n") for k in made])

    def _execute(self: Any, steps: Any, binding: Any, *rest: Any) -> None:
        bindings[:] = [binding]
        self._compiled.clear()
        execute(self, steps, binding, *rest)
        bindings.clear()

    monkeypatch.setattr(source, "program_text", program_text)
    monkeypatch.setattr(SimtExecutable, "_execute", _execute)
    return found


@pytest.mark.parametrize(("case", "schedule", "widths"), [
    ("spmm", ev.GroupMapped(8, items=4, lanes=8, vector=4), (32, 31)),
    ("spmm", ev.MergePath(64, 2, lanes=4, vector=6), (46, 45)),
    ("sddmm", ev.GroupMapped(8, items=4, lanes=8, vector=4), (32, 30)),
    ("sddmm", ev.Lrb(64, lanes=8, thread=2, vector=6), (47,)),
    ("keyed", ev.GroupMapped(8, items=4, lanes=8, vector=4), (8,)),
])  # fmt: skip
def test_code_for_what_the_host_knows(
    case: str, schedule: Any, widths: tuple[int, ...], known: list[int]
) -> None:
    kernel, made = CASES[case].kernel, CASES[case].arguments
    matrix, kinds = matrices(np.float32)["empty in the middle"], []
    for width in widths:
        given, wanted = (made(ev.csr(matrix), matrix, width, np.float32) for _ in range(2))
        kernel.on("python")(*wanted)
        kernel[schedule].on("simt", seed=width)(*given)
        kinds.append(max(known))
        known.clear()
        for i in CASES[case].outputs:
            np.testing.assert_array_equal(given[i], wanted[i], err_msg=str(width))
    assert all(kinds) and len(set(kinds)) == len(widths), kinds
