"""SpMV, y = A x: a sparse matrix times a dense vector.

There are two kernels: one for layouts whose tiles are rows, and one for the others. Neither
depends on the schedule or the target. y = alpha A x + beta y has a kernel of its own. Schedules of schedules hand out
items, so the kernels over rows have a twin with a loop over items around the one over rows. "auto" takes the twin where
that is quicker.
"""

from __future__ import annotations

from typing import Any

import evenly as ev
from evenly import kit

from .scattered import scattered


@ev.kernel
def spmv_rows(A, x, y):
    """y = A x for layouts whose tiles are rows: CSR, ELL, BCSR, DIA, their subsets, a user's own."""
    for row in A.tiles():
        y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))


@ev.kernel
def spmv_scaled(A, x, y, alpha, beta, alphas, betas, adds):
    """y = alpha A x + beta y."""
    for row in A.tiles():
        product = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))
        old = 0 if adds is None else y[row]
        y[row] = kit.scaled(product, old, alpha, beta, alphas, betas, adds)


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
            old = 0 if adds is None else y[row]
            y[row] = kit.scaled(product, old, alpha, beta, alphas, betas, adds)


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
_product_by_items = _checked_items["auto"]
NAMES = {"B": "A", "y": "out", "alphas": "alpha", "betas": "beta"}
_ONE, _ZERO = 1, 0  # the defaults: to find that there is nothing to scale costs next to nothing


def plan(
    A: Any,
    x: Any,
    *,
    out: Any = None,
    alpha: Any = _ONE,
    beta: Any = _ZERO,
    schedule: Any = "auto",
    target: str = "auto",
) -> kit.Planned:
    """Decide everything about `ev.spmv(A, x, ...)`, and return a call of it: `product()` returns y.

    The arguments are those of `ev.spmv`. It is repeated for other values of the arrays, or as `product(x)` and
    `product(x, out=y)` for other vectors of the same types. If A is CSC or COO, as `A.T` of a CSR matrix is, the plan
    keeps how its nonzeros are grouped by row, and reads their values at each call.
    """
    A = kit.as_rows(A, keep=True)
    scales: Any = kit.scales(alpha, beta, x, "x")
    scales.check_out(out)
    if scales.leaves(kit.result_type(x, A)):
        scales = ()

    rows, items = (spmv_scaled, spmv_items_scaled) if scales else (spmv_rows, spmv_items)
    product = _over(rows, items, A, schedule, target)

    def prepare(x: Any, out: Any = None) -> kit.Call:
        return _prepared(product, A, x, out, scales)

    return kit.Planned(prepare, (x,), out)


@kit.with_plan(plan)
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
    row first, at every call, or on a CPU under "auto" parts of them have sums of their own: to multiply often, make a
    plan (`ev.spmv.plan(A, x)`), or convert them with `ev.csr` or `A.tocsr()`.
    `A.T` is the transpose of a layout of `ev.csr`, `ev.csc` or `ev.coo`. After you change the structure of
    a matrix in place, "auto" may use its choice for the old one.

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
        return _scaled(A, x, out, kit.scales(alpha, beta, x, "x"), schedule, target)
    plain = schedule == target == "auto"
    if plain:
        product = _product_by_items if kit.walks_items(A, schedule, target) else _product
    else:
        product = _over(_checked, _checked_items, A, schedule, target)
    if out is not None and product.repeat(A, x, out):
        return out
    by_rows = False
    if plain:
        A, by_rows = kit.by_atoms(A)
        if not by_rows and not kit.on_gpu(A.values):
            call = _prepared(product, A, x, out)
            if kit.dtype(call.out) == kit.result_type(x, A):
                with kit.renamed(y="out", sums="out"):
                    return scattered(A, x, call.out, new=out is None)
    return _computed(product, A if by_rows else kit.as_rows(A), x, out)


def _scaled(A: Any, x: Any, out: Any, scalars: Any, schedule: Any, target: str) -> Any:
    product = _over(_checked_scaled, _checked_items_scaled, A, schedule, target)
    if out is not None and product.repeat(A, x, out, *scalars):
        return out
    kit.shape(A)  # raises if it is no matrix
    if scalars.leaves(kit.result_type(x, A)):
        return spmv(A, x, out, schedule=schedule, target=target)
    scalars.check_out(out)
    return _computed(product, kit.as_rows(A), x, out, scalars)


def _over(rows: Any, items: Any, A: Any, schedule: Any, target: str) -> Any:
    """Return the kernel `rows` under this schedule, or `items` if it hands out the items of A."""
    if not isinstance(schedule, ev.Nested):
        kernel = items if kit.walks_items(A, schedule, target) else rows
        return kernel[schedule].on(target)
    if not kit.has_items(A):
        raise ev.InputError(
            "schedule",
            expected="one that hands out tiles, such as ev.ThreadMapped(), ev.MergePath()",
            given=str(schedule),
            hint=f"{type(A).__name__} has no items; ev.batch([...]) makes a matrix that has",
        )
    return items[schedule].on(target)


def _type_of(x: Any, A: Any, out: Any, scalars: Any) -> Any:
    found = kit.result_type(x, A)
    return scalars.type_of(found, out) if scalars else found


def _prepared(product: Any, A: Any, x: Any, out: Any, scalars: Any = ()) -> kit.Call:
    rows, columns = kit.shape(A)
    kit.check_shape(x, (columns,), "x", "the columns of A")
    if out is not None:
        kit.check_shape(out, (rows,), "out", "the rows of A")
    if out is None or scalars:
        found = _type_of(x, A, out, scalars)
    if out is None:
        make = kit.zeros if kit.leaves_rows(A) else kit.empty
        out = make(x, (rows,), found)
    return kit.Call(product, (A, x, out, *scalars), out, NAMES)


def _computed(product: Any, A: Any, x: Any, out: Any, scalars: Any = ()) -> Any:
    call = _prepared(product, A, x, out, scalars)
    try:
        return call.run()
    except ev.LanguageError as error:
        found = _type_of(x, call.arguments[0], out, scalars)
        ours = error.location.file == __file__  # else the mistake is in a user's layout
        if not ours or call.out.dtype == found:
            raise
        # Only one thing here depends on types: `out` cannot store the results.
        expected = f"an array for {'results' if scalars else 'products'} of {found}"
        raise ev.InputError("out", expected=expected, given=str(call.out.dtype)) from None
