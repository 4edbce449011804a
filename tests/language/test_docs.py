"""docs/language.md and docs/refusals.md agree with the code. (tests/examples runs what they show.)"""

from __future__ import annotations

from . import intrinsics_page, refusals_page


def test_every_refusal_is_listed() -> None:
    """If this fails, the table of refusals has changed: python -m tests.language.refusals_page"""
    page = refusals_page.PAGE.read_text()
    assert page[page.index(refusals_page.MARK) :] == refusals_page.render()


def test_every_function_is_listed() -> None:
    """If this fails, the table of intrinsics has changed: python -m tests.language.intrinsics_page"""
    page = intrinsics_page.PAGE.read_text()
    assert page == intrinsics_page.replaced(page)
