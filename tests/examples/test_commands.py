"""The commands in the README and in docs/ run as printed, from the repository's root."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from evenly import targets
from evenly.cli import main
from tests.examples import pages

PAGES = [pages.ROOT / "README.md", *sorted((pages.ROOT / "docs").glob("*.md"))]
LONG = ("benchmarks.md",)  # which measures large matrices


def commands(page: Path) -> list[list[str]]:
    """The arguments of each line that begins with `evenly`."""
    shell = [block.text for block in pages.blocks(page) if block.language == "sh"]
    lines = [line for text in shell for line in text.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("evenly ")]


def marked(page: Path) -> object:
    return pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in LONG))


@pytest.mark.parametrize("page", [marked(page) for page in PAGES if commands(page)])
def test_commands(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    winners_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Run them in a copy of the root, since they write files."""
    (tmp_path / "examples").symlink_to(pages.ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for arguments in commands(page):
        if "simt" in arguments and targets.available()["simt"]:
            continue  # no C++ compiler
        if arguments[0] == "fit":
            continue  # minutes of a GPU: tests/cli/test_fit.py runs it
        assert main(arguments) == 0, (arguments, capsys.readouterr().err)


def test_there_are_some() -> None:
    assert {page.name for page in PAGES if commands(page)} >= {"README.md", "tuning.md", "simt.md"}
