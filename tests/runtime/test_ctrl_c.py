"""Ctrl-C in the middle of tasks that never end (tests/ctrl_c.py)."""

from __future__ import annotations

import subprocess
import sys

import pytest


def seconds(*given: str) -> float:
    """Return how many seconds a call has gone on after Ctrl-C. What comes after it in the process has to be right."""
    command = [sys.executable, "-m", "tests.ctrl_c", *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    took, threads, tasks = done.stdout.split()
    assert (threads, tasks) == ("0", "127")
    return float(took)


@pytest.mark.parametrize(
    "given",
    [
        ("python", "static_list"),
        ("cpu", "static_list"),
        ("cpu", "work_stealing", "launched"),
        pytest.param(("simt", "task_pool"), marks=pytest.mark.simt),
    ],
    ids=" ".join,
)
def test_ctrl_c_ends_a_call_between_two_tasks(given: tuple[str, ...]) -> None:
    assert seconds(*given) < 1
