"""SpMV, y = A x: a sparse matrix times a dense vector.

There are two kernels: one for layouts whose tiles are rows, and one for the others. Neither
depends on the schedule or the target. y = alpha A x + beta y has a kernel of its own. Schedules of schedules hand out
items, so the kernels over rows have a twin with a loop over items around the one over rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def spmv_rows(A, x, y):
    """y = A x for layouts whose tiles are rows: CSR, ELL, BCSR, DIA, their subsets, a user's own."""
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.func
def held(number, array):
    """A scalar that the host knows, or else one that lies on the device."""
    if array is None:
        return number
    return array[0]


@ev.func
def combined(product, y, row, alpha, beta, alphas, betas, adds):
    """The new y[row], where nothing is multiplied by 0. adds: None if the host knows that beta is 0."""
    a = held(alpha, alphas)
    scaled = a * product if a != 0 else 0
    if adds is None:
        return scaled
    b = held(beta, betas)
    return scaled + b * y[row] if b != 0 else scaled


@ev.kernel
def spmv_scaled(A, x, y, alpha, beta, alphas, betas, adds):
    """y = alpha A x + beta y."""
    for row in A.tiles():
        product = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
        y[row] = combined(product, y, row, alpha, beta, alphas, betas, adds)


@ev.kernel
def spmv_items(B, x, y):
    """y = A x for layouts with items, under a schedule that hands out items."""
    for item in B.items():
        for row in B.tiles(item):
            y[row] = sum(B.value(k) * x[B.column(k)] for k in B.atoms(row))


@ev.kernel
def spmv_items_scaled(B, x, y, alpha, beta, alphas, betas, adds):
    """y = alpha A x + beta y, likewise."""
    for item in B.items():
        for row in B.tiles(item):
            product = sum(B.value(k) * x[B.column(k)] for k in B.atoms(row))
            y[row] = combined(product, y, row, alpha, beta, alphas, betas, adds)


_checked = spmv_rows.copy()  # it remembers only calls that have passed the checks of `spmv`
_product = _checked["auto"]


@ev.kernel
def spmv_atoms(A, x, y):
    """y += A x with atomics, for layouts whose tiles are columns (CSC) or nonzeros (COO)."""
    for tile in A.tiles():
        for k in A.atoms(tile):
            ev.atomic_add(y, A.row(k), A.value(k) * x[A.column(k)])


_checked_scaled = spmv_scaled.copy()  # likewise, and so are these:
_checked_items, _checked_items_scaled = spmv_items.copy(), spmv_items_scaled.copy()
_ONE, _ZERO = 1, 0  # the defaults: to find that there is nothing to scale costs next to nothing


def spmv(
    A: Any,
    x: Any,
    out: Any = None,
    *,
    alpha: Any = _ONE,
    beta: Any = _ZERO,
    schedule: Any = "auto",
    target: str = "auto",
) -> Any:
    """Compute y = A x, or y = alpha A x + beta y.

    The result is an array of the same library as x (NumPy, CuPy, PyTorch, `ev.DeviceArray`).

    A: (m, n), a sparse matrix of SciPy, CuPy or PyTorch, or a layout (`ev.csr`, ..., or your
      own whose tiles are rows).
    x: (n,), contiguous, on the same device as A.
    out: (m,), an array for the result, on the same device. It may not overlap A or x.
      Default: a new array of NumPy's result type of A and x; float16 or bfloat16 if both are.
      Sums of 16-bit values are float32, and an `out` of float32 keeps them. Over a subset of
      rows, the other rows of `out` stay as they are; in a new array they are 0.
    alpha, beta: numbers, or arrays of one element, () or (1,). With beta, `out` is y. As in BLAS, what
      is multiplied by 0 counts as 0: NaN in y, or in A and x, does not spread. A number has no
      precision, as Python's own in NumPy: only its kind counts, so 0.5 makes a float64 of integers,
      and 2j a complex number of real ones. An array on a GPU is read there, when the product is
      computed; its dtype counts.
    schedule: "auto", "tuned" (the first call for a structure measures, see docs/tuning.md), a name such as
      "merge_path", or a schedule such as `ev.MergePath()`. For a batch also `ev.Nested(outer, inner)`, which hands
      out its items.
    target: "auto" (where the arrays are), "cuda", "cpu", "simt" or "python".

    The same arguments give the same bits on every run, except under "tuned". For that, CSC and COO are grouped by
    row first, at every call: convert them with `ev.csr` or `A.tocsr()` to multiply often. After
    you change the structure of a matrix in place, "auto" may use its choice for the old one.

    Raises InputError if shapes, dtypes or devices do not match, for a beta without `out`, and for `ev.Nested` if A has
    no items.

    >>> import numpy as np, scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> y = ev.spmv(A, np.array([1.0, 10.0, 100.0]))
    >>> y
    array([201.,  30.])
    >>> ev.spmv(A, np.array([1.0, 0.0, 0.0]), y, alpha=2, beta=-1)
    array([-199.,  -30.])
    """
    if alpha is not _ONE or beta is not _ZERO:
        return _scaled(A, x, out, _scalars(alpha, beta, x), schedule, target)
    if schedule == target == "auto":
        product = _product
    else:
        product = _over(_checked, _checked_items, A, schedule).on(target)
    if out is not None and product.repeat(A, x, out):
        return out
    return _computed(product, A, x, out)


