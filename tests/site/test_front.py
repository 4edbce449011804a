"""The front page in a real browser: the walks of all schedules, the merge path, the keyboard, what axe finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.site.browser import FOUND, Browser
from tests.site.test_explorer import AXE, serving, set_to, settle, text
from tests.site.test_explorer import browser as browser
from tests.site.test_explorer import started as started

pytestmark = pytest.mark.skipif(FOUND is None, reason="no Chromium here, to look at the site with")


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory):
    """The address of the front page."""
    pytest.importorskip("yaml", reason="the extra `site` is not installed")
    with serving(tmp_path_factory.mktemp("site"), "--pages") as address:
        yield f"{address}/index.html"


def test_each_schedule_has_a_tab_whose_walk_plays(front: str, browser: Browser) -> None:
    browser.open(front)
    names = browser.run("[...document.querySelectorAll('[role=tab]')].map(tab => tab.textContent)")
    assert names[:3] == ["thread mapped", "work oriented", "merge path"]
    pictures = set()
    for number in range(len(names)):
        browser.run(f"document.querySelectorAll('[role=tab]')[{number}].click()")
        settle(browser)
        pictures.add(browser.run("document.getElementById('walk-grid').toDataURL()"))
    assert len(pictures) == len(names) == 9
    browser.run("document.getElementById('walk-play').click()")
    assert "Pause" in text(browser, "#walk-play")
    assert "return range(" in text(browser, "#walk-code .lit")
    browser.run("document.getElementById('walk-play').click()")


def test_tabs_and_atoms_are_reached_by_the_keyboard(front: str, browser: Browser) -> None:
    browser.open(front)
    browser.run("document.querySelector('[role=tab]').focus()")
    browser.press("ArrowRight")
    browser.wait("document.activeElement.textContent === 'work oriented'")
    assert browser.run("document.activeElement.getAttribute('aria-selected')") == "true"
    browser.run("document.getElementById('walk-grid').focus()")
    browser.press("ArrowRight")
    browser.wait("document.getElementById('walk-said').textContent.includes('its step')")


def test_the_merge_path_is_divided_as_is_said(front: str, browser: Browser) -> None:
    """8 rows and 12 nonzeros: 20 steps."""
    browser.open(front)
    set_to(browser, "#path-count", "3", "input")
    set_to(browser, "#path-one", "2", "input")
    assert (
        text(browser, "#path-said")
        == "Processor 2 takes 6 steps of 20: 4 nonzeros, and the ends of 2 rows."
        " Its search looks at 3 places on the diagonal 14: 6 rows end before its share, and 8 nonzeros come before it."
    )
    set_to(browser, "#path-one", "0", "input")
    assert text(browser, "#path-said").endswith("of 20: 4 nonzeros, and the ends of 3 rows.")


@pytest.mark.parametrize("width", [390, 1400])
def test_it_fits_and_axe_finds_nothing(width: int, front: str, browser: Browser) -> None:
    browser.size(width)
    browser.open(front)
    assert browser.run("document.documentElement.scrollWidth") <= width
    if AXE:
        browser.run(Path(AXE).read_text() + ";0")
        assert browser.run("axe.run().then(r => r.violations.map(v => v.id))") == []
