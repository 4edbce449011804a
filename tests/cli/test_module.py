"""`python -m evenly` runs the command, and has its exit status."""

from __future__ import annotations

import subprocess
import sys


def test_the_exit_status_is_the_commands() -> None:
    run = [sys.executable, "-m", "evenly", "spmv", "no-such-file.mtx"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
