"""The cache does not use files that others could have written, and warns once, with the name."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

from evenly.cache import directory, places, read_file, write_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions of another kind")
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home" / "cache"
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(folder))
    assert write_file("cpu", "a", b"content")
    return folder


def refused(path: Path, why: str) -> None:
    with pytest.warns(RuntimeWarning) as said:
        assert read_file("cpu", "a") is None
    (text,) = (str(w.message) for w in said)
    assert f"{path} {why}" in text
    assert "EVENLY_CACHE_DIR" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert read_file("cpu", "a") is None


def test_without_fault() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_file("cpu", "a") == b"content"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o702, 0o1777])
@pytest.mark.parametrize("up", [0, 1, 2])
def test_a_folder_that_others_can_write(up: int, mode: int) -> None:
    folder = [directory("cpu"), *directory("cpu").parents][up]
    folder.chmod(mode)
    refused(folder, "can be written by others")
    assert not write_file("cpu", "b", b"content")


@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_a_file_that_others_can_write(mode: int) -> None:
    path = directory("cpu") / "a"
    path.chmod(mode)
    refused(path, "can be written by others")
    assert write_file("cpu", "a", b"new")
    assert read_file("cpu", "a") == b"new"


def test_a_folder_above(cache: Path) -> None:
    cache.parent.chmod(0o777)
    refused(cache.parent, "can be written by others")


def test_a_shared_folder_above_where_people_cannot_touch_what_is_anothers(cache: Path) -> None:
    cache.parent.chmod(0o1777)
    assert read_file("cpu", "a") == b"content"


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
@pytest.mark.parametrize("up", [-1, 0, 2, 3])
def test_what_is_another_users(up: int) -> None:
    path = [directory("cpu") / "a", directory("cpu"), *directory("cpu").parents][up + 1]
    os.chown(path, 12345, -1)
    refused(path, "belongs to another user")


def test_links_of_ones_own(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to("home")
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "link" / ".." / "link" / "cache"))
    assert read_file("cpu", "a") == b"content"
    cache.chmod(0o777)
    refused(cache, "can be written by others")


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
def test_a_link_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "link"
    link.symlink_to("home")
    os.chown(link, 12345, -1, follow_symlinks=False)
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(link / "cache"))
    refused(link, "belongs to another user")


def test_a_relative_place(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cache.parent)
    monkeypatch.setenv("EVENLY_CACHE_DIR", "cache")
    assert read_file("cpu", "a") == b"content"


def test_links_in_a_circle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "circle").symlink_to("circle")
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "circle"))
    assert read_file("cpu", "a") is None
    assert not write_file("cpu", "a", b"content")


def test_a_group_of_ones_own(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Where each user has a group of their own, folders above may be writable by it. evenly's own may not."""
    cache.parent.chmod(0o770)
    monkeypatch.setattr(places, "_private_group", lambda group: True)
    assert read_file("cpu", "a") == b"content"
    monkeypatch.setattr(places, "_private_group", lambda group: False)
    refused(cache.parent, "can be written by others")
