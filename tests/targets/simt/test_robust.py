"""Hand-written programs in unusual circumstances: shared memory, Python threads, Ctrl-C, caches that cannot be written."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenly as ev

SOURCE = """
// EV_KERNEL(64) left_out(int* x) { }
/* EV_KERNEL(64) left_out_too(int* x) { } */
EV_KERNEL(64) shift(const int* x, int* y /* (where to) */) {
  const int t = ev::thread_rank();
  y[t] = x[t] + 1;
}
EV_KERNEL(64) crossed(const int* x, int* y) {
  const int t = ev::thread_rank();
  y[t] = x[63 - t];
}
EV_KERNEL(64) tries(const int* flag, int* seen, int times) {
  seen[ev::block_rank()] = 0;
  for (int i = 0; i < times && !ev::atomic_load(flag); ++i) {}
  seen[ev::block_rank()] = 1;
}
EV_KERNEL(256) rounds(int* y, int times) {
  for (int i = 0; i < times; ++i) {
    ev::atomic_add(y + ev::thread_rank(), 1);
    ev::barrier();
  }
}
EV_KERNEL(64) plain_for_ever(int* y) {
  for (unsigned i = 0;; ++i) y[i % 64] = (int)i;
}
EV_KERNEL(64) adds(int* y) {
  for (int i = 0; i < 7; ++i) ev::atomic_add(y, 1);
}
EV_KERNEL(64) takes(double d) {}
"""


@pytest.fixture(scope="module")
def program() -> ev.SimtProgram:
    return ev.SimtProgram(SOURCE)


def zeros(n: int) -> np.ndarray[Any, Any]:
    return np.zeros(n, np.int32)


def test_kernels_in_comments_are_none(program: ev.SimtProgram) -> None:
    assert "shift" in program.kernels
    assert not any(name.startswith("left_out") for name in program.kernels)


# ---- memory that two parameters share --------------------------------------------------------
def test_an_array_that_is_read_and_written(program: ev.SimtProgram) -> None:
    x = zeros(64)
    program.launch("shift", 1, 64, x, x)
    assert (x == 1).all()


def test_a_race_between_two_names_of_an_array(program: ev.SimtProgram) -> None:
    x = zeros(64)
    with pytest.raises(ev.SimtError, match="data race on array x"):
        program.launch("crossed", 1, 64, x, x)


def test_exploring_an_array_that_is_read_and_written(program: ev.SimtProgram) -> None:
    x = zeros(1)
    (outcome,) = program.explore("shift", 1, 1, x, x).outcomes
    assert [a.tolist() for a in outcome.arrays] == [[1]]
    assert x[0] == 0


def test_arrays_that_overlap_in_part(program: ev.SimtProgram) -> None:
    x = zeros(96)
    with pytest.raises(ev.InputError, match="y: expected memory that is that of x, or apart"):
        program.launch("shift", 1, 64, x[:64], x[32:])


def test_neighbours_and_nothing_do_not_overlap(program: ev.SimtProgram) -> None:
    x = zeros(128)
    program.launch("shift", 1, 64, x[:64], x[64:])
    with pytest.raises(ev.SimtError) as caught:
        program.launch("shift", 1, 64, x, x[32:32])
    assert caught.value.kind == "bounds"


# ---- what is refused -------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "grid", "argument", "options"),
    [
        ("takes", 1, 10**400, {}),
        (["takes"], 1, 1.0, {}),
        ("takes", (2**31, 1), 1.0, {}),
        ("takes", (1, 2**16), 1.0, {}),
        ("takes", 1, 1.0, {"races": "no"}),
    ],
)
def test_refused(
    program: ev.SimtProgram, kernel: Any, grid: Any, argument: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(ev.InputError):
        program.launch(kernel, grid, 1, argument, **options)


def test_a_source_that_is_no_text() -> None:
    with pytest.raises(ev.InputError, match="source: expected CUDA C"):
        ev.SimtProgram(3)  # type: ignore[arg-type]


def test_more_blocks_than_memory_could_list(program: ev.SimtProgram) -> None:
    x = zeros(1)
    with pytest.raises(ev.SimtError, match="data race"):
        program.launch("shift", (2**31 - 1, 2**16 - 1), 1, x, x)


# ---- time --------------------------------------------------------------------------------------
def test_trying_for_long_is_no_deadlock(program: ev.SimtProgram) -> None:
    seen = zeros(2)
    program.launch("tries", 2, 1, zeros(1), seen, 20_000)
    assert seen.tolist() == [1, 1]


def test_trying_for_ever_is_no_progress(program: ev.SimtProgram) -> None:
    with pytest.raises(ev.SimtError) as caught:
        program.launch("tries", 2, 1, zeros(1), zeros(2), 2**31 - 1, steps=2**21)
    assert caught.value.kind == "progress"


@pytest.mark.parametrize("other", ["", "// another text, another library"])
def test_two_threads_of_python(program: ev.SimtProgram, other: str) -> None:
    results: dict[int, np.ndarray[Any, Any]] = {}

    def run(which: int, programs: ev.SimtProgram) -> None:
        y = zeros(256)
        programs.launch("rounds", 4, 256, y, 20, seed=which)
        results[which] = y

    second = ev.SimtProgram(SOURCE + other)
    threads = [threading.Thread(target=run, args=a) for a in enumerate((program, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0, 1]
    assert all((y == 80).all() for y in results.values())


def interrupted(run: Any) -> float:
    """Seconds from Ctrl-C until a run ends."""
    at: list[float] = []
    # A shell starts jobs in the background with this signal ignored, and Python leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press() -> None:
        at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
    finally:
        signal.signal(signal.SIGINT, before)
    return time.monotonic() - at[0]


def test_control_c(program: ev.SimtProgram) -> None:
    y = zeros(64)
    assert interrupted(lambda: program.launch("plain_for_ever", 1, 1, y, races=False)) < 2
    assert interrupted(lambda: program.explore("adds", 3, 1, y, limit=2**40)) < 2
    y[:] = 0
    program.launch("adds", 1, 1, y)
    assert y[0] == 7


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux tells")
def test_programs_that_do_not_run_keep_no_stacks() -> None:
    """Libraries stay loaded; the stacks and the shared memory of 16 blocks of 256 threads take some 20 MB."""
    programs = [ev.SimtProgram(SOURCE + f"// number {i}") for i in range(4)]
    y, held = zeros(256), []
    for program in programs:
        program.launch("rounds", 16, 256, y, 1)
        held.append(int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE)
    assert held[-1] - held[0] < 20e6


# ---- the cache -----------------------------------------------------------------------------------
def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """The runtime, which takes longest, is compiled once for both programs; nothing is left behind."""
    (tmp_path / "file").touch()
    (tmp_path / "left").mkdir()
    script = """
import evenly as ev
from evenly.targets.simt import compiler
runs, run = [], compiler._run
compiler.RUNTIME_FLAGS = "-O0", "-g0"  # in half of the time
compiler._run = lambda arguments, what: (runs.append(what), run(arguments, what))
for i in range(2):
    ev.SimtProgram(f"EV_KERNEL(32) k(int* y) {{ y[0] = {i}; }}")
print(runs.count("the runtime"))
"""
    places = {"EVENLY_CACHE_DIR": str(tmp_path / "file" / "no"), "TMPDIR": str(tmp_path / "left")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert not list((tmp_path / "left").iterdir())
