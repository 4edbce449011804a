"""`ev.linalg.spgemm` and its `estimate`."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, cast

import numpy as np

import evenly as ev
from evenly import kit

from .on_gpu import OnGpu
from .on_host import OnHost
from .work import Work


class Estimate(NamedTuple):
    """What a product of sparse matrices is going to be.

    nonzeros: of the result, exactly. bytes: of its three arrays. products: multiplications of two nonzeros.
    """

    nonzeros: int
    bytes: int
    products: int


def estimate(
    A: Any,
    B: Any,
    *,
    max_workspace: int | None = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Estimate:
    """Count the nonzeros of A B, as `ev.linalg.spgemm(A, B, ...)` counts them before it makes any.

    Returns an `Estimate` of nonzeros, bytes and products.
    """
    work = _work(A, B, max_workspace, schedule, target)
    offsets, total = work.counted()
    size = kit.dtype(offsets).itemsize * len(offsets) + (4 + work.found.itemsize) * total
    return Estimate(total, size, work.products)


class WithEstimate(Protocol):
    """What `spgemm` is: a function that has an `estimate`."""

    estimate: Any

    def __call__(self, A: Any, B: Any, **how: Any) -> Any: ...


def with_estimate(function: Any) -> WithEstimate:
    function.estimate = estimate
    return cast(WithEstimate, function)


@with_estimate
def spgemm(
    A: Any,
    B: Any,
    *,
    max_workspace: int | None = None,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Compute C = A B for sparse matrices, as the layout of `ev.csr`. Columns ascend in its rows, and none is twice.

    Its arrays are of the library of A's, on the same device; NumPy's for a tensor of PyTorch in host memory.

    A: (m, n), B: (n, k): sparse matrices of SciPy, CuPy or PyTorch, or layouts of `ev.csr`, `ev.csc` or `ev.coo`,
      on one device. Others than CSR are converted at each call. C has an entry wherever both factors of
      some product are stored, also where products add up to 0.
    max_workspace: the most bytes to use beside A, B and C. Some are needed for each row and each nonzero of A; the
      rest bounds how many long rows are worked on at a time. Default: 1 GiB for long rows.
    schedule: who owns a row, or a window of columns of a long one, or on a CPU a part of consecutive rows; one that
      owns whole tiles. "auto": on a GPU threads, warps and blocks, by how many products a row has.
    target: as of `ev.spmv`. On a GPU the call waits.

    C has NumPy's result type of A and B; float16 or bfloat16 if both have, with sums in float32. Products of equal
    places are added up in the order of the row of A, so the same arguments give the same bits under every schedule and
    on every target of one arithmetic. Raises InputError if shapes or devices do not match, for 2**31 - 2 columns and
    more, and if `max_workspace` is too small.

    `ev.linalg.spgemm.estimate(A, B)` counts the nonzeros of C without making it.

    >>> import scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 1.0, 0.0]])
    >>> C = ev.linalg.spgemm(A, A)
    >>> C.offsets.tolist(), C.indices.tolist(), C.values.tolist()
    ([0, 3, 4, 5], [0, 1, 2, 1, 1], [1.0, 2.0, 2.0, 9.0, 3.0])
    """
    return _work(A, B, max_workspace, schedule, target).result()


def _work(A: Any, B: Any, max_workspace: Any, schedule: Any, target: str) -> Work:
    """Check the arguments of a product."""
    A, B = kit.as_csr(A, "A"), kit.as_csr(B, "B")
    (_, inner), (depth, columns) = kit.shape(A, "A"), kit.shape(B, "B")
    if inner != depth:
        expected = f"a matrix of {inner} rows, the columns of A"
        raise ev.InputError("B", expected=expected, given=f"shape {(depth, columns)}")
    if columns >= 2**31 - 2:
        raise ev.InputError("B", expected="fewer than 2**31 - 2 columns", given=f"{columns:,}")
    kit.check_beside(B.values, "B", A.values, "A")
    most = None if max_workspace is None else _bytes_of(max_workspace)
    schedule = kit.of_whole_lists(schedule, "rows")
    with kit.renamed(x="A"):
        found = kit.result_type(A, B)
    on_host = not kit.on_gpu(A.values) and target != "simt"
    return (OnHost if on_host else OnGpu)(A, B, found, most, schedule, target)


def _bytes_of(given: Any) -> int:
    whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if not whole or given < 1:
        expected = "a number of bytes, 1 or more"
        raise ev.InputError("max_workspace", expected=expected, given=repr(given))
    return int(given)
