"""The cache keeps to its limit: the files that were used longest ago are removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from evenly.cache import directory, entries, limit, write_file
from evenly.errors import InputError

NAMES = "abcdefgh"
SIZE = 1000 + entries.HEAD.size


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(limit, "_since_look", None)
    monkeypatch.delenv(limit.VARIABLE, raising=False)
    return tmp_path / "cache"


def fill() -> None:
    """Write a file for each name; later names are used later."""
    for i, name in enumerate(NAMES):
        write_file(limit.KINDS[i % 3], name, bytes(1000))
        os.utime(directory(limit.KINDS[i % 3]) / name, (1e9 + i, 1e9 + i))


def names() -> str:
    return "".join(sorted(os.path.basename(entry.path) for entry in limit.entries()))


def test_what_was_used_longest_ago_goes() -> None:
    fill()
    assert names() == NAMES
    assert limit.trim(3 * SIZE) == (5, 5 * SIZE)
    assert names() == "fgh"
    assert limit.trim(3 * SIZE) == (0, 0)
    assert limit.trim(3 * SIZE - 1) == (1, SIZE)
    assert limit.trim(0) == (2, 2 * SIZE)


def test_what_was_measured_stays(cache: Path) -> None:
    fill()
    winners = directory("tuning") / "winners.jsonl"
    winners.parent.mkdir()
    winners.write_text("measured")
    mine = cache / "notes" / "cpu"
    mine.mkdir(parents=True)
    (mine / "mine").touch()
    limit.trim(0)
    assert winners.exists()
    assert (mine / "mine").exists()


def test_other_versions_count_and_links_do_not_lead_out(cache: Path, tmp_path: Path) -> None:
    (cache / "0.0.1" / "cpu" / "__pycache__").mkdir(parents=True)
    (cache / "0.0.1" / "cpu" / "__pycache__" / "old").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").touch()
    (cache / "0.0.1" / "simt").symlink_to(tmp_path / "mine")
    (cache / "0.0.2").symlink_to(tmp_path)
    assert names() == "old"
    limit.trim(0)
    assert (tmp_path / "mine" / "precious").exists()
    assert names() == "old"  # of no size: there is not too much


def test_what_somebody_began_to_write() -> None:
    write_file("cpu", "a", bytes(1000))
    new, old = directory("cpu") / ".b.x", directory("cpu") / ".c.x"
    new.touch()
    old.touch()
    os.utime(old, (1e9, 1e9))
    limit.trim(10**9)
    assert names() == ".b.xa"


def test_a_process_looks_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(limit, "trim", looks.append)
    monkeypatch.setenv(limit.VARIABLE, "160000")
    for i in range(100):
        write_file("cpu", f"{i}", bytes(1000))
    assert (
        looks == [160000] * 10
    )  # at the first, and after each of ten that make up more than a sixteenth


@pytest.mark.parametrize(
    ("most", "left"), [("3300", "gh"), ("0", NAMES), ("", NAMES), ("1GB", NAMES)]
)
def test_the_limit_is_kept(most: str, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limit.VARIABLE, "0")
    fill()
    monkeypatch.setenv(limit.VARIABLE, most)
    write_file("cpu", "i", bytes(1000))
    assert names() == left + "i"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1000", 1000),
        ("2GB", 2 * 10**9),
        ("1.5 gib", 3 * 2**29),
        ("500MB", 5 * 10**8),
        ("500m", 5 * 10**8),
        (".5k", 500),
        (" 1 TB ", 10**12),
        ("1e3", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1 apple", None),
        ("GB", None),
        ("1iB", None),
        ("9" * 400, None),
        ("\u0661", None),
    ],
)
def test_sizes(text: str, size: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limit.VARIABLE, text)
    if size is not None:
        assert limit.limit() == size
        return
    with pytest.raises(InputError, match="EVENLY_CACHE_LIMIT: expected a size such as 2GB"):
        limit.limit()


def test_a_look_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = directory("cpu")
    folder.mkdir(parents=True)
    for i in range(2000):
        (folder / f"{i}").touch()
    start = time.perf_counter()
    limit.trim(10**9)
    assert time.perf_counter() - start < 1
