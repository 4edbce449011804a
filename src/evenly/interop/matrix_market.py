"""Matrix Market files, plain or compressed, as SciPy matrices, with answers for bad ones.

Source: Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats" (1996);
the reading itself is scipy.io's.
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from evenly.errors import InputError

EXPECTED = "a Matrix Market file"
HINT = "it begins with '%%MatrixMarket matrix coordinate real general'"


def read(path: str | os.PathLike[str], dtype: Any = None, *, real_part: bool = False) -> Any:
    """The matrix in a file, plain, .gz or .bz2, as scipy.sparse.csr_array.

    Symmetric and skew-symmetric files are expanded, patterns get ones, dense
    ("array") files keep their nonzeros, duplicate entries are summed.

    dtype: of the values; default float64 for real and pattern files, int64 for
      integer files.
    real_part: of a complex file, take the real part; otherwise it is refused.

    Raises InputError, in one line that names the file, what is wrong and (where
    it is known) in which line, for what is missing, empty, truncated, malformed,
    complex or no Matrix Market file.
    """
    import scipy.io
    import scipy.sparse

    name = os.fspath(path)
    check_file(Path(name), name)
    with _Answers(name):
        info = scipy.io.mminfo(name)
    _check_header(name, real_part, *info)
    with _Answers(name):
        matrix = scipy.io.mmread(name, spmatrix=False)
    if matrix.dtype.kind == "c":
        matrix = matrix.real
    if matrix.dtype.kind == "u":
        matrix = matrix.astype(np.int64)
    if dtype is not None:
        matrix = matrix.astype(dtype)
    return scipy.sparse.csr_array(matrix)


def check_file(path: Path, name: str, expected: str = EXPECTED) -> None:
    """Raise InputError for what is no file, empty, or cannot be read."""
    try:
        if path.is_dir():
            raise InputError(name, expected=expected, given="a directory")
        if path.stat().st_size == 0:
            raise InputError(name, expected=expected, given="an empty file")
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        raise InputError(name, expected=expected, given="no such file") from None
    except OSError as error:
        given = error.strerror or str(error)
        raise InputError(name, expected="a file that can be read", given=given) from None


def check_real(name: str, real_part: bool) -> None:
    """Raise InputError for a complex matrix of which nobody asked for the real part."""
    if not real_part:
        hint = "read it in Python with evenly.interop.matrix_files.read(path, real_part=True)"
        raise InputError(name, expected="a real matrix", given="a complex one", hint=hint)


def _check_header(
    name: str,
    real_part: bool,
    rows: int,
    columns: int,
    entries: int,
    format: str,
    field: str,
    symmetry: str,
) -> None:
    if field == "complex":
        check_real(name, real_part)
    if symmetry != "general" and rows != columns:
        given = f"{rows} x {columns}"
        raise InputError(name, expected=f"a square matrix, being {symmetry}", given=given)
    # An entry takes at least "1 1" and a line end: ask before memory is taken for
    # a wrong number of them. (What a compressed file holds cannot be known.)
    compressed = name.endswith((".gz", ".bz2"))
    size = os.path.getsize(name)
    if format == "coordinate" and not compressed and entries > 1000 and 4 * entries > size + 1:
        expected = f"{entries:,} entries, as its header says"
        given = f"a file of {size:,} bytes: it is truncated"
        raise InputError(name, expected=expected, given=given)


class _Answers:
    """Turns what scipy.io, gzip and bz2 raise into an InputError about the file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, EOFError | zlib.error):
            given = "a truncated compressed file"
        elif isinstance(error, MemoryError):
            given = "sizes in its header that do not fit into memory"
        elif isinstance(error, ValueError | OverflowError | OSError):
            given = _said(str(error))
        else:
            return
        hint = HINT if "banner" in given else ""
        raise InputError(self.name, expected=EXPECTED, given=given, hint=hint) from error


def _said(text: str) -> str:
    """SciPy's message as the end of a sentence: 'line 4: row index out of bounds'."""
    line = re.match(r"Line (\d+): (.*)", text, re.DOTALL)
    where, what = (f"line {line[1]}: ", line[2]) if line else ("", text)
    more = re.match(r"Truncated file\. Expected another (\d+) lines", what)
    if more:
        what = f"a truncated file: {more[1]} more lines were expected"
    what = what.rstrip(".")
    if len(what) > 1 and what[1].islower():
        what = what[0].lower() + what[1:]
    return where + what
