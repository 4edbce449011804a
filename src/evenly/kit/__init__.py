"""A kit for algorithms: functions that take a caller's matrices and vectors, and return arrays of the same library.

An algorithm is a function around kernels. It takes the caller's arguments, checks their shapes, allocates the result
in the caller's library, and runs a kernel. The functions here do all of that but the kernel. `ev.spmv` is written
with them.
"""

from evenly.interop.cccl import radix_sort
from evenly.interop.transfer import to_numpy, to_where
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
    walks_items,
    zeros,
)
from evenly.kit.codes import code_type, coding
from evenly.kit.dense import Dense, dense, element, width
from evenly.kit.exponentials import exp_below_zero, exponentials
from evenly.kit.graphs import (
    as_graph,
    as_reverse,
    float_type,
    of_whole_tiles,
    priority,
    priority_seed,
    vertex,
)
from evenly.kit.lists import (
    alike,
    as_lists,
    check_real,
    float_of,
    longest,
    merged,
    number_of,
    of_whole_lists,
    result,
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
from evenly.kit.planned import Call, Planned, plannable, with_plan
from evenly.kit.scalars import scalar, scaled_type
from evenly.kit.scales import Scales, scaled, scales
from evenly.kit.searches import copies, first_of, in_parts, vertices
from evenly.layouts.arguments import count_of
from evenly.layouts.grouped import stable_order, turned

__all__ = [
    "Call",
    "Dense",
    "Planned",
    "Scales",
    "alike",
    "as_csr",
    "as_graph",
    "as_integers",
    "as_lists",
    "as_reverse",
    "as_rows",
    "atom_count",
    "by_atoms",
    "check_beside",
    "check_holds",
    "check_indices",
    "check_output",
    "check_real",
    "check_shape",
    "check_sums",
    "code_type",
    "coding",
    "common_type",
    "copies",
    "count_of",
    "dense",
    "dtype",
    "each",
    "element",
    "empty",
    "entry",
    "exp_below_zero",
    "exponentials",
    "first_of",
    "float_of",
    "float_type",
    "from_numpy",
    "has_items",
    "held_as",
    "in_parts",
    "index_type",
    "leaves_rows",
    "longest",
    "merged",
    "number_of",
    "numbers",
    "of_whole_lists",
    "of_whole_tiles",
    "on_gpu",
    "part",
    "plannable",
    "positions",
    "priority",
    "priority_seed",
    "radix_sort",
    "renamed",
    "result",
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
    "to_where",
    "turned",
    "vector",
    "vectors",
    "vertex",
    "vertices",
    "walks_items",
    "whole",
    "width",
    "with_plan",
    "zeros",
]
