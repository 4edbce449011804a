"""Layouts say what the work is: which atoms each tile has. A file for each; contract.py says what a layout is.

To add one, write a file and a line of TABLE. It may use what layouts share:

    fields, defaults, moving             the fields of a layout, its optional members, copies on another device
    arguments, entries, seen             checks of a caller's arrays: in O(1), and of every entry, once
    search, compressed, padded           base classes: tiles found by search; layouts with offsets; padded rows
    checker                              whether a layout keeps the contract
    conversions, grouped, narrow, equal  other formats, narrower indices, tiles of one length
    items, gluing, pieces, pattern, numbering   batches
    slices                               sliced ELL
    output, emitted, task_results        what kernels append to, and what became of tasks
    each, copies, blocks, positions      views of arrays and layouts, for algorithms and kernels of evenly itself
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenly.errors import unknown
from evenly.layouts.arguments import check_options
from evenly.layouts.batch import Batch, batch
from evenly.layouts.bcsr import Bcsr, bcsr
from evenly.layouts.checker import check
from evenly.layouts.compressed import Compressed
from evenly.layouts.contract import Array, Index, Layout, Static, is_layout, layout
from evenly.layouts.coo import Coo, coo
from evenly.layouts.csc import Csc, csc
from evenly.layouts.csr import Csr, csr
from evenly.layouts.dia import Dia, dia
from evenly.layouts.ell import Ell, ell
from evenly.layouts.frontier import Frontier, frontier
from evenly.layouts.output import output
from evenly.layouts.ragged import Ragged, ragged
from evenly.layouts.search import Searched
from evenly.layouts.sell import Sell, sell
from evenly.layouts.subset import Subset, subset
from evenly.layouts.tasks import tasks
from evenly.layouts.uniform import Uniform, uniform

__all__ = [
    "TABLE",
    "Array",
    "Compressed",
    "Entry",
    "Index",
    "Layout",
    "Searched",
    "Static",
    "batch",
    "bcsr",
    "check",
    "convert",
    "coo",
    "csc",
    "csr",
    "dia",
    "ell",
    "frontier",
    "is_layout",
    "layout",
    "output",
    "ragged",
    "sell",
    "subset",
    "tasks",
    "uniform",
]


@dataclass(frozen=True, slots=True)
class Entry:
    """One layout, as `evenly layouts` lists it. of_matrix: whether `convert` can make it of a matrix."""

    cls: type
    constructor: Callable[..., Any]
    what: str
    when: str
    source: str
    of_matrix: bool = True


TABLE: dict[str, Entry] = {
    "csr": Entry(Csr, csr, "compressed rows; a tile is a row", "any matrix", "Tinney, Walker 1967"),
    "csc": Entry(
        Csc, csc, "compressed columns; a tile is a column", "work by column", "SciPy's csc_array"
    ),
    "coo": Entry(
        Coo, coo, "coordinates; a tile is a nonzero", "few nonzeros, many rows", "SciPy's coo_array"
    ),
    "ell": Entry(
        Ell, ell, "rows padded to one width", "rows of nearly equal length", "Bell, Garland 2009"
    ),
    "sell": Entry(
        Sell,
        sell,
        "slices of rows, each padded to its longest",
        "a thread a row, rows of any length",
        "Kreutzer et al. 2014",
    ),
    "bcsr": Entry(
        Bcsr, bcsr, "rows of dense blocks; a tile is a row", "dense blocks", "Im, Yelick 2001"
    ),
    "dia": Entry(
        Dia, dia, "diagonals; a tile is a row", "bands and stencils", "Bell, Garland 2009"
    ),
    "ragged": Entry(
        Ragged, ragged, "offsets alone; a tile is a list", "segments", "moderngpu", False
    ),
    "uniform": Entry(
        Uniform, uniform, "another layout's atoms, k to a tile", "work per atom", "moderngpu", False
    ),
    "subset": Entry(
        Subset, subset, "some tiles of another layout", "frontiers", "Osama et al. 2023", False
    ),
    "frontier": Entry(
        Frontier, frontier, "tiles that kernels append", "searches of graphs", "Gunrock", False
    ),
    "batch": Entry(
        Batch,
        batch,
        "many matrices in one; a tile is a row",
        "many small problems",
        "Anzt et al. 2017",
        False,
    ),
}


def convert(matrix: Any, layout_name: str, **options: Any) -> Any:
    """Convert a sparse matrix to the layout with this name ("csr", "ell", ...).

    options: those of the layout's constructor (validate=, block=, max_bytes=, ...).

    Raises InputError for unknown names and options, naming the nearest known one.
    """
    known = {name: entry for name, entry in TABLE.items() if entry.of_matrix}
    if layout_name not in known:
        raise unknown("layout", layout_name, known)
    constructor = known[layout_name].constructor
    check_options(constructor, options, layout_name)
    return constructor(matrix, **options)
