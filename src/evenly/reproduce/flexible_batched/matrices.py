"""The paper's 32 matrices: from files, or stand-ins of the same size; and random ones with given lengths of rows.

row_lengths.csv has a line for each matrix: its name, where the lengths are from, its columns, and the lengths of its
rows, as 3x5 for three rows of five nonzeros. Of 24 matrices they were counted. Of ex25 and ex27 order and nonzeros
are the SuiteSparse collection's, and the lengths are chosen. The paper's other six are not known here: their places
are taken by matrices whose sizes are chosen, among those of the others.
"""

from __future__ import annotations

import csv
import zlib
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import evenly as ev
from evenly.bench.matrices import from_folder, in_type
from evenly.errors import InputError

from ..experiment import Site

TWELVE = (
    "west0989", "G45", "ex25", "dwt_918", "gr_30_30", "cage8", "ex27", "can_838", "bp_1600", "nos3", "G2", "dwt_992",
)  # fmt: skip
STAND_IN = " (stand-in)"


@dataclass(frozen=True)
class Matrix:
    """One of the matrices. matrix: csr_array of float64; its values are replaced in batches."""

    name: str
    matrix: Any
    stand_in: bool = False

    @property
    def label(self) -> str:
        """The name for tables."""
        return self.name + STAND_IN * self.stand_in

    @cached_property
    def longest(self) -> int:
        return int(np.diff(self.matrix.indptr).max(initial=0))

    @property
    def mean(self) -> float:
        """The mean row length."""
        return float(self.matrix.nnz / self.matrix.shape[0])


def all_of_them(site: Site) -> list[Matrix]:
    """Return the 32, the shortest rows first. Raises InputError for a folder that has none of them."""
    found: list[Matrix] = site.once("the 32 matrices", lambda: _all(site.folder))
    return found


def the_twelve(site: Site) -> list[Matrix]:
    """Return the twelve of order 800 to 1,024, in the paper's order."""
    by_name = {m.name: m for m in all_of_them(site)}
    return [by_name[name] for name in TWELVE]


def _all(folder: str | None) -> list[Matrix]:
    files = {} if folder is None else {s.name.split("/")[-1]: s for s in from_folder(Path(folder))}
    table = resources.files(__package__).joinpath("row_lengths.csv").read_text().splitlines()
    known = list(csv.DictReader(table))
    if folder is not None and not any(line["name"] in files for line in known):
        names = ", ".join(line["name"] for line in known[:3])
        expected = f"a folder with matrices of the paper, such as {names}"
        raise InputError("--matrices", expected=expected, given=f"{len(files)} others")
    made = []
    for line in known:
        if line["name"] in files and line["lengths are"] != "chosen":
            found = in_type(files[line["name"]].make(), np.float64)
            made.append(Matrix(line["name"], found))
        else:
            made.append(Matrix(line["name"], _stand_in(line), stand_in=True))
    return sorted(made, key=lambda m: m.mean)


def _stand_in(line: dict[str, str]) -> Any:
    """Make the stand-in of a line of the table. Its rows lie in a random order, its columns anywhere."""
    rng = np.random.default_rng(zlib.crc32(line["name"].encode()))
    pairs = (part.split("x") for part in line["lengths"].split())
    lengths = np.concatenate([np.full(int(count), int(length)) for count, length in pairs])
    return with_lengths(rng.permutation(lengths), int(line["columns"]), rng)


def with_lengths(lengths: Any, columns: int, rng: np.random.Generator) -> Any:
    """Make a csr_array with rows of these lengths, at most `columns`, at random columns, with values 1.0.

    Each of a row's k nonzeros has a k-th of the columns to itself, so no two are the same.
    """
    lengths = np.asarray(lengths, np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    own = np.repeat(lengths, lengths)
    at = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    low, high = at * columns // own, (at + 1) * columns // own
    indices = low + (rng.random(len(low)) * (high - low)).astype(np.int64)
    parts = np.ones(len(low)), indices.astype(np.int32), offsets.astype(np.int32)
    return sp.csr_array(parts, shape=(len(lengths), columns))


def random_lengths(order: int, mean: int, few_dense: bool) -> Any:
    """Return the lengths of `order` rows with this mean: all equal; or half of the nonzeros in mean / 2 full rows."""
    if not few_dense:
        return np.full(order, mean)
    dense = mean // 2
    each, left = divmod(order * (mean - dense), order - dense)
    lengths = np.full(order, each)
    lengths[:left] += 1
    lengths[order - dense :] = order
    return lengths


def there(site: Site, matrix: Matrix) -> Any:
    """Return one of the matrices as a CSR layout, where the experiment runs. It is copied once."""
    return site.once(("there", matrix.name), lambda: on_place(site, matrix.matrix))


def on_place(site: Site, matrix: Any) -> Any:
    """Return a csr_array as a CSR layout where the experiment runs."""
    arrays = (site.xp.asarray(part) for part in (matrix.data, matrix.indices, matrix.indptr))
    return ev.csr(tuple(arrays), shape=matrix.shape, check=False)
