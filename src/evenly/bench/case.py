"""One matrix to multiply, with two sets of values and vectors, and the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.bench.validation import Reference
from evenly.errors import InputError

from .matrices import Source, in_type

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """y = A x for one matrix.

    matrix: (m, n) csr_array, with int32 indices if they fit.
    sets: pairs of values (nnz,) and x (n,). Timed runs alternate between them, so that a contender
      that works on a copy of old values fails its check. Results are checked on the last set.
    """

    source: Source
    matrix: Any
    sets: tuple[tuple[Array, Array], ...]

    @property
    def nnz(self) -> int:
        return int(self.matrix.nnz)

    def reference(self) -> Reference:
        """Compute the reference for the last set."""
        return Reference(self.matrix, self.sets[-1][1])


def case_of(source: Source, dtype: str) -> Case:
    """Read or generate the matrix of a source. Raises InputError if it cannot be read or is empty."""
    matrix = in_type(source.make(), dtype)
    if not matrix.nnz:
        raise InputError(source.name, expected="a matrix with nonzeros", given="none")
    rng = np.random.default_rng(0)
    kind = matrix.dtype.type
    first, second = rng.random(matrix.shape[1], kind), rng.random(matrix.shape[1], kind)
    other = rng.random(matrix.nnz, kind)
    return Case(source, matrix, ((other, first), (matrix.data.copy(), second)))
