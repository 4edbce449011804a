"""Matrices in files: Matrix Market, and what scipy.sparse.save_npz writes."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

from evenly.errors import InputError, one_line

from . import matrix_market

ENDINGS = (".mtx", ".mtx.gz", ".mtx.bz2", ".npz")
SAVED = "a matrix of scipy.sparse.save_npz"


def read(path: str | os.PathLike[str], dtype: Any = None, *, real_part: bool = False) -> Any:
    """The csr_array in a file: a matrix of SciPy's where it ends in .npz, else Matrix Market.

    dtype: of the values; default as they are in the file.
    real_part: of complex values, take the real part.

    Raises InputError, in one line that names the file, for what cannot be read, and for values
    that `dtype` cannot hold.
    """
    name = os.fspath(path)
    if not name.endswith(".npz"):
        return matrix_market.read(path, dtype, real_part=real_part)
    matrix_market.check_file(Path(path), name, SAVED)
    matrix = from_npz(path, name)
    return matrix_market.in_type(matrix.real if real_part else matrix, dtype, name)


def from_npz(file: Any, name: str) -> Any:
    """The csr_array that save_npz wrote to a path or an open file; `name` is for messages.

    Its structure is checked: a column that is not there would have a kernel read beyond its vector.
    """
    import scipy.sparse

    if not zipfile.is_zipfile(file):
        raise InputError(name, expected=SAVED, given="no .npz archive")
    try:
        saved = scipy.sparse.load_npz(file)
        if hasattr(saved, "check_format"):  # the others cannot be made with such a structure
            saved.check_format(full_check=True)  # before native code converts it
        rows, columns = saved.shape
        matrix_market.check_memory(name, rows, columns, 8 * rows)
        matrix = scipy.sparse.csr_array(saved)
    except InputError:
        raise
    except Exception as error:  # of zipfile, of NumPy, of SciPy
        given = one_line(ascii(str(error))[1:-1]) or type(error).__name__
        raise InputError(name, expected=SAVED, given=given) from None
    if matrix.dtype.kind not in "biufc":
        raise InputError(name, expected=SAVED, given=f"values of type {matrix.dtype}")
    return matrix


def to_npz(matrix: Any, compressed: bool = False) -> bytes:
    """A csr_array as scipy.sparse.save_npz writes it."""
    import scipy.sparse

    out = io.BytesIO()
    scipy.sparse.save_npz(out, matrix, compressed=compressed)
    return out.getvalue()
