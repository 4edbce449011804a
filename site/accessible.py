"""Repair the pages of the theme, where they lack something for screen readers and keyboards, as axe-core finds it."""

from __future__ import annotations

from pathlib import Path

REPAIRS = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ("<pre>", '<pre tabindex="0">'),  # which may scroll, as tables
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<th class="head"><p></p></th>', "<td></td>"),
    ('<div id="search-results">', '<h1>Search</h1><div id="search-results">'),
)


def repair(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text()
        for old, new in REPAIRS:
            text = text.replace(old, new)
        path.write_text(text)
