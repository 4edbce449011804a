"""docs/language.md says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.language.intrinsics import BY_NAME
from tests.examples import pages

from .refusals_page import MARK, PAGE, render


def test_every_refusal_is_listed() -> None:
    """If this fails, the table of refusals has changed: python -m tests.language.refusals_page"""
    page = PAGE.read_text()
    assert page[page.index(MARK) :] == render()


NAMED_OTHERWISE = {"minimum", "maximum", "power_int", "magnitude", "of_parts"}


@pytest.mark.parametrize("name", sorted(set(BY_NAME) - NAMED_OTHERWISE))
def test_every_intrinsic_is_listed(name: str) -> None:
    page = PAGE.read_text()
    mathematics = page.split("Mathematics: ")[1].split("Operands are")[0]
    assert name in mathematics or f"`{name}(" in page or f"`z.{name}" in page


def test_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages.run(PAGE, tmp_path)


def test_its_links_lead_somewhere() -> None:
    for target in pages.links(PAGE):
        assert (PAGE.parent / target.split("#")[0]).exists(), target
