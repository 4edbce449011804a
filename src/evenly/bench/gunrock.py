"""Gunrock's searches, where somebody has built them: its programs `bfs` and `sssp` are run on a file.

They are those of examples/algorithms in github.com/gunrock/gunrock, which CMake puts into `bin`:

    bfs --market FILE --src SOURCE --num_runs RUNS

reads a Matrix Market file, and prints `GPU Elapsed Time : 1.234 (ms)`, the time of the last run, by events on the GPU.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import scipy.io

from evenly.errors import InputError

NAME = "Gunrock"
LINE = re.compile(
    r"^GPU Elapsed Time\s*:\s*([0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)\s*\(ms\)\s*$", re.MULTILINE
)
RUNS = 10  # of a program


class Gunrock:
    """The programs in a folder. Raises InputError unless they are there."""

    def __init__(self, folder: str, algorithms: list[str]) -> None:
        self.folder = Path(folder)
        for name in algorithms:
            if not (self.folder / name).is_file():
                expected = f"a folder with Gunrock's program {name}"
                raise InputError("--gunrock", expected=expected, given=folder)

    def us(self, name: str, matrix: Any, start: int) -> float:
        """Return the microseconds of a search from `start`. Raises InputError if the program prints none."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graph.mtx"
            scipy.io.mmwrite(file, matrix.tocoo(), symmetry="general")
            given = "--market", str(file), "--src", str(start), "--num_runs", str(RUNS)
            program = (self.folder / name).resolve()
            ran = subprocess.run([program, *given], capture_output=True, text=True, check=False)
        found = LINE.findall(ran.stdout)
        if not found:
            last = (ran.stderr or ran.stdout).strip().splitlines()[-1:] or ["nothing"]
            expected = f"the line 'GPU Elapsed Time : ... (ms)' of {name}"
            raise InputError("--gunrock", expected=expected, given=f"status {ran.returncode}, {last[0]}")  # fmt: skip
        return float(found[-1]) * 1000
