"""Add elements at indices, in a fixed order."""

from __future__ import annotations

from typing import Any

import numpy as np

import evenly as ev
from evenly import kit


@ev.kernel
def add_groups(R, order, source, x, out):
    for row in R.tiles():
        out[row] = sum((source[order[k]] for k in R.atoms(row)), x[row])


@ev.kernel
def add_groups_of_rows(R, order, source, x, out):
    for row in R.tiles():
        for j in ev.lanes(out.shape[1]):
            out[row, j] = sum((source[order[k], j] for k in R.atoms(row)), x[row, j])


def index_add(x: Any, index: Any, source: Any, *, out: Any = None) -> Any:
    """Return x with source[i] added to x[index[i]], for every i: the same bits on every run.

    x: (m,) or (m, d), numbers. index: (n,), integers in 0 .. m-1, which may repeat.
    source: (n,) or (n, d), numbers that can be added to x. All lie on one device.
    out: as x, an array for the result, in CPU memory also x itself. Default: a new array of the library
      and the dtype of x. Sums of 16-bit floats are float32, rounded once when they are stored.

    Sources of one element are added in their order: one after the other in CPU memory, and on a GPU in
    an order that follows from the indices and the GPU alone. There is no floating-point atomic in it, as
    in torch.index_add with deterministic algorithms. On a GPU this sorts the indices (see `ev.sort_by_key`).

    Raises InputError for indices beyond x, and if lengths, dtypes or devices do not match.

    >>> import numpy as np, evenly as ev
    >>> ev.index_add(np.zeros(3), np.array([2, 0, 2]), np.array([1.0, 2.0, 3.0]))
    array([2., 0., 4.])
    """
    x, index = kit.vector(x, "x", axes=2), kit.vector(index, "index")
    source, shape = kit.vector(source, "source", axes=2), tuple(x.shape)
    kit.check_shape(source, (len(index), *shape[1:]), "source", "as many as index has")
    for array, name in ((index, "index"), (source, "source")):
        kit.check_beside(array, name, x, "x")
    given = "x" if out is None else "out"
    if out is None:
        out = kit.empty(x, shape, kit.dtype(x))
    else:
        kit.check_output(out, shape, x, "x", "as x has it")
    held = kit.held_as(out)
    with kit.renamed(out=given):
        for each in (x, source):
            kit.check_sums(each, held)
    kit.check_indices(index, len(x), "index")
    if kit.on_gpu(x):
        groups = ev.group_by(index, len(x), check=False)
        R = ev.ragged(groups.offsets, num_atoms=len(index), check=False)
        # Rows are shared along them, as their width and the groups' lengths ask for.
        add: Any = add_groups[ev.MergePath()] if len(shape) == 1 else add_groups_of_rows
        add(R, groups.order, source, x, out)
    else:
        sums = kit.numbers(x).astype(np.result_type(held, kit.held_as(source)))
        np.add.at(sums, kit.to_numpy(index), kit.numbers(source))
        kit.store(sums, out)
    return out
