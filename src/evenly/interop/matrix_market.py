"""Read Matrix Market files, plain or compressed, as SciPy matrices, and say what is wrong with bad ones.

This does not use scipy.io's reader: at a malformed line that one may return a wrong number, or
crash the process.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from evenly.errors import InputError

from .market_body import Entries, read_body
from .market_lines import EXPECTED, Header, Unfit, read_header


def read(path: str | os.PathLike[str], dtype: Any = None, *, real_part: bool = False) -> Any:
    """Read the matrix in a file (plain, .gz or .bz2), as scipy.sparse.csr_array.

    Symmetric, skew-symmetric and Hermitian matrices are expanded. The entries of a pattern are
    ones. Zeros of a dense ("array") file are left out. Duplicate entries are summed.

    dtype: of the values. Default: float64 for real and pattern files, int64 (uint64) for
      integer (unsigned-integer) files, complex128 for complex files.
    real_part: take the real part of a complex file.

    Raises InputError if the file is missing, empty, truncated, malformed or not a Matrix Market
    file, or if `dtype` cannot hold a value. The message is one line: the file, the line in it,
    what was expected and what was found.
    """
    name = os.fspath(path)
    check_file(Path(name), name)
    with _answers(name), _opened(name) as file:
        header = read_header(file)
        check_memory(name, header.rows, header.columns, 16 * header.rows)
        listed = _placed(header, read_body(file, header))
        _check_diagonal(header, listed)
        matrix = _summed(name, (header.rows, header.columns), _expanded(header, listed))
    return in_type(matrix.real if real_part else matrix, dtype, name)


def read_shape(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Read (rows, columns) of the matrix in a file, from its header alone. Raises InputError."""
    name = os.fspath(path)
    check_file(Path(name), name)
    with _answers(name), _opened(name) as file:
        header = read_header(file)
    return header.rows, header.columns


def check_file(path: Path, name: str, expected: str = EXPECTED) -> None:
    """Raise InputError if `path` is not a file, is empty, or cannot be read."""
    try:
        if path.is_dir():
            raise InputError(name, expected=expected, given="a directory")
        if path.exists() and not path.is_file():
            raise InputError(name, expected="a file on a disk", given="a pipe or a device")
        if path.stat().st_size == 0:
            raise InputError(name, expected=expected, given="an empty file")
        with path.open("rb") as file:
            file.read(1)
    except FileNotFoundError:
        raise InputError(name, expected=expected, given="no such file") from None
    except OSError as error:
        given = error.strerror or str(error)
        raise InputError(name, expected="a file that can be read", given=given) from None


def check_memory(name: str, rows: int, columns: int, needed: int) -> None:
    """Raise InputError if the vectors of a matrix need more bytes (`needed`) than there is free memory."""
    free = free_memory()
    if free is not None and needed > free:
        given = f"{rows:,} x {columns:,}, whose vectors take {needed / 2**30:,.0f} GiB"
        expected = f"a matrix that fits into this machine's {free / 2**30:,.0f} GiB of free memory"
        raise InputError(name, expected=expected, given=given)


