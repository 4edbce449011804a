"""The README's code runs, and its tables agree with the code."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenly as ev
from evenly import layouts, schedules
from tests.examples import pages

README = pages.ROOT / "README.md"


def test_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert pages.run(README, tmp_path) > 2


@pytest.mark.gpu
def test_its_code_runs_on_a_gpu(tmp_path: Path) -> None:
    pytest.importorskip("cupy")
    assert pages.run(README, tmp_path, gpu=True) > 2


@pytest.mark.parametrize(
    "table",
    [layouts.TABLE, schedules.TABLE, schedules.OF_TASKS],
    ids=["layouts", "schedules", "schedules of tasks"],
)
def test_its_tables_are_those_of_the_code(table: dict) -> None:
    text = README.read_text()
    for name, entry in table.items():
        assert f"| `{name}` | {entry.what} | {entry.when} | {entry.source} |" in text


def test_what_the_tables_have_is_public_and_described() -> None:
    """`evenly/__init__.py` has it, and so does the page's own table."""
    for page, names in {
        "layouts": {name: entry.constructor for name, entry in layouts.TABLE.items()},
        "schedules": {e.make.__name__: e.make for e in schedules.TABLE.values()},
        "tasks": {e.make.__name__: e.make for e in schedules.OF_TASKS.values()},
    }.items():
        text = (pages.ROOT / "docs" / f"{page}.md").read_text()
        for name, made in names.items():
            assert getattr(ev, name, None) is made, f"ev.{name}"
            assert f"| `ev.{name}(" in text, f"ev.{name} in docs/{page}.md"


def test_its_links_lead_somewhere() -> None:
    for target in pages.links(README):
        assert (README.parent / target).exists(), target
