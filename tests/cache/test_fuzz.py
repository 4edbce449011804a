"""Every file of a filled cache is damaged. A new process still gives the right answer, and repairs the cache."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.cache import damage

PROGRAM = textwrap.dedent("""
    import sys
    import numpy as np
    import evenly as ev

    if len(sys.argv) > 2:  # a full disk: no file of more bytes can be written
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))

    @ev.kernel
    def twice(A, y):
        for row in A.tiles():
            y[row] = 2 * sum(A.value(k) for k in A.atoms(row))

    A = ev.csr((np.ones(3, np.float32), np.zeros(3, np.int32), np.array([0, 1, 3])), shape=(2, 1))
    y = np.zeros(2, np.float32)
    for _ in range(3):  # the second call is known again by native code
        y[:] = 0
        twice[ev.MergePath()].on(sys.argv[1])(A, y)
        assert y.tolist() == [2, 4]
""")


def run(cache: Path, target: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    file, left = cache.parent / "program.py", cache.parent / "left"
    file.write_text(PROGRAM)
    left.mkdir(exist_ok=True)
    environment = {**os.environ, "EVENLY_CACHE_DIR": str(cache), "TMPDIR": str(left)}
    command = [sys.executable, str(file), target, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def right(cache: Path, target: str, *arguments: str) -> None:
    done = run(cache, target, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list((cache.parent / "left").iterdir())  # nothing temporary is left


def files(cache: Path) -> list[Path]:
    return sorted(p for p in cache.rglob("*") if p.is_file())


def harmed(cache: Path, target: str, seed: int) -> None:
    """Damage every file, each in some way, and call a kernel."""
    rng = random.Random(seed)
    for path in files(cache):
        if path.exists():
            rng.choice(damage.WAYS)(path, rng)
    right(cache, target)


def test_every_file_of_the_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    right(cache, "cpu")
    made = files(cache)
    assert len(made) >= 6
    harmed(cache, "cpu", 0)
    again = set(files(cache))
    assert {p for p in made if p not in again} == set()


def test_a_full_disk(tmp_path: Path) -> None:
    right(tmp_path / "cache", "cpu", "4000")
    assert not files(tmp_path / "cache")


@pytest.mark.simt
def test_a_full_disk_for_a_compiler(tmp_path: Path) -> None:
    done = run(tmp_path / "cache", "simt", "4000")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "UnavailableError: target 'simt': no temporary file can be written" in last
    assert last.endswith("make room, or name another folder in TMPDIR")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_every_file_many_times(tmp_path: Path, seed: int) -> None:
    right(tmp_path / "cache", "cpu")
    harmed(tmp_path / "cache", "cpu", seed)


@pytest.mark.slow
@pytest.mark.simt
@pytest.mark.parametrize("seed", range(10))
def test_every_file_of_the_emulators(tmp_path: Path, seed: int) -> None:
    right(tmp_path / "cache", "simt")
    harmed(tmp_path / "cache", "simt", seed)


@pytest.mark.slow
@pytest.mark.simt
def test_what_is_loaded_is_not_mapped_from_the_cache(tmp_path: Path) -> None:
    """Otherwise, truncating a file of the cache would crash the processes that run its code."""
    program = """
import os
import numpy as np
import evenly as ev
from evenly.cache import directory

program = ev.SimtProgram("EV_KERNEL(32) k(int* y) { y[ev::thread_rank()] = 7; }")
for path in directory("simt").iterdir():
    os.truncate(path, 0)
y = np.zeros(32, np.int32)
program.launch("k", 1, 32, y)
assert (y == 7).all()
try:
    program.launch("k", 2, 32, y)
except ev.SimtError as error:
    assert "line 1" in str(error) or ":1" in str(error), error
else:
    raise AssertionError("no race")
"""
    environment = {**os.environ, "EVENLY_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