def _scaled(A: Any, x: Any, out: Any, scalars: Any, schedule: Any, target: str) -> Any:
    product = _over(_checked_scaled, _checked_items_scaled, A, schedule).on(target)
    if out is not None and product.repeat(A, x, out, *scalars):
        return out
    kit.shape(A)  # raises if it is no matrix
    if _leaves(scalars, kit.result_type(x, A)):
        return spmv(A, x, out, schedule=schedule, target=target)
    if out is None and scalars.adds is not None:
        raise ev.InputError("out", expected="the y that beta scales", given="none")
    return _computed(product, A, x, out, scalars)


def _over(rows: Any, items: Any, A: Any, schedule: Any) -> Any:
    """Return the kernel `rows` under this schedule, or `items` if it hands out the items of A."""
    if not isinstance(schedule, ev.Nested):
        return rows[schedule]
    if not kit.has_items(A):
        raise ev.InputError(
            "schedule",
            expected="one that hands out tiles, such as ev.ThreadMapped(), ev.MergePath()",
            given=str(schedule),
            hint=f"{type(A).__name__} has no items; ev.batch([...]) makes a matrix that has",
        )
    return items[schedule]


class Scalars(NamedTuple):
    """The arguments of `spmv_scaled` after y."""

    alpha: Any
    beta: Any
    alphas: Any
    betas: Any
    adds: int | None


def _scalars(alpha: Any, beta: Any, x: Any) -> Scalars:
    a, alphas = kit.scalar(alpha, "alpha", x, "x")
    b, betas = kit.scalar(beta, "beta", x, "x")
    adds = None if betas is None and b == 0 else 1
    return Scalars(a, None if adds is None else b, alphas, betas, adds)


def _leaves(given: Scalars, found: np.dtype[Any]) -> bool:
    """Whether a product of the dtype `found` is the result."""
    return given.adds is None and given.alpha == 1 and kit.common_type(found, given.alpha) == found


def _type_of(found: np.dtype[Any], given: Any, out: Any) -> np.dtype[Any]:
    """Return NumPy's dtype of alpha * product + beta * out, for a product of dtype `found`. given: () for none."""
    if not given:
        return found
    scaled = kit.scaled_type(found, given.alpha, given.alphas, "alpha")
    if given.adds is None:
        return scaled
    added = kit.scaled_type(kit.dtype(out), given.beta, given.betas, "beta")
    return kit.common_type(scaled, added)


def _computed(product: Any, A: Any, x: Any, out: Any, scalars: Any = ()) -> Any:
    A = kit.as_rows(A)
    rows, columns = kit.shape(A)
    kit.check_shape(x, (columns,), "x", "the columns of A")
    if out is not None:
        kit.check_shape(out, (rows,), "out", "the rows of A")
    if out is None or scalars:
        found = _type_of(kit.result_type(x, A), scalars, out)
    if out is None:
        make = kit.zeros if kit.leaves_rows(A) else kit.empty
        out = make(x, (rows,), found)
    try:
        with kit.renamed(B="A", y="out", alphas="alpha", betas="beta"):
            product(A, x, out, *scalars)
    except ev.LanguageError as error:
        found = _type_of(kit.result_type(x, A), scalars, out)
        ours = error.location.file == __file__  # else the mistake is in a user's layout
        if not ours or out.dtype == found:
            raise
        # Only one thing here depends on types: `out` cannot store the results.
        expected = f"an array for {'results' if scalars else 'products'} of {found}"
        raise ev.InputError("out", expected=expected, given=str(out.dtype)) from None
    return out