def free_memory() -> int | None:
    """Return the free memory in bytes, else the total memory if the system does not tell, else None."""
    try:
        found = re.search(
            r"^MemAvailable: *(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE
        )
        if found:
            return int(found[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def in_type(matrix: Any, dtype: Any, name: str, called: str = "") -> Any:
    """Convert the values of a matrix to `dtype` (None: leave them). Raises InputError if it cannot hold one.

    called: the name for messages, if the user asked for another type than `dtype`.
    """
    if dtype is None or matrix.dtype == (dtype := np.dtype(dtype)):
        return matrix
    if matrix.dtype.kind == "c" and dtype.kind != "c":
        hint = "complex64 or complex128 holds them"
        raise InputError(
            name, expected=f"real values, for {called or dtype}", given="complex ones", hint=hint
        )
    with np.errstate(all="ignore"):
        made = matrix.astype(dtype)
    check_kept(matrix.data, made.data, called or str(dtype), name)
    return made


def check_kept(values: Any, made: Any, dtype: str, name: str) -> None:
    """Raise InputError if the conversion of `values` to `made` lost more than rounding: a value out of range."""
    if made.dtype.kind in "iu":
        lost = made != values
    elif made.dtype.kind == "c":
        lost = _overflows(values.real, made.real) | _overflows(values.imag, made.imag)
    else:
        lost = _overflows(values, made)
    if lost.any():
        given = f"{np.count_nonzero(lost):,} beyond it, such as {values[lost][0]:g}"
        raise InputError(name, expected=f"values in the range of {dtype}", given=given)


def sums_overflow(coo: Any) -> bool:
    """Whether the sum of duplicate 64-bit integers overflows for any position of the matrix."""
    half, mask = 32, (1 << 32) - 1  # sums of halves fit into 64 bits
    parts = (coo.data >> half, coo.data & mask)
    high, low = (
        type(coo)((part.astype(np.int64), coo.coords), coo.shape).tocsr().data for part in parts
    )
    ends, whole = np.iinfo(coo.dtype), high + (low >> half)
    return bool(whole.min() < ends.min >> half or whole.max() > ends.max >> half)


def _overflows(values: Any, made: Any) -> Any:
    return np.isfinite(values) & ~np.isfinite(made)


@contextlib.contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    kinds: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    with kinds.get(Path(name).suffix, open)(name, "rb") as file:
        yield cast(BinaryIO, file)


@contextlib.contextmanager
def _answers(name: str) -> Iterator[None]:
    """Turn Unfit, and the errors of gzip, bz2 and the system, into an InputError about the file."""
    try:
        yield
    except Unfit as error:
        where = f"{name}: line {error.line}"
        raise InputError(
            where, expected=error.expected, given=error.given, hint=error.hint
        ) from None
    except EOFError:
        expected, given = "a whole compressed file", "a truncated one"
        raise InputError(name, expected=expected, given=given) from None
    except (OSError, zlib.error) as error:
        read = isinstance(error, OSError) and error.strerror
        expected, given = "a file that can be read", read or f"a damaged one ({error})"
        raise InputError(name, expected=expected, given=given) from None
    except MemoryError:
        given = "more than fits into memory"
        raise InputError(name, expected=EXPECTED, given=given) from None


def _placed(header: Header, listed: Entries) -> Entries:
    """Give the nonzeros of an "array" file their rows and columns. Leave other files as they are."""
    if header.indexed:
        return listed
    kept = np.flatnonzero(listed.values)
    if header.symmetry == "general":
        columns, rows = np.divmod(kept, max(header.rows, 1))
    else:  # one triangle, column by column
        first = 1 if header.symmetry == "skew-symmetric" else 0
        columns, rows = (all[kept] for all in np.triu_indices(header.rows, first))
    return Entries(rows, columns, listed.values[kept])


def _expanded(header: Header, listed: Entries) -> Entries:
    """Add the other triangle of a symmetric, skew-symmetric or Hermitian matrix."""
    if header.symmetry == "general":
        return listed
    rows, columns, values = listed
    off = rows != columns
    mirrored = values[off]
    if header.symmetry == "skew-symmetric":
        mirrored = -mirrored
    elif header.symmetry == "hermitian":
        mirrored = mirrored.conj()
    return Entries(
        np.concatenate([rows, columns[off]]),
        np.concatenate([columns, rows[off]]),
        np.concatenate([values, mirrored]),
    )


def _check_diagonal(header: Header, listed: Entries) -> None:
    """Raise Unfit if the diagonal of a Hermitian matrix is not real."""
    if header.symmetry != "hermitian":
        return
    (wrong,) = np.nonzero((listed.rows == listed.columns) & (listed.values.imag != 0))
    if len(wrong):
        row, value = listed.rows[wrong[0]] + 1, listed.values[wrong[0]]
        expected = "real numbers on the diagonal, the file being hermitian"
        raise Unfit(header.line, expected, f"{value:g} in row {row:,}")


def _summed(name: str, shape: tuple[int, int], entries: Entries) -> Any:
    """Make the csr_array, with duplicates summed. Raises InputError if a sum of integers overflows."""
    import scipy.sparse

    coo = scipy.sparse.coo_array((entries.values, (entries.rows, entries.columns)), shape=shape)
    matrix = scipy.sparse.csr_array(coo)
    if matrix.dtype.kind in "iu" and matrix.nnz < coo.nnz and sums_overflow(coo):
        expected = f"entries of one place whose sum fits into {matrix.dtype}"
        raise InputError(name, expected=expected, given="a sum beyond it")
    return matrix
