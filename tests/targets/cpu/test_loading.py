"""Compiled code on disk: the next process finds it, it is complete whoever writes it, and it may be missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from evenly.targets.cpu import loading

PROGRAM = """
import numpy as np
import evenly as ev
from evenly.targets.cpu import loading

@ev.kernel
def twice(A, y):
    for row in A.tiles():
        y[row] = 2 * sum(A.value(k) for k in A.atoms(row))

A = ev.csr((np.ones(3, np.float32), np.zeros(3, np.int32), np.array([0, 1, 3])), shape=(2, 1))
y = np.zeros(2, np.float32)
twice[ev.MergePath()].on("cpu")(A, y)
assert y.tolist() == [2, 4]
(module,) = loading._loaded.values()
print("found" if module.phase_0.cache_hits else "compiled")
"""


def process(folder: Path, tmp_path: Path, **environment: str) -> subprocess.Popen[str]:
    file = tmp_path / "program.py"
    if not file.exists():  # another process may be reading it
        file.write_text(PROGRAM)
    space = {**os.environ, "EVENLY_CACHE_DIR": str(folder), **environment}
    return subprocess.Popen(
        [sys.executable, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=space,
    )


def answer(child: subprocess.Popen[str]) -> str:
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    return out.strip()


def test_a_second_process_does_not_compile(tmp_path: Path) -> None:
    assert answer(process(tmp_path / "cache", tmp_path)) == "compiled"
    assert answer(process(tmp_path / "cache", tmp_path)) == "found"


def test_processes_that_start_together(tmp_path: Path) -> None:
    children = [process(tmp_path / "cache", tmp_path) for _ in range(3)]
    assert {answer(c) for c in children} <= {"compiled", "found"}
    assert not list((tmp_path / "cache").rglob(".*"))  # nothing temporary is left
    assert answer(process(tmp_path / "cache", tmp_path)) == "found"


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("no folder")
    assert answer(process(blocked / "cache", tmp_path)) == "compiled"


def test_the_same_text_is_loaded_once() -> None:
    assert loading.load("a = 1\n") is loading.load("a = 1\n")


def test_importing_evenly_does_not_import_numba() -> None:
    code = "import sys, evenly, evenly.targets.cpu; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
