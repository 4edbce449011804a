"""Sphinx: what is in the docs' table of contents, and the docstrings of the public names, after docs/reference.md.

The pages stay plain Markdown that reads well anywhere, so both are added here, when Sphinx reads them.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import evenly as ev

CONTENTS = {
    "Tutorial": ("tutorial/first_kernel", "tutorial/first_layout", "tutorial/first_schedule"),
    "Guide": (
        "kernels", "layouts", "schedules", "tasks", "arrays", "graph", "linalg", "pytorch", "ragged", "algorithms",
        "plans", "tuning", "balance", "trace", "files",
    ),
    "Reference": ("reference", "language", "refusals", "targets", "simt", "errors"),
    "Results": ("benchmarks", "reproduce"),
    "For developers": ("auto", "how_a_call_flows", "one_kernel", "/CONTRIBUTING", "/CHANGELOG"),
    "Notes on measurements": ("/benchmarks/notes/README", "/benchmarks/notes/*"),
}  # fmt: skip


def contents() -> str:
    """Return the hidden tables of contents of docs/index.md."""
    parts = []
    for caption, pages in CONTENTS.items():
        parts += [
            "",
            "```{toctree}",
            ":hidden:",
            ":glob:",
            f":caption: {caption}",
            "",
            *pages,
            "```",
        ]
    return "\n".join(parts)


def names() -> str:
    """Return the part with the docstrings, in reStructuredText inside Markdown."""
    lines = ["", "## Docstrings", ""]
    for name in ev.__all__:
        lines += ["```{eval-rst}", *directive(name, getattr(ev, name)), "```", ""]
    return "\n".join(lines)


def directive(name: str, value: Any) -> list[str]:
    """Return the directive that documents one name as what it is."""
    if inspect.isclass(value):
        return [f".. autoclass:: evenly.{name}", "   :members:"]
    if inspect.isroutine(value):
        return [f".. autofunction:: evenly.{name}"]
    if inspect.ismodule(value):
        return [f".. automodule:: evenly.{name}"]
    return [f".. autodata:: evenly.{name}", "   :no-value:"]


def as_markup(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn a docstring, which is plain text, into reStructuredText, paragraph by paragraph."""
    paragraphs = [part.splitlines() for part in "\n".join(lines).split("\n\n")]
    lines[:] = [line for part in paragraphs for line in [*paragraph(part), ""]]


PARAMETER = re.compile(r"\*{0,2}\w+(, \*{0,2}\w+)*(?=: )")


def paragraph(lines: list[str]) -> list[str]:
    """Return a paragraph with a list item for each `name: ...`; what is indented is code."""
    if not lines or lines[0].startswith(">>>"):
        return lines
    if lines[0].startswith("    "):
        return ["::", "", *lines]
    made: list[str] = []
    in_item = False
    for line in lines:
        names = PARAMETER.match(line)
        if names:
            in_item = True
            made += ["", f"* **{escaped(names[0])}**{escaped(line[names.end() :])}"]
        else:
            made.append(f"{'  ' * in_item}{escaped(line.strip())}")
    return made


def escaped(text: str) -> str:
    """Escape what would be markup, but not between backticks."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\\\*_|])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def read(app: Any, name: str, source: list[str]) -> None:
    """Change a page before it is read: folders are no pages, so links to them become text."""
    folder = Path(app.srcdir, name).parent
    link = re.compile(r"\[([^]]+)\]\(([^)#:]+)\)")
    source[0] = link.sub(lambda m: m[1] if (folder / m[2]).is_dir() else m[0], source[0])
    if name == "README":
        source[0] = f"---\norphan: true\n---\n{source[0]}"
    if name == "docs/index":
        source[0] += contents()
    if name == "docs/reference":
        source[0] += names()


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", as_markup)
    return {"parallel_read_safe": True}
