"""Read matrices from Matrix Market files and from the .npz files of scipy.sparse.save_npz."""

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
    """Read the matrix in a file, as csr_array. A name that ends in .npz is SciPy's format, any other Matrix Market.

    dtype: of the values. Default: as in the file.
    real_part: take the real part of complex values.

    Raises InputError, in one line that names the file, if it cannot be read or `dtype` cannot
    hold a value.
    """
    name = os.fspath(path)
    if not name.endswith(".npz"):
        return matrix_market.read(path, dtype, real_part=real_part)
    matrix_market.check_file(Path(path), name, SAVED)
    matrix = from_npz(path, name)
    return matrix_market.in_type(matrix.real if real_part else matrix, dtype, name)


def from_npz(file: Any, name: str) -> Any:
    """Read what save_npz wrote to a path or an open file, as csr_array. name: for messages. Raises InputError."""
    if not zipfile.is_zipfile(file):
        raise InputError(name, expected=SAVED, given="no .npz archive")
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return saved_matrix(dict(arrays))
    except Exception as error:  # zipfile, NumPy and `saved_matrix` raise errors of many classes
        given = one_line(str(error)) or type(error).__name__
        raise InputError(name, expected=SAVED, given=given) from None


def to_npz(matrix: Any, compressed: bool = False) -> bytes:
    """Return the bytes that scipy.sparse.save_npz writes for a csr_array."""
    import scipy.sparse

    out = io.BytesIO()
    scipy.sparse.save_npz(out, matrix, compressed=compressed)
    return out.getvalue()
