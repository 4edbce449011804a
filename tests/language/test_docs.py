"""docs/language.md agrees with the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import pages

from . import intrinsics_page
from .refusals_page import MARK, PAGE, render


def test_every_refusal_is_listed() -> None:
    """If this fails, the table of refusals has changed: python -m tests.language.refusals_page"""
    page = PAGE.read_text()
    assert page[page.index(MARK) :] == render()


def test_every_function_is_listed() -> None:
    """If this fails, the table of intrinsics has changed: python -m tests.language.intrinsics_page"""
    page = PAGE.read_text()
    assert page == intrinsics_page.replaced(page)


def test_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages.run(PAGE, tmp_path)


def test_its_links_lead_somewhere() -> None:
    for target in pages.links(PAGE):
        assert (PAGE.parent / target.split("#")[0]).exists(), target
