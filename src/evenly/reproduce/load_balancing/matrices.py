"""The matrices: those of a folder, or generated ones, of five kinds from a thousand to some million nonzeros.

The paper takes the whole SuiteSparse collection.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from evenly.bench.matrices import Source, from_folder
from evenly.interop import generators

from ..experiment import Site

FEW = 4  # matrices of a quick run
MOST_ON_CPU = 200_000  # rows

GRIDS = 32, 128, 512, 1024
ORDERS = 1_000, 10_000, 100_000, 1_000_000
SCALES = 10, 13, 16, 19


def generated(most: int | None) -> list[Source]:
    """Return the generated matrices, the small ones first. most: rows; None: any."""
    made = []
    for grid, order, scale in zip(GRIDS, ORDERS, SCALES, strict=True):
        same_order = {
            f"one-a-row-{order}": partial(generators.uniform, order, 1),
            f"ten-a-row-{order}": partial(generators.uniform, order, 10),
            f"dense-rows-{order}": partial(generators.dense_rows, order, 4, 6),
        }
        for rows, makes in (
            (grid * grid, {f"stencil-{grid}": partial(generators.stencil, grid)}),
            (order, same_order),
            (1 << scale, {f"rmat-{scale}": partial(generators.rmat, scale)}),
        ):
            if most is None or rows <= most:
                made += [Source(name, "synthetic", make) for name, make in makes.items()]
    return made


def chosen(site: Site) -> list[Source]:
    """Return the matrices of a run. Raises InputError for a folder without any."""
    found: list[Source] = site.once("matrices", lambda: _all(site))
    return found[:FEW] if site.quick else found


def _all(site: Site) -> list[Source]:
    if site.folder is None:
        return generated(None if site.on_gpu else MOST_ON_CPU)
    return from_folder(Path(site.folder))
