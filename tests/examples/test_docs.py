"""The code of every page in docs/ runs, and prints what the page says that it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import pages

FOLDER = pages.ROOT / "docs"
NOTES = sorted((pages.ROOT / "benchmarks" / "notes").glob("*.md"))
NAMES = (
    "index",
    "tutorial/first_kernel",
    "tutorial/first_layout",
    "tutorial/first_schedule",
    "layouts",
    "schedules",
    "tasks",
    "arrays",
    "algorithms",
    "language",
    "refusals",
    "auto",
    "kernels",
    "targets",
    pytest.param("simt", marks=pytest.mark.simt),
    "plans",
    "tuning",
    "balance",
    "trace",
    "benchmarks",
    "one_kernel",
    "errors",
    "graph",
    "ragged",
    "linalg",
    "pytorch",
    "reference",
)


@pytest.mark.parametrize("name", NAMES)
def test_its_code_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(pages.ROOT / "examples")  # whose matrix pages read
    monkeypatch.chdir(tmp_path)
    pages.run(FOLDER / f"{name}.md", tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_its_code_runs_on_a_gpu(name: str, tmp_path: Path) -> None:
    pytest.importorskip("cupy")
    pages.run(FOLDER / f"{name}.md", tmp_path, gpu=True)


@pytest.mark.parametrize("name", NAMES)
def test_its_links_lead_somewhere(name: str) -> None:
    page = FOLDER / f"{name}.md"
    for target in pages.links(page):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", NOTES, ids=lambda page: page.stem)
def test_the_links_of_the_notes_lead_somewhere(page: Path) -> None:
    for target in pages.links(page):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "page", [*sorted(FOLDER.rglob("*.md")), *NOTES], ids=lambda page: page.stem
)
def test_links_to_headings_lead_to_one(page: Path) -> None:
    for target, heading in pages.headings_linked(page):
        file = (page.parent / target) if target else page
        assert heading in pages.headings(file), f"{target}#{heading}"
