"""A kit for algorithms: functions that take a caller's matrices and vectors, and return arrays of the same library.

An algorithm is a function around kernels. It takes the caller's arguments, checks their shapes, allocates the result
in the caller's library, and runs a kernel. The functions here do all of that but the kernel. `ev.spmv` is written
with them.
"""

from evenly.interop.cccl import radix_sort
from evenly.interop.transfer import to_numpy
from evenly.interop.vectors import as_integers, entry, from_numpy, numbers, part, store
from evenly.kit.arguments import (
    as_csr,
    as_rows,
    atom_count,
    by_atoms,
    check_shape,
    common_type,
    empty,
    has_items,
    leaves_rows,
    renamed,
    result_type,
    shape,
    zeros,
)
from evenly.kit.dense import Dense, dense, element, width
from evenly.kit.graphs import (
    as_graph,
    as_reverse,
    float_type,
    of_whole_tiles,
    priority,
    priority_seed,
    vertex,
)
from evenly.kit.operands import (
    check_beside,
    check_holds,
    check_indices,
    check_output,
    check_sums,
    dtype,
    each,
    held_as,
    index_type,
    on_gpu,
    positions,
    take,
    vector,
    vectors,
    whole,
)
from evenly.kit.planned import Call, Planned, with_plan
from evenly.kit.scalars import scalar, scaled_type
from evenly.kit.scales import Scales, scaled, scales
from evenly.layouts.arguments import count_of
from evenly.layouts.grouped import stable_order, turned

__all__ = [
    "Call",
    "Dense",
    "Planned",
    "Scales",
    "as_csr",
    "as_graph",
    "as_integers",
    "as_reverse",
    "as_rows",
    "atom_count",
    "by_atoms",
    "check_beside",
    "check_holds",
    "check_indices",
    "check_output",
    "check_shape",
    "check_sums",
    "common_type",
    "count_of",
    "dense",
    "dtype",
    "each",
    "element",
    "empty",
    "entry",
    "float_type",
    "from_numpy",
    "has_items",
    "held_as",
    "index_type",
    "leaves_rows",
    "numbers",
    "of_whole_tiles",
    "on_gpu",
    "part",
    "positions",
    "priority",
    "priority_seed",
    "radix_sort",
    "renamed",
    "result_type",
    "scalar",
    "scaled",
    "scaled_type",
    "scales",
    "shape",
    "stable_order",
    "store",
    "take",
    "to_numpy",
    "turned",
    "vector",
    "vectors",
    "vertex",
    "whole",
    "width",
    "with_plan",
    "zeros",
]
