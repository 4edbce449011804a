"""Lines of code for the paper's Table 1: lines that are neither blank nor comments (docstrings are comments)."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from evenly import schedules as s
from evenly.algorithms.linalg.spmv import spmv_rows
from evenly.bench import hardwired

from ..experiment import Site
from .rule import GROUP, MERGE, THREAD
from .sweep import DEFAULTS

SILENT = tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

# What the authors' kernels have, counted by the same rule, without their launches: include/loops/algorithms/spmv of
# github.com/gunrock/loops, thread_mapped.cuh and group_mapped.cuh at commit 489b9e3, merge_path_flat.cuh at 36826af.
THEIRS = {"ThreadMapped": (THREAD, 21), "GroupMapped": (GROUP, 28), "MergePath": (MERGE, 39)}


@dataclass(frozen=True, slots=True)
class Lines:
    """One schedule; the fields are the columns of the CSV file.

    kernel: of evenly's SpMV, which is the same under every schedule. definition: of the schedule, with those that it
    builds on. by_hand: of the same algorithm in CUDA C++, for SpMV alone; 0: there is none. their_kernel: of SpMV under
    the authors' schedule `theirs`; 0: they have none.
    """

    wrong: ClassVar[int] = 0

    schedule: str
    kernel: int
    definition: int
    by_hand: int = 0
    theirs: str = ""
    their_kernel: int = 0


def of_python(text: str) -> int:
    """Count the lines of Python code."""
    silent = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT and token.string:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - silent)


def of_cuda(text: str) -> int:
    """Count the lines of CUDA C++."""
    return sum(bool(line.strip()) for line in COMMENT.sub("", text).splitlines())


def of_schedule(schedule: s.Schedule) -> int:
    """Count the lines of the files of a schedule and of those that it builds on."""
    classes = (c for c in type(schedule).__mro__ if issubclass(c, s.Schedule))
    files = {inspect.getfile(c) for c in classes if c is not s.Schedule}
    return sum(of_python(Path(file).read_text()) for file in files)


def by_hand() -> dict[str, int]:
    """Count the lines of the kernels by hand, by the names of their schedules."""
    folder = resources.files("evenly.bench")
    rows, merge = (folder.joinpath(file).read_text() for file in hardwired.FILES)
    shared, thread, warp = re.split(r"^// ----.*$", rows, flags=re.MULTILINE)
    texts = {"ThreadMapped": shared + thread, "WarpMapped": shared + warp, "MergePath": merge}
    return {name: of_cuda(text) for name, text in texts.items()}


def counted(site: Site) -> Iterator[list[Lines]]:
    """Yield the rows of Table 1."""
    kernel = of_python(inspect.getsource(spmv_rows.function))
    hands = by_hand()
    for schedule in DEFAULTS:
        name = type(schedule).__name__
        theirs, lines = THEIRS.get(name, ("", 0))
        of = of_schedule(schedule)
        yield [Lines(name, kernel, of, hands.get(name, 0), theirs, lines)]


def shared() -> tuple[int, int]:
    """Count what all schedules share on a GPU: engines in Python, device headers in CUDA C++."""
    folder: Any = resources.files("evenly.targets.gpu")
    engines = (file for file in folder.joinpath("engines").iterdir() if file.name.endswith(".py"))
    headers = (file for file in folder.joinpath("device").iterdir() if file.name.endswith(".cuh"))
    return sum(of_python(f.read_text()) for f in engines), sum(
        of_cuda(f.read_text()) for f in headers
    )


def lines(rows: list[Lines]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of the table."""
    for row in rows:
        theirs = f"{row.their_kernel} ({row.theirs})" if row.theirs else "-"
        yield row.schedule, str(row.kernel), str(row.definition), str(row.by_hand or "-"), theirs
