"""docs/refusals.md, made from the table that the tests run.

python -m tests.language.refusals_page        rewrites it
"""

from __future__ import annotations

from pathlib import Path

from . import refusals
from .refusals import Refusal

PAGE = Path(__file__).parents[2] / "docs" / "refusals.md"
MARK = "<!-- refusals: kept by tests/language/test_docs.py -->\n"

GROUPS = {
    "Python that is not part of the language": refusals.SYNTAX,
    "Names": refusals.NAMES,
    "Values": refusals.VALUES,
    "Subscripts and stores": refusals.SUBSCRIPTS,
    "Operators": refusals.OPERATORS,
    "Calls and atomics": refusals.CALLS,
    "Layouts": refusals.LAYOUTS,
    "Tasks": refusals.TASKS,
    "Loops": refusals.LOOPS_,
    "Reductions": refusals.REDUCTIONS,
    "Scans": refusals.SCANS,
    "Accumulation": refusals.ACCUMULATION,
    "Local arrays": refusals.LOCALS,
    "Items": refusals.BATCHES,
    "Scratch arrays": refusals.SCRATCH,
    "Stores that meet": refusals.RACES,
}

FUNCTIONS = """
In functions: `a store in f, which is called for its value`, `an atomic in f, which is called for its value`, `a push in f, which is called
for its value`, `out.append in f, which is called for its value`, `f calls itself`, `return inside a loop`, `a starred parameter is not
part of the kernel language`, `ev.scratch in a function`, `a store into the local array h in a function`, and `result is a tuple of 2 on one path and a number (int) on the other` where branches return different kinds of values.

In kernels that emit: `a while around loops over tiles in a kernel that emits`, `the frontier F in a kernel that emits` and
`out.num_atoms in a kernel that emits to out`.

Under schedules that split tiles: `a loop over atoms inside a while or range loop, under a schedule that splits tiles` (a schedule
that owns whole tiles runs it), `the number of lanes around a loop over atoms must be known before the launch, under a schedule
that splits tiles` (an expression of arguments and lengths is; a number that a tile computes is not), `ev.lanes inside ev.lanes around
a loop over atoms`, `a local array of 128 bytes, under a schedule that splits tiles` (64 are the most there) and `ev.scratch under
a schedule that splits tiles`.

Under nested schedules whose inner one splits tiles: `tiles whose loops over atoms need each other's results, under an inner schedule that
splits tiles`, and the same of `ev.scan or ev.rank over the atoms of an item's tiles`, `ev.lanes around a loop over atoms of an item's
tiles` and `tiles that add to a local array of their item` (an inner schedule that owns whole tiles runs them all).

In kernels with scratch arrays: `the length of ev.scratch depends on what the kernel stores or computes for all tiles` (compute it in
a kernel before this one, and pass it as an argument) and `ev.scratch in a while around loops over tiles`.

In schedules: `a second yield in CyclicChunks.tiles` (what happens to a tile is written there once: yield in one place, in a loop),
`CyclicChunks.tiles yields, and returns a number (int)`, `yield of a number (float)`, `yield from a number (int)`,
`EvenAtoms.atoms yields its atoms` and `EvenAtoms.tiles gives a range with a step` where tiles are shared,
`ev.group(8).sum outside setup` (return the result in the state), `ev.group(8).sum in a loop or under a condition` (all members of
a group must come to it), `ev.group(8).sum of a number (float)`, `ev.group(8).scan takes no argument inclusive`, and
`index 8 of a group of 8`.
"""


def render() -> str:
    lines = [MARK]
    for title, table in GROUPS.items():
        lines += [f"\n## {title}\n", "\n| code | message | hint |\n| --- | --- | --- |\n"]
        said: set[str] = set()
        for r in table:
            if r.message not in said:
                said.add(r.message)
                lines.append(f"| {_code(_shown(r))} | {_cell(r.message)} | {_cell(r.hint)} |\n")
    return "".join(lines) + FUNCTIONS


def _shown(r: Refusal) -> str:
    """The lines that matter, on one line."""
    body = r.marked.replace("«", "").replace("»", "").replace("\n    pass", " ...").strip()
    return "; ".join(line.strip() for line in body.splitlines()).replace(":;", ":")


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("__", "\\_\\_")


if __name__ == "__main__":
    page = PAGE.read_text()
    PAGE.write_text(page[: page.index(MARK)] + render())
