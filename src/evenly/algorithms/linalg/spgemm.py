"""SpGEMM, C = A B for sparse A and B: count the nonzeros of each row, then fill them in, then sort the columns.

A row of C is a hash table of the row's own (`ev.scratch`). Its owner takes the nonzeros of the row of A in order; the
threads of a group share the row of B of each. So equal columns are added up in one order, without atomics on floats.
Sources: Gustavson (1978); rows in bins and hash tables: Nagasaka, Nukada, Matsuoka (ICPP 2017).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, cast

import numpy as np

import evenly as ev
from evenly import kit

# On a GPU: a row with a table for at most so many columns belongs to a group of this size. In a block's shared memory
# lie 4,096 integers.
BINS = (
    (32, ev.GroupMapped(8, block=128)),
    (256, ev.GroupMapped(32, block=64)),
    (2**31, ev.BlockMapped()),
)


class Estimate(NamedTuple):
    """What a product of sparse matrices is going to be.

    nonzeros: of the result, exactly. bytes: of its three arrays. products: multiplications of two nonzeros.
    """

    nonzeros: int
    bytes: int
    products: int


@ev.func
def table_for(columns):
    """The length of a hash table: a power of two, more than twice and at most four times as long."""
    return np.int64(1) << (33 - ev.clz(np.uint32(columns)))


@ev.func
def first_place(key, table):
    """Where to look for a key first. Source: Fibonacci hashing (Knuth, TAOCP 3, 6.4)."""
    return np.int32(
        np.uint32(key) * np.uint32(0x9E3779B1) >> np.uint32(ev.clz(np.uint32(table - 1)))
    )


@ev.kernel
def count_products(A, B, products):
    for row in A.tiles():
        products[row] = sum(
            np.int64(B.end(A.column(k)) - B.begin(A.column(k))) for k in A.atoms(row)
        )


@ev.kernel
def count_columns(S, A, B, products, columns, counts):
    """counts[row]: how many different columns the products of a row have. S: some rows of A. columns: of B."""
    for row in S.tiles():
        seen = ev.scratch(table_for(min(products[row], columns)), np.int32)
        found = 0
        for k in S.atoms(row):
            b = S.column(k)
            for t in range(B.begin(b), B.end(b)):
                key = B.column(t) + 1
                at = first_place(key, len(seen))
                old = ev.atomic_cas(seen, at, 0, key)
                while old != 0 and old != key:
                    at = (at + 1) & (len(seen) - 1)
                    old = ev.atomic_cas(seen, at, 0, key)
                if old == 0:
                    found += 1
        counts[row] = found


def filling(T: Any) -> Any:
    """Return the kernel that fills rows in, and adds up numbers of the type T."""

    @ev.kernel
    def fill(S, A, B, offsets, columns, values):
        """Fill in the rows S of A B, in no order within a row."""
        for row in S.tiles():
            begin = offsets[row]
            count = offsets[row + 1] - begin
            longest = max(
                (B.end(S.column(k)) - B.begin(S.column(k)) for k in S.atoms(row)), default=0
            )
            keys = ev.scratch(table_for(count), np.int32)
            sums = ev.scratch(table_for(count), T)
            places = ev.scratch(longest, np.int32)
            added = ev.scratch(longest, T)
            used = ev.scratch(1, np.int32)
            for k in range(A.begin(row), A.end(row)):
                factor = A.value(k)
                first = B.begin(A.column(k))
                for j in ev.lanes(B.end(A.column(k)) - first):
                    key = B.column(first + j) + 1
                    at = first_place(key, len(keys))
                    old = ev.atomic_cas(keys, at, 0, key)
                    while old != 0 and old != key:
                        at = (at + 1) & (len(keys) - 1)
                        old = ev.atomic_cas(keys, at, 0, key)
                    places[j] = at
                    added[j] = sums[at] + factor * B.value(first + j)
                for j in ev.lanes(B.end(A.column(k)) - first):
                    sums[places[j]] = added[j]  # the columns of a row of B differ
            for i in ev.lanes(len(keys)):
                if keys[i] != 0:
                    to = ev.atomic_add(used, 0, 1)
                    columns[begin + to] = keys[i] - 1
                    values[begin + to] = sums[i]

    return fill


FILL = {
    np.dtype(T): filling(T)
    for T in (
        np.float32, np.float64, np.complex64, np.complex128, np.int32, np.int64, np.uint64,
    )
}  # fmt: skip


@ev.kernel
def repeats(B, found):
    """found[0]: whether the columns of a row do not ascend, so that one may be there twice."""
    wrong = False
    for row in B.tiles():
        for k in B.atoms(row):
            if k > B.begin(row):
                wrong = wrong or B.column(k - 1) >= B.column(k)
    found[0] = 1 if wrong else 0


@ev.kernel
def between(E, sizes, most, low, high, keep):
    for i in E.tiles():
        size = min(sizes[i], most)
        keep[i] = size > low and size <= high


@ev.kernel
def differences(E, offsets, lengths):
    for i in E.tiles():
        lengths[i] = offsets[i + 1] - offsets[i]


@ev.kernel
def beginning_at_0(E, offsets, first, begin, out):
    for i in E.tiles():
        out[i] = offsets[first + i] - begin


@ev.kernel
def fill_with_ones(E, out):
    for i in E.tiles():
        out[i] = 1


@ev.kernel
def put(E, x, start, out):
    for i in E.tiles():
        out[start + i] = x[i]


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
    work = _Work(A, B, max_workspace, schedule, target)
    offsets, total = work.counted()
    size = kit.dtype(offsets).itemsize * len(offsets) + (4 + work.found.itemsize) * total
    products = ev.prefix_sum(work.products, include_initial=True)
    return Estimate(total, size, kit.entry(products, len(products) - 1))


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
    max_workspace: the most bytes to use beside A, B and C. Half of it bounds hash tables, the other half how many rows
      are filled in and sorted at a time. Default: 1 GiB for tables, and all rows at once.
    schedule: who owns a row; one that owns whole tiles. "auto": on a GPU groups of 8 threads, warps and blocks, by how
      many columns a row may have.
    target: as of `ev.spmv`. On a GPU this needs the package cuda-cccl, and the call waits.

    C has NumPy's result type of A and B; float16 or bfloat16 if both have, with sums in float32. Products of equal
    places are added up in the order of the row of A, so the same arguments give the same bits under every schedule and
    on every target of one arithmetic. Raises InputError if shapes or devices do not match, for 2**31 - 2 columns and
    more, and if `max_workspace` is too small for one row.

    `ev.linalg.spgemm.estimate(A, B)` counts the nonzeros of C without making it.

    >>> import scipy.sparse, evenly as ev
    >>> A = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 1.0, 0.0]])
    >>> C = ev.linalg.spgemm(A, A)
    >>> C.offsets.tolist(), C.indices.tolist(), C.values.tolist()
    ([0, 3, 4, 5], [0, 1, 2, 1, 1], [1.0, 2.0, 2.0, 9.0, 3.0])
    """
    work = _Work(A, B, max_workspace, schedule, target)
    return work.filled(*work.counted())


