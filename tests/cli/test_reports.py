"""`evenly info`, `schedules`, `layouts`, `--version` and the help."""

from __future__ import annotations

import os

import pytest

from evenly import __version__, targets
from evenly.cache import directory, write_file
from evenly.layouts import TABLE as LAYOUTS
from evenly.schedules import OF_TASKS
from evenly.schedules import TABLE as SCHEDULES


def test_version(evenly):
    ran = evenly("--version")
    assert (ran.status, ran.out, ran.err) == (0, f"evenly {__version__}\n", "")


@pytest.mark.parametrize("line", ["", "--help", "-h"])
def test_help(evenly, line):
    ran = evenly(*line.split())
    assert (ran.status, ran.err) == (0, "")
    for command in ("demo", "spmv", "info", "schedules", "layouts"):
        assert command in ran.out
    assert "Exit status: 0 right, 1 a result is wrong, 2 bad input." in ran.out


@pytest.mark.parametrize("command", ["demo", "spmv", "info", "schedules", "layouts"])
def test_help_of_commands(evenly, command):
    ran = evenly(command, "--help")
    assert (ran.status, ran.err) == (0, "")
    assert f"evenly {command}" in ran.out
    assert max(map(len, ran.lines)) <= 80


def test_help_names_every_option(evenly):
    out = evenly("spmv", "--help").out
    for option in ("schedule", "layout", "target", "dtype", "repeat", "csv", "validate"):
        assert f"--{option}" in out


@pytest.mark.parametrize(("command", "table"), [("schedules", SCHEDULES), ("layouts", LAYOUTS)])
def test_a_line_each(evenly, command, table):
    ran = evenly(command)
    assert (ran.status, ran.err) == (0, "")
    titles, *lines = ran.lines[: 1 + len(table)]
    assert titles.split() == ["name", "what", "it", "does", "when", "to", "use", "it", "source"]
    for (name, entry), line in zip(table.items(), lines, strict=True):
        assert line.split()[0] == name
        for text in (entry.what, entry.when, entry.source):
            assert text in line
    column = titles.index("when to use it")
    for entry, line in zip(table.values(), lines, strict=True):
        assert line[column:].startswith(entry.when)


def test_schedules_of_tasks_are_named(evenly):
    assert all(name in evenly("schedules").lines[-1] for name in OF_TASKS)


def test_info(evenly):
    ran = evenly("info")
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines[0] == f"evenly {__version__}"
    for title in ("Targets", "Devices", "Versions", "Cache"):
        assert title in ran.lines
    for name, missing in targets.available().items():
        line = next(x for x in ran.lines if x.startswith(f"  {name} "))
        assert ("works" in line) == (not missing)
    for package in ("python", "numpy", "scipy", "numba", "cuda-core", "cuda driver"):
        assert any(line.startswith(f"  {package} ") for line in ran.lines)
    assert f"  {directory()}" in ran.lines


def test_info_of_an_empty_cache(evenly, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "none"))
    ran = evenly("info")
    assert ran.lines[-1].startswith("  0 files, 0.0 MB")


def test_info_says_what_is_missing(evenly, monkeypatch):
    monkeypatch.setattr(
        targets,
        "available",
        lambda: {"cuda": "target 'cuda': no driver; to get it: buy", "cpu": "", "python": ""},
    )
    assert "  cuda    no driver; to get it: buy" in evenly("info").lines


# ---- the cache ---------------------------------------------------------------------------------------
@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "cache"))
    write_file("cpu", "a", bytes(10**6))
    write_file("simt", "b", bytes(2 * 10**6))
    return tmp_path / "cache"


def test_cache(evenly, cache, monkeypatch):
    monkeypatch.setenv("EVENLY_CACHE_LIMIT", "5MB")
    ran = evenly("cache")
    assert ran.status == 0
    assert ran.lines == [
        str(cache),
        "  cpu             1 files        1.0 MB  native functions",
        "  cubin           0 files        0.0 MB  GPU code",
        "  simt            1 files        2.0 MB  libraries of the emulator",
        "  matrices        0 files        0.0 MB  matrices of `evenly bench`",
        "  all             2 files        3.0 MB  of at most 5.0 MB (EVENLY_CACHE_LIMIT)",
    ]
    cache.chmod(0o777)
    assert evenly("cache").lines[1] == f"  not used: {cache} can be written by others"


def test_a_cache_with_an_odd_name_is_printed_as_text(evenly, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENLY_CACHE_DIR", str(tmp_path / "a\x1b[31m\nb"))
    place = f"{tmp_path}/a\\x1b[31m\\nb"
    assert evenly("cache").lines[0] == place
    assert f"  {place}" in evenly("info").lines


def test_cache_limited_and_cleared(evenly, cache, monkeypatch):
    monkeypatch.setenv("EVENLY_CACHE_LIMIT", "0")
    path = directory("cpu") / "a"
    os.utime(path, (1e9, 1e9))
    ran = evenly("cache", "--limit", "2.5 MB")
    assert ran.lines[0] == "1 files removed, 1.0 MB"
    assert "  all             1 files        2.0 MB  and no limit (EVENLY_CACHE_LIMIT)" in ran.lines
    assert evenly("cache", "--limit", "0").lines[0] == "0 files removed, 0.0 MB"  # no limit
    assert evenly("cache", "--clear").lines[0] == "1 files removed, 2.0 MB"


@pytest.mark.parametrize("given", ["2 apples", "-1", ""])
def test_cache_of_a_wrong_limit(evenly, cache, given):
    ran = evenly("cache", "--limit", given)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"evenly: --limit: expected a size such as 2GB, 500MB or 0, got {given!r}\n"
