"""The page of views in a real browser: every control, links, the keyboard, what axe finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import evenly as ev
from tests.site.browser import FOUND, Browser
from tests.site.test_explorer import AXE, dropped, serving, set_to, settle, text
from tests.site.test_explorer import browser as browser
from tests.site.test_explorer import started as started

pytestmark = pytest.mark.skipif(FOUND is None, reason="no Chromium here, to look at the site with")
VIEWS = ("items", "axes", "levels", "queues")


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page."""
    with serving(tmp_path_factory.mktemp("site"), "--explorer") as address:
        yield f"{address}/views.html"


def pictures(browser: Browser) -> str:
    return str(
        browser.run("[...document.querySelectorAll('canvas.scene')].map(c => c.toDataURL()).join()")
    )


def shown(browser: Browser) -> str:
    """The pictures, and what stands above them: a block of 32 threads is a warp."""
    return pictures(browser) + text(browser, ".call") + text(browser, ".numbers")


def test_each_view_has_a_tab_and_plays(views: str, browser: Browser) -> None:
    browser.open(views)
    seen = set()
    for name in VIEWS:
        browser.run(f"document.getElementById('tab-{name}').click()")
        settle(browser)
        assert f"view={name}" in browser.run("location.hash")
        assert browser.run("document.querySelectorAll('canvas.scene').length") == 2
        assert "def " in text(browser, "#kernel")
        seen.add(pictures(browser))
        browser.run("document.getElementById('first').click()")
        settle(browser)
        seen.add(pictures(browser))
        browser.run("document.getElementById('play').click()")
        browser.wait("Number(document.getElementById('step').value) > 0")
        assert "Pause" in text(browser, "#play")
        browser.run("document.getElementById('play').click()")
    assert len(seen) == 2 * len(VIEWS)


@pytest.mark.parametrize("name", VIEWS)
def test_every_control_changes_the_picture_and_the_link(
    name: str, views: str, browser: Browser
) -> None:
    browser.open(f"{views}#view={name}")
    controls = browser.run(
        "[...document.querySelectorAll('#work input, #work select, .panel:first-child .parameters input,"
        " .panel:first-child .parameters select')].map(c => [c.id, c.tagName, c.value, c.min, c.max,"
        " [...(c.options ?? [])].map(o => o.value)])"
    )
    assert len(controls) >= 4 - (name == "queues")
    for at, tag, now, least, most, options in controls:
        before = shown(browser)
        other = next(o for o in options if o != now) if tag == "SELECT" else least
        if other == now:
            other = most
        set_to(browser, f"#{at}", other, "input")
        assert text(browser, "#problem") == "" or "lanes: at most" in text(browser, "#problem")
        key = at.split("-")[-1]
        assert f"{key}={other}".replace(" ", "_") in browser.run("location.hash") or tag == "INPUT"
        assert key in browser.run("location.hash")
        if text(browser, "#problem") == "":
            assert shown(browser) != before, at
        set_to(browser, f"#{at}", now, "input")
    set_to(browser, "#two", False)
    assert browser.run("document.querySelectorAll('.panel').length") == 1


def test_a_link_restores_the_view(views: str, browser: Browser) -> None:
    for view in (
        "#view=items&w=items=5,kind=alike&s=outer=warp_mapped,block=64&t=3",
        "#view=axes&w=rows=four_rows,columns=16&s=lanes=4,vector=2&s2=schedule=merge_path,items=2",
        "#view=levels&w=graph=a_grid,vertices=50&s=schedule=lrb&t=2",
        "#view=queues&w=tree=a_long_chain,workers=3&s=schedule=task_pool",
    ):
        browser.open(views + view)
        shown, said = pictures(browser), text(browser, ".numbers")
        browser.run("document.getElementById('link').click()")
        assert browser.run("location.hash") == view
        browser.open(views)
        assert pictures(browser) != shown
        browser.open(views + view)
        assert (pictures(browser), text(browser, ".numbers")) == (shown, said)


@ev.kernel
def halves(T):
    for t in T.tiles():
        if T.end(t) - T.begin(t) > 1:
            T.push(T.begin(t), (T.begin(t) + T.end(t)) // 2)
            T.push((T.begin(t) + T.end(t)) // 2, T.end(t))


def test_a_trace_of_tasks_is_shown_until_another_view_is_chosen(
    views: str, browser: Browser, tmp_path: Path
) -> None:
    T = ev.tasks(begin=np.int32, end=np.int32, first=[(0, 50)], capacity=100)
    plan = halves.plan(T, schedule="static_list", target="python")
    plan.trace(tmp_path / "tasks.json.gz", processors=6)
    browser.open(views)
    dropped(browser, "tasks.json.gz", (tmp_path / "tasks.json.gz").read_bytes())
    browser.wait(
        "document.getElementById('lead').textContent.startsWith('The trace of halves, on 6')"
    )
    assert "for 99 tasks" in text(browser, ".numbers")
    assert "7 rounds" in text(browser, ".numbers")
    assert browser.run("document.querySelectorAll('.panel').length") == 1
    assert "def halves(T):" in text(browser, "#kernel")
    dropped(browser, "wrong.json", b"{}")
    browser.wait("document.getElementById('problem').textContent.includes('wrong.json: no trace')")
    browser.run("document.getElementById('tab-queues').click()")
    settle(browser)
    assert "for 160 tasks" in text(browser, ".numbers")
    assert text(browser, "#problem") == ""


def test_there_is_little_script(views: str, browser: Browser) -> None:
    browser.open(views)
    loaded = browser.run(
        "performance.getEntriesByType('resource').filter(r => r.name.endsWith('.js'))"
        ".reduce((n, r) => n + r.decodedBodySize, 0)"
    )
    assert 10_000 < loaded < 300_000


def test_a_broken_link_shows_the_start(views: str, browser: Browser) -> None:
    browser.open(views)
    start = pictures(browser)
    browser.open(f"{views}#view=constructor&w=items=999,rows=x&t=-3")
    assert text(browser, "#problem") == ""
    assert pictures(browser) == start


def test_marks_are_reached_by_the_keyboard_and_said(views: str, browser: Browser) -> None:
    browser.open(f"{views}#view=queues&w=workers=4&s=schedule=static_list")
    browser.run("document.querySelector('canvas.scene').focus()")
    browser.wait("document.getElementById('pointed').textContent.startsWith('Task 0, of depth 0')")
    browser.press("ArrowRight")
    browser.wait("document.getElementById('pointed').textContent.startsWith('Task 1, of depth 1')")
    browser.press("ArrowDown")
    browser.wait("document.getElementById('pointed').textContent.startsWith('Task 2, of depth 1')")
    browser.press("Escape")
    browser.wait("document.getElementById('pointed').textContent.startsWith('Nothing')")
    browser.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    browser.press("ArrowRight")
    browser.wait("document.activeElement.id === 'tab-items'")
    assert "view=items" in browser.run("location.hash")


@pytest.mark.parametrize("width", [390, 1400])
def test_views_fit_and_axe_finds_nothing(width: int, views: str, browser: Browser) -> None:
    browser.size(width)
    for name in VIEWS:
        browser.open(f"{views}#view={name}")
        assert browser.run("document.documentElement.scrollWidth") <= width
        if AXE:
            browser.run(Path(AXE).read_text() + ";0")
            assert browser.run("axe.run().then(r => r.violations.map(v => v.id))") == []
