"""Runs the kernels of fixtures/planted_*.cu, which all take the same three arrays; and mistakes in other programs."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from evenly.targets.simt.program import SimtProgram

FIXTURES = Path(__file__).parent / "fixtures"
ARRAYS = ("data", "flags", "out")
LENGTH = 1024  # of each; zeros
GAP = 256  # elements between them: an index that is off by little is nobody's memory


@functools.cache
def program(theme: str) -> SimtProgram:
    """All kernels of a file."""
    return SimtProgram((FIXTURES / f"planted_{theme}.cu").read_text())


def mistaken(source: str, right: str, wrong: str) -> SimtProgram:
    """A program with one mistake."""
    assert source.count(right) == 1
    return SimtProgram(source.replace(right, wrong))


def run(
    theme: str, kernel: str, blocks: int, threads: int, **options: Any
) -> dict[str, np.ndarray]:
    """The three arrays afterwards. Raises SimtError."""
    memory = np.zeros(len(ARRAYS) * (LENGTH + GAP), np.int32)
    arrays = {a: memory[i * (LENGTH + GAP) :][:LENGTH] for i, a in enumerate(ARRAYS)}
    program(theme).launch(kernel, blocks, threads, *arrays.values(), **options)
    return arrays
