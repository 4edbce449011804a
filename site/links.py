"""Check the links of a built site: each file and each anchor is there, and nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """What a page links to, (tag, attribute, address), and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value is not None:
                self.found.append((tag, name, value))
            if name in ("id", "name") and value is not None:
                self.anchors.add(value)


def check(site: Path) -> list[str]:
    """Return a line for each link that leads nowhere, and for each part that would be loaded from elsewhere."""
    pages = {path: Page(path.read_text(errors="replace")) for path in sorted(site.rglob("*.html"))}
    return [line for path, page in pages.items() for line in _broken(site, path, page, pages)]


def _broken(site: Path, path: Path, page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    here = path.relative_to(site)
    for tag, attribute, address in page.found:
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            if (tag, attribute) in LOADED:
                yield f"{here}: <{tag}> loads {address} from elsewhere"
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            yield f"{here}: {address}: no such file"
        elif target.name in ("explorer.html", "views.html"):
            continue  # its fragments are views
        elif target in pages and unquote(parts.fragment) not in {"", *pages[target].anchors}:
            yield f"{here}: {address}: no such place in it"
