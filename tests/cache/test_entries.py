"""A file of the cache is read as it was written, or not at all."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from evenly.cache import borrowed, directory, entries, read_file, write_file
from tests.cache import damage

CONTENT = bytes(range(256)) * 4
# Whatever a damaged file holds, root may read it.
HARMLESS = {damage.unreadable} if hasattr(os, "geteuid") and os.geteuid() == 0 else set()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_was_written_is_read() -> None:
    assert read_file("cpu", "a") is None
    assert write_file("cpu", "a", CONTENT)
    assert read_file("cpu", "a") == CONTENT
    assert write_file("cpu", "a", b"")
    assert read_file("cpu", "a") == b""


@pytest.mark.parametrize("way", damage.WAYS, ids=lambda way: way.__name__)
def test_a_damaged_file_is_thrown_away_and_made_anew(way) -> None:
    for seed in range(20):
        write_file("cpu", "another", CONTENT[::-1])
        write_file("cpu", "a", CONTENT)
        path = directory("cpu") / "a"
        way(path, random.Random(seed))
        if way in HARMLESS:
            assert read_file("cpu", "a") == CONTENT
        else:
            assert read_file("cpu", "a") is None
            assert way is damage.unreadable or not os.path.lexists(path)
        assert write_file("cpu", "a", CONTENT)
        assert read_file("cpu", "a") == CONTENT


def test_a_file_under_another_name_is_none() -> None:
    write_file("cpu", "a", CONTENT)
    (directory("cpu") / "a").rename(directory("cpu") / "b")
    assert read_file("cpu", "b") is None


def test_the_cache_is_made_for_the_user_alone(cache: Path) -> None:
    old = os.umask(0)
    try:
        write_file("cpu", "a", CONTENT)
    finally:
        os.umask(old)
    folders = [cache, *(p for p in cache.rglob("*") if p.is_dir())]
    assert {p.stat().st_mode & 0o777 for p in folders} == {0o700}
    assert (directory("cpu") / "a").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("where", ["/dev/null/cache", "/proc/1/cache", "x" * 300])
def test_a_cache_that_cannot_be_written(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENLY_CACHE_DIR", where)
    assert not write_file("cpu", "a", CONTENT)
    assert read_file("cpu", "a") is None
    with borrowed("cpu", CONTENT, ".so") as path:
        assert path.read_bytes() == CONTENT
    assert not path.exists()


def test_a_user_without_a_home() -> None:
    program = (
        "from evenly.cache import *; print(write_file('cpu', 'a', b'b'), read_file('cpu', 'a'))"
    )
    known = ("HOME", "EVENLY_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {key: value for key, value in os.environ.items() if key not in known}
    homeless = "import os, pwd; pwd.getpwuid = lambda uid: {}[uid]; "
    done = subprocess.run(
        [sys.executable, "-c", homeless + program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("False None\n", "")


def test_a_full_disk(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not write_file("cpu", "a", CONTENT)
    assert not list(directory("cpu").iterdir())


def test_reading_says_that_a_file_was_used() -> None:
    write_file("cpu", "a", CONTENT)
    path = directory("cpu") / "a"
    os.utime(path, (1e9, 1e9))
    read_file("cpu", "a")
    assert path.stat().st_mtime > 1e9 + entries.HOUR
