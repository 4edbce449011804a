"""What the pages show of evenly itself, written nowhere twice: tables, code, matrices, citations, results."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import evenly as ev
from evenly.interop.generators import rmat, stencil
from evenly.language.func import Func
from evenly.layouts import TABLE as LAYOUTS
from evenly.schedules import OF_TASKS
from evenly.schedules import TABLE as SCHEDULES

ROOT = Path(__file__).resolve().parents[1]

KERNEL = """\
@ev.kernel
def spmv(A, x, y):
    for row in A.tiles():
        y[row] = sum(
            A.value(k) * x[A.column(k)]
            for k in A.atoms(row)
        )
"""

# Of each view (js/views/), a kernel of its kind.
KERNELS = {
    "items": """\
@ev.kernel
def batched(B, x, y):
    for item in B.items():
        for row in B.tiles(item):
            y[row] = sum(
                B.value(k)
                * x[B.column(k)]
                for k in B.atoms(row)
            )
""",
    "axes": """\
@ev.kernel
def spmm(A, X, Y):
    for row in A.tiles():
        for j in ev.lanes(X.shape[1]):
            Y[row, j] = sum(
                A.value(k)
                * X[A.column(k), j]
                for k in A.atoms(row)
            )
""",
    "levels": """\
@ev.kernel
def search(F, level, source):
    level[source] = 0
    F.push(source)
    depth = 0
    while len(F) > 0:
        depth += 1
        for u in F.tiles():
            for e in F.atoms(u):
                v = F.column(e)
                if ev.atomic_cas(
                    level, v, -1, depth
                ) == -1:
                    F.push(v)
""",
    "queues": """\
@ev.kernel
def halves(T, leaves):
    for t in T.tiles():  # until none is left
        begin, end = T.begin(t), T.end(t)
        middle = (begin + end) // 2
        if end - begin > 20:
            T.push(begin, middle)
            T.push(middle, end)
        else:
            leaves.append(begin, end)
""",
}

# Where a GPU's engine divides the work by itself, the methods are what other targets do.
SHARES = """\
# On a GPU each block takes such a share, and
# its warps load it together (device/split.cuh).

"""
BINS = """\
# On a GPU tiles are sorted into bins, and
# handed to teams that fit (device/bins.cuh).
# On other targets:

"""
CHUNKS = """\
# On a GPU a free warp takes the next chunk
# from a counter (device/dynamic.cuh).
# On other targets:

"""
ENGINES = {"merge_path": SHARES, "nonzero_split": SHARES, "lrb": BINS, "dynamic_chunks": CHUNKS}

# What a group of flattened tiles does on a GPU is its engine's; the class has what the CPU does.
FLATTEN = """\
# The engine's own: a group takes `size` tiles,
# and strides over all their atoms together.
# Each thread finds the tile of its atom by
# binary search (device/flatten.cuh).
"""


def everything() -> dict[str, Any]:
    """Return what the explorer reads first."""
    return {
        "version": ev.__version__,
        "kernel": KERNEL,
        "kernels": KERNELS,
        "schedules": rows(SCHEDULES),
        "tasks": rows(OF_TASKS),
        "layouts": rows(LAYOUTS),
        "code": {
            name: ENGINES.get(name, "") + methods(entry.make) for name, entry in SCHEDULES.items()
        }
        | {"flatten": FLATTEN},
        "presets": [{"name": n, "group": g, "title": t} for n, g, t, _ in presets()],
    }


def rows(table: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the lines of a table of evenly's: what, when and source by name."""
    return {n: {"what": e.what, "when": e.when, "source": e.source} for n, e in table.items()}


def methods(cls: Any) -> str:
    """Return the code of a schedule's methods that every processor runs."""
    found = [getattr(cls, name) for name in ("setup", "tiles", "atoms") if hasattr(cls, name)]
    called = [f for method in found for f in helpers(method)]
    texts = [textwrap.dedent(inspect.getsource(function)) for function in [*found, *called]]
    return "\n".join(texts)


def helpers(function: Any) -> Iterator[Any]:
    """Yield the functions of the kernel language that a function calls, those that they call after them."""
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, Func):
            yield called.function
            yield from helpers(called.function)


def hues() -> list[str]:
    """Return the colours of workers."""
    return re.findall(r"#[0-9a-f]{6}", (ROOT / "site" / "js" / "colours.js").read_text())


# ---- matrices ----------------------------------------------------------------------------------------
def presets() -> Iterator[tuple[str, str, str, Callable[[], Any]]]:
    """Yield the name, group, title and maker of each matrix that the explorer offers."""
    from tests.batteries import matrices

    for name, matrix in matrices().items():
        yield slug(name), "the battery of nasty inputs", name, lambda matrix=matrix: matrix
    for scale in 8, 10, 12, 14:
        title = f"R-MAT, {1 << scale:,} rows"
        yield f"rmat-{scale}", "graphs and grids", title, lambda scale=scale: rmat(scale)
    for side in 30, 200:
        title = f"5-point stencil, {side} x {side} points"
        yield f"stencil-{side}", "graphs and grids", title, lambda side=side: stencil(side)


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def pattern(matrix: Any) -> dict[str, Any]:
    """Return the structure of a matrix, as site/js/matrices.js reads it."""
    lengths = matrix.indptr[1:] - matrix.indptr[:-1]
    rows_, columns = map(int, matrix.shape)
    return {
        "rows": rows_,
        "columns": columns,
        "lengths": lengths.tolist(),
        "indices": matrix.indices.tolist(),
    }


def write(out: Path) -> None:
    """Write data.json, and a file for each preset."""
    (out / "data.json").write_text(json.dumps(everything(), ensure_ascii=False))
    (out / "presets").mkdir(exist_ok=True)
    for name, _, _, make in presets():
        text = json.dumps(pattern(make()), separators=(",", ":"))
        (out / "presets" / f"{name}.json").write_text(text)


# ---- citations and results, from the files that hold them ---------------------------------------------
def bibtex() -> str:
    """Return CITATION.cff and its references as BibTeX."""
    import yaml

    held = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    own = {
        "author": " and ".join(f"{{{author['name']}}}" for author in held["authors"]),
        "title": f"{{{held['title']}}}",
        "version": held["version"],
    }
    entries = [entry("software", "evenly", own)]
    for work in held["references"]:
        authors = " and ".join(f"{a['family-names']}, {a['given-names']}" for a in work["authors"])
        given = {
            "author": authors,
            "title": f"{{{work['title']}}}",
            "booktitle": work["collection-title"],
            "year": work["year"],
            "doi": work["doi"],
        }
        key = f"{work['authors'][0]['family-names'].lower()}{work['year']}"
        entries.append(entry("inproceedings", key, given))
    return "\n".join(entries)


def entry(kind: str, key: str, fields: dict[str, Any]) -> str:
    lines = [f"  {name:9} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def families() -> list[tuple[str, list[float]]]:
    """Return the table of families in docs/benchmarks.md: names, and the mean and the least speed in float32."""
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    head = "| row lengths | float32 | least | float64 | least |"
    lines = text[text.index(head) :].splitlines()[2:]
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found.append((name, [float(cell) for cell in cells[:2]]))
    return found
