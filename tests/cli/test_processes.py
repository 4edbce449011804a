"""The installed command, as processes: statuses, streams, start-up."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest


def run(*arguments: object, **more) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "evenly.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **more)


def test_right(small):
    ran = run("spmv", small, "--schedule", "merge_path", "--validate")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "Errors: 0"


def test_bad_input(tmp_path):
    ran = run("spmv", tmp_path / "missing.mtx")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"evenly: {tmp_path}/missing.mtx: ")
    assert ran.stderr.count("\n") == 1


def test_an_error_from_a_broken_installation_is_one_line(small):
    """So is an error while the commands are imported."""
    code = "import sys; sys.modules['typer'] = None; from evenly.cli import main; sys.exit(main(['info']))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 3
    assert ran.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="a shell with pipes")
def test_a_closed_pipe_is_quiet():
    command = f"'{sys.executable}' -m evenly.cli layouts | true"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert ran.stderr == ""


def test_an_ascii_terminal():
    ran = run("demo", "--scale", 4, "--repeat", 1, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert ran.returncode == 0, ran.stderr


def test_start_up_imports_little():
    """Numba, parts of SciPy and CUDA are imported only by the commands that need them."""
    code = (
        "import sys; from evenly.cli import main; main(['--version']); "
        "print(sorted(m for m in ('numba', 'cuda', 'scipy.io', 'rich.table') if m in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_demo_is_quick_with_a_cold_cache(tmp_path):
    start = time.perf_counter()
    ran = run("demo", "--target", "cpu", env=os.environ | {"EVENLY_CACHE_DIR": str(tmp_path)})
    assert ran.returncode == 0, ran.stderr
    assert time.perf_counter() - start < 60
