"""Where Numba is not there, as in a browser (Pyodide), target `python` runs with nothing but NumPy; `cpu` says what it lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HIDDEN = ("numba", "llvmlite", "scipy", "typer", "rich", "cuda", "cupy", "torch", "networkx", "pwd")

PROGRAM = """
import sys

for name in {hidden}:
    sys.modules[name] = None  # an import of it fails

import numpy as np

import evenly as ev
from evenly.schedules import TABLE


@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


offsets, columns = np.array([0, 2, 2, 5]), np.array([0, 1, 0, 1, 2])
A = ev.csr((np.arange(1.0, 6.0), columns, offsets), shape=(3, 3))
x = np.array([1.0, 10.0, 100.0])
for name in [*TABLE, "auto"]:
    y = np.full(3, np.nan)
    spmv[name].on("python")(A, x, y)
    plan = spmv.plan(A, x, y, schedule=name, target="python")
    plan.trace(sys.argv[1])
    print(name, y.tolist(), f"{{plan.profile(against=[]).chosen.idle:.3f}}"[0])
try:
    spmv(A, x, y)
except ev.UnavailableError as error:
    print(error)
"""


def test_target_python_needs_nothing_but_numpy(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(hidden=HIDDEN))
    done = subprocess.run(
        [sys.executable, program, tmp_path / "trace.json"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    *runs, error = done.stdout.splitlines()
    from evenly.schedules import TABLE

    assert runs == [f"{name} [21.0, 0.0, 543.0] 0" for name in [*TABLE, "auto"]]
    assert error == (
        "target 'cpu': Numba is not installed; "
        "to get it: pip install numba; target='python' needs nothing but NumPy"
    )


def test_a_browser_does_not_install_numba() -> None:
    """Pyodide's platform is emscripten, for which Numba has no wheels."""
    import tomllib

    from packaging.requirements import Requirement

    held = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    needed = {r.name: r.marker for r in map(Requirement, held)}
    assert needed["numba"] is not None
    assert not needed["numba"].evaluate({"sys_platform": "emscripten"})
    assert needed["numba"].evaluate({"sys_platform": "linux"})