class _Work:
    """One product: its operands in CSR, and how it is to be run."""

    def __init__(
        self, A: Any, B: Any, max_workspace: int | None, schedule: Any, target: str
    ) -> None:
        A, B = kit.as_csr(A, "A"), kit.as_csr(B, "B")
        (self.rows, inner), (depth, self.columns) = kit.shape(A, "A"), kit.shape(B, "B")
        if inner != depth:
            expected = f"a matrix of {inner} rows, the columns of A"
            raise ev.InputError("B", expected=expected, given=f"shape {(depth, self.columns)}")
        if self.columns >= 2**31 - 2:
            given = f"{self.columns:,}"
            raise ev.InputError("B", expected="fewer than 2**31 - 2 columns", given=given)
        kit.check_beside(B.values, "B", A.values, "A")
        self.most = None if max_workspace is None else kit.count_of(max_workspace, "max_workspace")
        self.schedule, self.target = kit.of_whole_lists(schedule, "rows"), target
        with kit.renamed(x="A"):
            self.found = kit.result_type(A, B)
        self.A, self.B = A, self._without_repeats(B)
        self.products = kit.empty(A.offsets, (self.rows,), np.int64)
        count_products.on(target)(A, self.B, self.products)

    def counted(self) -> tuple[Any, int]:
        """Return the offsets of C's rows, and their last."""
        counts = kit.zeros(self.A.offsets, (self.rows,), np.int64)
        given = self.A, self.B, self.products, self.columns, counts
        self._run(count_columns, self.A, self.products, given)
        offsets = ev.prefix_sum(counts, include_initial=True)
        total = kit.entry(offsets, self.rows)
        if kit.index_type(total) == np.int32:
            offsets = ev.prefix_sum(counts, include_initial=True, dtype=np.int32)
        return offsets, total

    def filled(self, offsets: Any, total: int) -> Any:
        """Return C, whose rows have these offsets."""
        shape = self.rows, self.columns
        pieces = self._pieces(offsets, total)
        if len(pieces) == 1:
            C = self._piece(self.A, offsets)
            return ev.csr((C.values, C.indices, offsets), shape=shape, check=False)
        indices = kit.empty(offsets, (total,), np.int32)
        values = kit.empty(self.A.values, (total,), self.found)
        for first, last, begin in pieces:
            own = kit.empty(offsets, (last - first + 1,), kit.dtype(offsets))
            beginning_at_0.on(self.target)(kit.each(len(own)), offsets, first, begin, own)
            C = self._piece(self.A.slice(slice(first, last)), own)
            for x, out in ((C.indices, indices), (C.values, values)):
                put.on(self.target)(kit.each(len(x)), x, begin, out)
        return ev.csr((values, indices, offsets), shape=shape, check=False)

    def _pieces(self, offsets: Any, total: int) -> list[tuple[int, int, int]]:
        """Return which rows to fill in and sort at a time: the first, the last, and where they begin in C."""
        each = (
            48 + 3 * self.found.itemsize
        )  # bytes: unsorted, by columns, keys and orders of two sorts
        most = total if self.most is None else self.most // 2 // each
        if total <= most:
            return [(0, self.rows, 0)]
        host, pieces, row = kit.to_numpy(offsets), [], 0
        while row < self.rows:
            stop = int(np.searchsorted(host, host[row] + most, "right")) - 1
            if stop <= row:
                count = int(host[row + 1] - host[row])
                expected = (
                    f"at least {2 * each * count:,} bytes, for the {count:,} nonzeros of row {row}"
                )
                raise ev.InputError("max_workspace", expected=expected, given=f"{self.most:,}")
            pieces.append((row, stop, int(host[row])))
            row = stop
        return pieces

    def _piece(self, A: Any, offsets: Any) -> Any:
        """Return the product of some rows of A, whose rows have these offsets."""
        total = kit.entry(offsets, len(offsets) - 1)
        columns = kit.empty(offsets, (total,), np.int32)
        values = kit.empty(A.values, (total,), self.found)
        lengths = kit.empty(offsets, (len(offsets) - 1,), np.int64)
        differences.on(self.target)(kit.each(len(lengths)), offsets, lengths)
        fill = FILL.get(kit.held_as(values), FILL[np.dtype(np.int64)])
        self._run(fill, A, lengths, (A, self.B, offsets, columns, values))
        C = ev.csr((values, columns, offsets), shape=(len(lengths), self.columns), check=False)
        return C.tocsc().tocsr()  # stable: so the columns of a row ascend

    def _run(self, kernel: Any, A: Any, sizes: Any, arguments: tuple[Any, ...]) -> None:
        """Run a kernel over all rows of A. sizes: for each row, how many columns it may have."""
        options = {} if self.most is None else {"max_workspace": max(self.most // 2, 1)}
        try:
            for rows, schedule in self._bins(A, sizes):
                kernel[schedule].on(self.target, **options)(rows, *arguments)
        except ev.InputError as error:
            if error.argument == "max_workspace":
                error.expected, error.given = f"a half of {error.expected}", f"{self.most:,}"
            raise

    def _bins(self, A: Any, sizes: Any) -> Any:
        """Yield the rows of A by their sizes, each lot with its schedule."""
        if self.schedule != "auto" or not kit.on_gpu(sizes):
            yield A, self.schedule
            return
        low = 0
        for high, schedule in BINS:
            keep = kit.empty(sizes, (len(sizes),), np.bool_)
            between.on(self.target)(kit.each(len(sizes)), sizes, self.columns, low, high, keep)
            rows = ev.compact(keep)
            if len(rows):
                yield ev.subset(A, rows), schedule
            low = high

    def _without_repeats(self, B: Any) -> Any:
        """Return B with equal columns of a row added up; itself if its columns ascend."""
        found = kit.empty(B.offsets, (1,), np.int32)
        repeats.on(self.target)(B, found)
        if kit.entry(found, 0) == 0:
            return B
        offsets = kit.positions(B.offsets, self.columns + 1)
        ones = kit.empty(B.values, (self.columns,), kit.dtype(B.values))
        fill_with_ones.on(self.target)(kit.each(self.columns), ones)
        columns, shape = kit.part(offsets, 0, self.columns), (self.columns, self.columns)
        identity = ev.csr(
            (ones, columns, offsets), shape=shape, check=False
        )  # whose rows need not be looked at
        return spgemm(B, identity, max_workspace=self.most, target=self.target)
