"""Matrices in files: Matrix Market, and what scipy.sparse.save_npz writes."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from evenly.errors import InputError, one_line

from . import matrix_market
from .saved_arrays import saved_matrix

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
    """The csr_array that save_npz wrote to a path or an open file; `name` is for messages. Raises InputError."""
    if not zipfile.is_zipfile(file):
        raise InputError(name, expected=SAVED, given="no .npz archive")
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return saved_matrix(dict(arrays))
    except Exception as error:  # of zipfile, of NumPy, of what is saved
        given = one_line(str(error)) or type(error).__name__
        raise InputError(name, expected=SAVED, given=given) from None


def to_npz(matrix: Any, compressed: bool = False) -> bytes:
    """A csr_array as scipy.sparse.save_npz writes it."""
    import scipy.sparse

    out = io.BytesIO()
    scipy.sparse.save_npz(out, matrix, compressed=compressed)
    return out.getvalue()
