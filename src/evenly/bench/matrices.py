"""The matrices of the benchmark: ten generated ones, and the files of a folder."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from evenly.cache import read_file, write_file
from evenly.errors import InputError, printable, unknown
from evenly.interop import generators, matrix_files
from evenly.interop.matrix_files import ENDINGS, from_npz, to_npz

# Regular, gather-bound, skewed and tiny matrices. The schedules were designed on the same ten.
SYNTHETIC: dict[str, Callable[[], Any]] = {
    "stencil-2048": partial(generators.stencil, 2048),
    "band-64": partial(generators.banded, 500_000, 64),
    "uniform-16": partial(generators.uniform, 2_000_000, 16),
    "rmat-18": partial(generators.rmat, 18),
    "rmat-20": partial(generators.rmat, 20),
    "rmat-22": partial(generators.rmat, 22),
    "dense-rows-20": partial(generators.dense_rows, 1_000_000, 4, 20),
    "one-a-row-4M": partial(generators.uniform, 4_000_000, 1),
    "four-a-row-1138": partial(generators.uniform, 1138, 4),
    "ten-a-row-100k": partial(generators.uniform, 100_000, 10),
}


@dataclass(frozen=True, slots=True)
class Source:
    """A matrix that can be made.

    origin: "synthetic", "file" or "family". make: returns its csr_array, of any real dtype.
    lengths, columns, stream: of one drawn by families, see evenly.interop.families.Member.
    """

    name: str
    origin: str
    make: Callable[[], Any]
    lengths: str = ""
    columns: str = ""
    stream: bool = False


def sources(
    folder: str | None,
    only: Iterable[str] = (),
    synthetic: dict[str, Callable[[], Any]] | None = None,
    real_part: bool = True,
) -> list[Source]:
    """Return the generated matrices, then those of the folder and its subfolders, sorted by name.

    only: if there are any, return just the matrices with these names. synthetic: what makes the generated ones.
      Default: the ten. real_part: of files with complex values, the real part is taken; else they stay complex.

    Raises InputError if the folder does not exist or has no matrix, and for unknown names.
    """
    generated = SYNTHETIC if synthetic is None else synthetic
    found = [Source(name, "synthetic", make) for name, make in generated.items()]
    if folder is not None:
        found += from_folder(Path(folder), real_part)
    chosen = list(only)
    known = {source.name for source in found}
    for name in chosen:
        if name not in known:
            raise unknown("--only", name, known)
    return [source for source in found if not chosen or source.name in chosen]


def in_type(matrix: Any, dtype: Any) -> Any:
    """Return the csr_array with values of another dtype, duplicates included. (SciPy's astype would sum them.)"""
    import scipy.sparse

    arrays = matrix.data.astype(dtype), matrix.indices, matrix.indptr
    return scipy.sparse.csr_array(arrays, shape=matrix.shape)


def from_folder(folder: Path, real_part: bool = True) -> list[Source]:
    """Return the matrices in a folder and its subfolders. real_part: as of `read`."""
    expected = f"a folder with matrices ({', '.join(ENDINGS)})"
    if not folder.is_dir():
        given = "a file" if folder.exists() else "no such folder"
        raise InputError(str(folder), expected=expected, given=given)
    files = sorted(p for p in folder.rglob("*") if p.name.endswith(ENDINGS))
    if not files:
        raise InputError(str(folder), expected=expected, given="a folder without any")
    return [Source(name_of(path, folder), "file", partial(read, path, real_part)) for path in files]


def name_of(path: Path, folder: Path) -> str:
    """Return the name of a file's matrix: "batched/cage8" for folder/batched/cage8.mtx.gz."""
    ending = next(e for e in ENDINGS if path.name.endswith(e))
    return printable(path.relative_to(folder).as_posix().removesuffix(ending))


def read(path: Path, real_part: bool = True) -> Any:
    """Read the csr_array in a file. real_part: of complex values, take the real part.

    The result is kept in the cache, since parsing text takes longer than measuring.
    """
    if path.suffix == ".npz":
        return matrix_files.read(path, real_part=real_part)
    status = path.stat()
    what = f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{real_part}"
    name = hashlib.sha256(what.encode()).hexdigest() + ".npz"
    cached = read_file("matrices", name)
    if cached is not None:
        return from_npz(io.BytesIO(cached), str(path))
    matrix = matrix_files.read(path, real_part=real_part)
    matrix.sort_indices()
    write_file("matrices", name, to_npz(matrix))
    return matrix
