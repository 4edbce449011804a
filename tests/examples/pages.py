"""Running the code of a Markdown page: its Python blocks in order, in one module.

A block

    ```python            is run; a ```text block right after it is what it prints
    ```python gpu        is run where there is a GPU
    ```python simt       is run where there is a C++ compiler
    ```python sketch     is only parsed (a form with gaps)
    ```text, ```sh, ...  is shown
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import types
from dataclasses import dataclass
from pathlib import Path

from evenly import targets

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*) *(\w*) *\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """language, kind ("", "gpu", "simt", "sketch"), text, and the page's line before its first."""

    language: str
    kind: str
    text: str
    line: int
    follows: bool  # only blank lines stand between it and the block before


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found, end = [], 0
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found.append(
            Block(match[1], match[2], match[3], line, not text[end : match.start()].strip())
        )
        end = match.end()
    return found


def runs(kind: str, gpu: bool) -> bool:
    """Whether a block of Python is run here."""
    works = {"sketch": False, "gpu": gpu, "simt": not targets.available()["simt"]}
    return works.get(kind, True)


def run(page: Path, tmp_path: Path, gpu: bool = False) -> int:
    """Run a page; AssertionError where it prints something else. How many blocks ran."""
    # One file with every block on the page's own lines, so that tracebacks fit the page, and
    # kernels find their source.
    found = [b for b in blocks(page) if b.language == "python"]
    lines: list[str] = []
    for b in found:
        lines += [""] * (b.line - len(lines)) + b.text.splitlines()
    file = tmp_path / page.name
    file.write_text("\n".join(lines) + "\n")
    module = types.ModuleType(f"page_{page.stem}")
    sys.modules[module.__name__] = module
    ran = 0
    everything = blocks(page)
    try:
        for at, b in enumerate(everything):
            if b.language != "python":
                continue
            code = compile("\n" * b.line + b.text, str(file), "exec")
            if not runs(b.kind, gpu):
                continue
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(code, vars(module))
            ran += 1
            after = everything[at + 1] if at + 1 < len(everything) else None
            shown = after.text if after and after.language == "text" and after.follows else ""
            printed = out.getvalue().replace(f"{file}", page.name)
            assert printed.split() == shown.split(), f"{page.name}:{b.line} prints\n{printed}"
    finally:
        del sys.modules[module.__name__]
    return ran


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as links name them after the #."""
    prose = FENCE.sub("", page.read_text())
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def headings_linked(page: Path) -> list[tuple[str, str]]:
    """Return the headings that a page links to, as (file, heading). The file "" is the page itself."""
    prose = FENCE.sub("", page.read_text())
    found = re.findall(r"\]\(([^)#]*)#([^)]*)\)", prose)
    return [(target, heading) for target, heading in found if "://" not in target]


def links(page: Path) -> list[str]:
    """Return the files that a page links to, without links to the web."""
    prose = FENCE.sub("", page.read_text())
    found = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose)
    return [target for target in found if "://" not in target]
