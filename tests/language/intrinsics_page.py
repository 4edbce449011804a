"""The list of functions in docs/language.md, made from the table of intrinsics.

python -m tests.language.intrinsics_page        rewrites it
"""

from __future__ import annotations

from pathlib import Path

from evenly.language.intrinsics import TABLE, Intrinsic

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
MARK = "<!-- functions: kept by tests/language/test_docs.py -->\n"
END = "<!-- end of functions -->\n"

TAKES = {
    "float": "real",
    "real": "real",
    "number": "integer, float",
    "integer": "integer",
    "complex": "complex",
}
GIVES = {"bool": "bool", "int": "weak int", "real": "float", "complex": "complex"}


def render() -> str:
    head = "\n| function | of | type | value |\n| --- | --- | --- | --- |\n"
    return f"{MARK}{head}{''.join(map(_row, TABLE))}\n{END}"


def _row(entry: Intrinsic) -> str:
    return f"| `{entry.written}` | {TAKES[entry.takes]} | {_type(entry)} | {entry.doc} |\n"


def _type(entry: Intrinsic) -> str:
    if entry.gives != "same":
        return GIVES[entry.gives]
    if entry.takes == "float":
        return "float"
    of_one = entry.arity == 1 or entry.literal or entry.counts
    return "the same type" if of_one else "the common type"


def replaced(page: str) -> str:
    """The page with the list as it should be."""
    return page[: page.index(MARK)] + render() + page[page.index(END) + len(END) :]


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text()))
