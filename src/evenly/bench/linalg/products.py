"""What is measured: products of `ev.linalg`, how others compute them, the bytes that each has to move, and checks.

A product is made of a case: its matrix, and operands of a width, where they are worked on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

import numpy as np
import scipy.sparse

import evenly as ev
from evenly.bench.contender import (
    AUTO,
    CALL,
    HAND,
    KERNELS,
    LIBRARY,
    Contender,
    LeftOut,
    prepared,
)
from evenly.bench.hardwired import C_TYPES
from evenly.bench.validation import Reference, errors_of_product, gamma
from evenly.interop.transfer import to_numpy

from . import matrices
from .case import Case
from .cusparse import SDDMM, SPMM, DenseProduct

WORDS = 1, 2, 4, 8, 16, 32  # of 16 bytes in a row: what the kernel by hand takes
BLOCK = 128
AT_ONCE = 1 << 24  # terms that are checked at a time


@dataclass(frozen=True, slots=True)
class Product:
    """One product of `ev.linalg`.

    generated: what makes its matrices. widths: whether it has operands of a number of columns.
    contenders(case): ours, then the others. checked(case): a function of a result that says how many entries are wrong.
    moved(case): the bytes that it has to move, each once.
    """

    generated: dict[str, Callable[[], Any]]
    contenders: Callable[[Case], Iterator[Contender | LeftOut]]
    checked: Callable[[Case], Callable[[Any], int]]
    moved: Callable[[Case], int]
    widths: bool = True


# ---- SpMM ------------------------------------------------------------------------------------------
def spmm(case: Case) -> Iterator[Contender | LeftOut]:
    """C = A B."""
    B, C = case.dense(case.shape[1], 1), case.dense(case.shape[0], 2)
    yield prepared("auto", partial(_planned, case, ev.linalg.spmm, (B,), C))
    if case.on_cpu:
        yield Contender("SciPy", LIBRARY, CALL, lambda: case.matrix @ B)
        return
    for name, number in SPMM.items():
        yield prepared(
            f"cuSPARSE, {name}", partial(_cusparse, case, "SpMM", name, number, case.arrays, (B, C))
        )
    if case.width * case.itemsize % 16 == 0 and case.width * case.itemsize // 16 in WORDS:
        for unroll in (2, 4):
            yield prepared(f"by hand, {unroll} in flight", partial(_by_hand, case, unroll, B, C))


def checked_spmm(case: Case) -> Callable[[Any], int]:
    return Reference(case.matrix, to_numpy(case.dense(case.shape[1], 1))).errors


def moved_by_spmm(case: Case) -> int:
    return case.structure + case.nnz * case.itemsize + case.rows_of_both


# ---- SDDMM -----------------------------------------------------------------------------------------
def sddmm(case: Case) -> Iterator[Contender | LeftOut]:
    """X Z^T at A's pattern. A's values are not read, as cuSPARSE does not."""
    X, Z, out = case.dense(case.shape[0], 1), case.dense(case.shape[1], 2), case.vector()
    yield prepared("auto", partial(_planned, case, ev.linalg.sddmm, (X, Z), out, weighted=False))
    if case.on_cpu:
        yield Contender("NumPy, einsum", LIBRARY, CALL, partial(_einsum, case, X, Z))
        return
    given = *case.arrays[:2], case.vector()
    for name, number in SDDMM.items():
        yield prepared(
            f"cuSPARSE, {name}", partial(_cusparse, case, "SDDMM", name, number, given, (X, Z))
        )


def _einsum(case: Case, X: Any, Z: Any) -> Any:
    return np.einsum("ij,ij->i", X[case.row_of], Z[case.matrix.indices])


def checked_sddmm(case: Case) -> Callable[[Any], int]:
    """Compare with products in float64, within the bound of the rounding error of a sum of so many terms."""
    X, Z = (to_numpy(case.dense(n, seed)) for seed, n in enumerate(case.shape, 1))
    exact, each = np.empty(case.nnz), max(AT_ONCE // max(case.width, 1), 1)
    for first in range(0, case.nnz, each):
        at = slice(first, first + each)
        terms = X[case.row_of[at]], Z[case.matrix.indices[at]]
        exact[at] = np.einsum("ij,ij->i", *terms, dtype=np.float64)
    relative = gamma(case.width, X.dtype) + gamma(case.width, np.float64)
    bound = relative * exact  # no term is negative

    def errors(found: Any) -> int:
        return int(np.count_nonzero(~(np.abs(found - exact) <= bound)))

    return errors


def moved_by_sddmm(case: Case) -> int:
    return case.structure + case.nnz * case.itemsize + case.rows_of_both


# ---- SpGEMM ----------------------------------------------------------------------------------------
def spgemm(case: Case) -> Iterator[Contender | LeftOut]:
    """C = A A, or A A^T of a matrix that is not square. Whole calls, with what they allocate."""
    A, B = case.A, case.other
    yield Contender("auto", AUTO, CALL, lambda: ev.linalg.spgemm(A, B))
    if case.on_cpu:
        matrix, other = case.matrix, case.other_matrix
        yield Contender("SciPy", LIBRARY, CALL, lambda: _sorted(matrix @ other))
    else:
        yield prepared("CuPy, cuSPARSE", partial(_by_cupy, case))


def _sorted(C: Any) -> Any:
    C.sort_indices()
    return C


def _by_cupy(case: Case) -> Contender:
    from cupyx.scipy.sparse import csr_matrix

    A, B = (csr_matrix(x) for x in (case.matrix, case.other_matrix))
    return Contender("CuPy, cuSPARSE", LIBRARY, CALL, lambda: _sorted(A @ B))


def checked_spgemm(case: Case) -> Callable[[Any], int]:
    return lambda found: errors_of_product(case.matrix, case.other_matrix, ev.csr(found))


def moved_by_spgemm(case: Case) -> int:
    made = int(ev.linalg.spgemm.estimate(case.A, case.other).bytes)
    return made + 2 * (case.structure + case.nnz * case.itemsize)


# ---- what they share -------------------------------------------------------------------------------
def _planned(case: Case, of: Any, operands: tuple[Any, ...], out: Any, **how: Any) -> Contender:
    product = of.plan(case.A, *operands, out=out, **how)
    return Contender("auto", AUTO, case.place.clock, product, str(product.schedule))


def _cusparse(
    case: Case, kind: str, name: str, number: int, A: Any, dense: tuple[Any, Any]
) -> Contender:
    product = DenseProduct(kind, number, A, dense)
    out = A[2] if kind == "SDDMM" else dense[1]

    def launch() -> Any:
        product()
        return out

    return Contender(f"cuSPARSE, {name}", LIBRARY, KERNELS, launch)


def _by_hand(case: Case, unroll: int, B: Any, C: Any) -> Contender:
    import cupy

    code = resources.files(__package__).joinpath("by_hand.cu").read_text()
    about = {"TYPE": C_TYPES[B.dtype.name], "COLUMNS": case.width, "UNROLL": unroll}
    options = "-std=c++17", *(f"-D{name}={value}" for name, value in about.items())
    kernel = cupy.RawModule(code=code, options=options).get_function("spmm")
    lanes = min(32, case.width * case.itemsize // 16)
    blocks = -(-case.shape[0] * lanes // BLOCK)
    given = *case.arrays, B, C, np.int32(case.shape[0])

    def launch() -> Any:
        kernel((blocks,), (BLOCK,), given)
        return C

    return Contender(f"by hand, {unroll} in flight", HAND, KERNELS, launch)


PRODUCTS: dict[str, Product] = {
    "spmm": Product(matrices.DENSE, spmm, checked_spmm, moved_by_spmm),
    "sddmm": Product(matrices.DENSE, sddmm, checked_sddmm, moved_by_sddmm),
    "spgemm": Product(matrices.SPARSE, spgemm, checked_spgemm, moved_by_spgemm, widths=False),
}


def host_result(found: Any) -> Any:
    """Return a result in CPU memory: an array, or a sparse matrix as SciPy has it."""
    if hasattr(found, "offsets"):
        host = found.to("cpu")
        return scipy.sparse.csr_array((host.values, host.indices, host.offsets), shape=host.shape)
    if hasattr(found, "indptr"):
        return found.get() if hasattr(found, "get") else found
    return to_numpy(found)
