"""Matrices in files: Matrix Market, and what scipy.sparse.save_npz writes."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

from evenly.errors import InputError

from . import matrix_market

ENDINGS = (".mtx", ".mtx.gz", ".mtx.bz2", ".npz")
SAVED = "a matrix of scipy.sparse.save_npz"


def read(path: str | os.PathLike[str], *, real_part: bool = False) -> Any:
    """The csr_array in a file: a matrix of SciPy's where it ends in .npz, else Matrix Market.

    real_part: of complex values, take the real part; otherwise they are refused.

    Raises InputError, in one line that names the file, for what cannot be read.
    """
    if not os.fspath(path).endswith(".npz"):
        return matrix_market.read(path, real_part=real_part)
    name = os.fspath(path)
    matrix_market.check_file(Path(path), name, SAVED)
    return from_npz(path, name, real_part)


def from_npz(file: Any, name: str, real_part: bool = False) -> Any:
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
        matrix = scipy.sparse.csr_array(saved)
    except Exception as error:  # of zipfile, of NumPy, of SciPy
        given = " ".join(str(error).split()) or type(error).__name__
        raise InputError(name, expected=SAVED, given=given) from None
    if matrix.dtype.kind not in "biufc":
        raise InputError(name, expected=SAVED, given=f"values of type {matrix.dtype}")
    if matrix.dtype.kind == "c":
        matrix_market.check_real(name, real_part)
        matrix = matrix.real
    return matrix


def to_npz(matrix: Any, compressed: bool = False) -> bytes:
    """A csr_array as scipy.sparse.save_npz writes it."""
    import scipy.sparse

    out = io.BytesIO()
    scipy.sparse.save_npz(out, matrix, compressed=compressed)
    return out.getvalue()
