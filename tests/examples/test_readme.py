"""The README's code runs, and its tables agree with the code."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize("table", [layouts.TABLE, schedules.TABLE], ids=["layouts", "schedules"])
def test_its_tables_are_those_of_the_code(table: dict) -> None:
    text = README.read_text()
    for name, entry in table.items():
        assert f"| `{name}` | {entry.what} | {entry.when} | {entry.source} |" in text


def test_its_links_lead_somewhere() -> None:
    for target in pages.links(README):
        assert (README.parent / target).exists(), target
