"""One matrix to be multiplied: two sets of values and vectors, and what is right."""

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
    """y = A x in `dtype`.

    matrix: (m, n) csr_array with int32 indices where they fit.
    sets: pairs of values (nnz,) and x (n,). Timed runs take them in turn, so that nobody can
      live off a copy of old ones; results are checked on the last.
    """

    name: str
    origin: str
    matrix: Any
    sets: tuple[tuple[Array, Array], ...]

    @property
    def nnz(self) -> int:
        return int(self.matrix.nnz)

    def reference(self) -> Reference:
        """What is right for the last set."""
        return Reference(self.matrix, self.sets[-1][1])


def case_of(source: Source, dtype: str) -> Case:
    """Read or generate it. Raises InputError where it cannot be read or is empty."""
    matrix = in_type(source.make(), dtype)
    if not matrix.nnz:
        raise InputError(source.name, expected="a matrix with nonzeros", given="none")
    rng = np.random.default_rng(0)
    kind = matrix.dtype.type
    first, second = rng.random(matrix.shape[1], kind), rng.random(matrix.shape[1], kind)
    other = rng.random(matrix.nnz, kind)
    return Case(source.name, source.origin, matrix, ((other, first), (matrix.data.copy(), second)))
