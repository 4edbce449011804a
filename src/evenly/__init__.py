"""evenly: irregular parallel work, written once, balanced by a schedule.

A kernel says what happens to one tile and its atoms; a schedule decides who does it; the
same kernel runs under every schedule, over every layout, on GPU and CPU.

    import evenly as ev

    @ev.kernel
    def spmv(A, x, y):
        for row in A.tiles():
            y[row] = sum(A.value(k) * x[A.column(k)] for k in A.atoms(row))

    spmv(A, x, y)
    spmv[ev.MergePath()].on("cpu")(A, x, y)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from evenly import kit
from evenly import wiring as _wiring  # noqa: F401  connects the floors
from evenly.errors import EvenlyError, InputError, KernelError, UnavailableError
from evenly.interop.device_array import DeviceArray, device_empty
from evenly.language.diagnostics import LanguageError
from evenly.language.func import func
from evenly.language.names import (
    argmax,
    argmin,
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_exch,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xor,
    clz,
    distinct,
    exp_minus_abs,
    first,
    group,
    lanes,
    local,
    popcount,
    rank,
    reduce,
    rotl,
    rotr,
    scan,
    scratch,
    stage,
    thread_count,
    thread_index,
)
from evenly.layouts import (
    Array,
    Index,
    Layout,
    Static,
    batch,
    bcsr,
    coo,
    csc,
    csr,
    dia,
    ell,
    frontier,
    layout,
    output,
    sell,
    subset,
    tasks,
    uniform,
)
from evenly.runtime.bound_call import BoundCall
from evenly.runtime.kernel import Kernel, kernel
from evenly.runtime.plan import Plan
from evenly.schedules import (
    BlockingQueue,
    BlockMapped,
    DynamicChunks,
    GroupMapped,
    LockFreeQueue,
    Lrb,
    MergePath,
    Nested,
    NonzeroSplit,
    Partition,
    Schedule,
    StaticList,
    TaskPool,
    TeamMapped,
    ThreadMapped,
    WarpMapped,
    WorkOriented,
    WorkStealing,
    per_item,
    schedule,
)
from evenly.verify import VerificationError, Verified, verify
from evenly.version import __version__

if TYPE_CHECKING:
    from evenly.algorithms import graph, linalg
    from evenly.algorithms.arrays.compact import compact
    from evenly.algorithms.arrays.group_by import group_by
    from evenly.algorithms.arrays.index_add import index_add
    from evenly.algorithms.arrays.prefix_sum import prefix_sum
    from evenly.algorithms.arrays.sort_by_key import sort_by_key
    from evenly.algorithms.arrays.unique import unique
    from evenly.algorithms.graph.csgraph_from_edges import csgraph_from_edges
    from evenly.algorithms.ragged import ragged
    from evenly.balance.balance import Balance
    from evenly.balance.courses import TaskBalance
    from evenly.explanation import explain
    from evenly.targets.simt.program import Exploration, Outcome, SimtProgram
    from evenly.targets.simt.report import SimtError
    from evenly.tuning.tuned import Tuning

# Algorithms import the names above.
from evenly.algorithms.linalg.spmv import spmv  # isort: skip


# Names that most programs never use are imported on first access.
_LATE = {
    "Balance": "evenly.balance.balance",
    "TaskBalance": "evenly.balance.courses",
    "Exploration": "evenly.targets.simt.program",
    "Outcome": "evenly.targets.simt.program",
    "SimtError": "evenly.targets.simt.report",
    "SimtProgram": "evenly.targets.simt.program",
    "Tuning": "evenly.tuning.tuned",
    "compact": "evenly.algorithms.arrays.compact",
    "csgraph_from_edges": "evenly.algorithms.graph.csgraph_from_edges",
    "explain": "evenly.explanation",
    "group_by": "evenly.algorithms.arrays.group_by",
    "index_add": "evenly.algorithms.arrays.index_add",
    "prefix_sum": "evenly.algorithms.arrays.prefix_sum",
    "ragged": "evenly.algorithms.ragged",
    "sort_by_key": "evenly.algorithms.arrays.sort_by_key",
    "unique": "evenly.algorithms.arrays.unique",
}
_LATE_MODULES = {"graph": "evenly.algorithms.graph", "linalg": "evenly.algorithms.linalg"}


def __getattr__(name: str) -> object:
    """Import a late name on first access. For an unknown name, raise AttributeError with the nearest one."""
    if name in _LATE:
        found = globals()[name] = getattr(importlib.import_module(_LATE[name]), name)
        return found
    if name in _LATE_MODULES:
        module = globals()[name] = importlib.import_module(_LATE_MODULES[name])
        return module
    import difflib

    near = difflib.get_close_matches(name, __all__, n=1)
    hint = f"; did you mean ev.{near[0]}?" if near else ""
    raise AttributeError(f"module 'evenly' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Array",
    "Balance",
    "BlockMapped",
    "BlockingQueue",
    "BoundCall",
    "DeviceArray",
    "DynamicChunks",
    "EvenlyError",
    "Exploration",
    "GroupMapped",
    "Index",
    "InputError",
    "Kernel",
    "KernelError",
    "LanguageError",
    "Layout",
    "LockFreeQueue",
    "Lrb",
    "MergePath",
    "Nested",
    "NonzeroSplit",
    "Outcome",
    "Partition",
    "Plan",
    "Schedule",
    "SimtError",
    "SimtProgram",
    "Static",
    "StaticList",
    "TaskBalance",
    "TaskPool",
    "TeamMapped",
    "ThreadMapped",
    "Tuning",
    "UnavailableError",
    "VerificationError",
    "Verified",
    "WarpMapped",
    "WorkOriented",
    "WorkStealing",
    "__version__",
    "argmax",
    "argmin",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_exch",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xor",
    "batch",
    "bcsr",
    "clz",
    "compact",
    "coo",
    "csc",
    "csgraph_from_edges",
    "csr",
    "device_empty",
    "dia",
    "distinct",
    "ell",
    "exp_minus_abs",
    "explain",
    "first",
    "frontier",
    "func",
    "graph",
    "group",
    "group_by",
    "index_add",
    "kernel",
    "kit",
    "lanes",
    "layout",
    "linalg",
    "local",
    "output",
    "per_item",
    "popcount",
    "prefix_sum",
    "ragged",
    "rank",
    "reduce",
    "rotl",
    "rotr",
    "scan",
    "schedule",
    "scratch",
    "sell",
    "sort_by_key",
    "spmv",
    "stage",
    "subset",
    "tasks",
    "thread_count",
    "thread_index",
    "uniform",
    "unique",
    "verify",
]
