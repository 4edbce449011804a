"""Time breadth-first search and shortest paths on one graph, under every schedule.

As Figures 3 and 4 of Osama, Porumbescu, Owens (PPoPP 2023) do for SpMV: a landscape of times over the edges of graphs,
and the speedups of schedules.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

import evenly as ev
from evenly.errors import InputError
from evenly.interop import generators
from evenly.interop.transfer import to_numpy, wait_for
from evenly.schedules import TABLE as SCHEDULES
from evenly.timing.calls import CallClock
from evenly.timing.rounds import WARM, Clock, measure

from . import graph_references as references
from .contender import AUTO, CALL, KERNELS, LIBRARY, OURS
from .gunrock import NAME as GUNROCK
from .gunrock import Gunrock
from .matrices import Source
from .record import Row, size_of
from .summary import Ratio, Sides, contender, family, geomean, ratios

SYNTHETIC: dict[str, Callable[[], Any]] = {
    "grid-1024": partial(generators.stencil, 1024),
    "uniform-16": partial(generators.uniform, 500_000, 16),
    "rmat-16": partial(generators.rmat, 16),
    "rmat-18": partial(generators.rmat, 18),
    "rmat-20": partial(generators.rmat, 20),
}
ALGORITHMS = {"bfs": ev.graph.bfs, "sssp": ev.graph.sssp}
CHECKS = {"bfs": references.bfs, "sssp": references.sssp}
PEERS: dict[str, Callable[..., Any]] = {  # SciPy's, on a CPU
    "bfs": partial(csgraph.dijkstra, unweighted=True),
    "sssp": csgraph.dijkstra,
}
BASE = str(
    SCHEDULES["thread_mapped"].make()
)  # what schedules are compared with where there is no library


@dataclass(frozen=True, slots=True)
class SearchRow(Row):
    """The columns of a run over graphs. algorithm: "bfs" or "sssp". source: the vertex with most edges."""

    algorithm: str = ""
    source: int = 0


class Searches:
    """Measures graphs at one place.

    validate: whether results are compared with SciPy's, which may take long. gunrock: its programs, if there are any.
    """

    def __init__(
        self, target: Any, machine: tuple[str, str], validate: bool, gunrock: Gunrock | None = None
    ) -> None:
        self.target, self.machine, self.validate = target, machine, validate
        self.gunrock = gunrock

    def on(
        self, source: Source, algorithms: Iterable[str], deadline: float | None
    ) -> list[SearchRow]:
        """Return a row for each algorithm and each contender. Raises InputError for a matrix that is no graph."""
        matrix = graph_of(source.make())
        start = int(np.diff(matrix.indptr).argmax())
        G = ev.csr(matrix).to(self.target.place)
        return [
            row for name in algorithms for row in self.searched(source, matrix, G, start, name, deadline)
        ]  # fmt: skip

    def searched(
        self, source: Source, matrix: Any, G: Any, start: int, name: str, deadline: float | None
    ) -> Iterator[SearchRow]:
        calls = self.contenders(matrix, G, start, name)
        wrong = {
            who: CHECKS[name](matrix, start, to_numpy(call())) if self.validate else 0
            for (who, _), call in calls.items()
        }
        clocks: dict[str, Clock] = {
            who: CallClock(waiting(call)) for (who, _), call in calls.items()
        }
        samples = measure(clocks, deadline=deadline, flushed=False)
        for who, of in calls:
            times = samples[who, WARM].times
            yield self.row(source, matrix, name, start, (who, of, CALL), times, wrong[who])
        if self.gunrock is not None:
            times = (self.gunrock.us(name, matrix, start),)
            yield self.row(source, matrix, name, start, (GUNROCK, LIBRARY, KERNELS), times)

    def row(
        self,
        source: Source,
        matrix: Any,
        name: str,
        start: int,
        whose: tuple[str, str, str],
        times: tuple[float, ...],
        wrong: int = 0,
    ) -> SearchRow:
        """Return the row of a contender. whose: its name, family and clock."""
        who, of, clock = whose
        rows, columns = matrix.shape
        about = *self.machine, self.target.name, str(matrix.dtype), source.name, source.origin
        return SearchRow(
            *about,
            *(rows, columns, int(matrix.nnz), size_of(matrix.nnz)),
            contender=who,
            family=of,
            detail=who,
            clock=clock,
            cache=WARM,
            us=statistics.median(times),
            us_min=min(times),
            us_max=max(times),
            rounds=len(times),
            wrong=wrong,
            algorithm=name,
            source=start,
        )

    def contenders(
        self, matrix: Any, G: Any, start: int, name: str
    ) -> dict[tuple[str, str], Callable[[], Any]]:
        """Return the calls to time, by name and family."""
        run = partial(ALGORITHMS[name], G, start, target=self.target.name)
        found: dict[tuple[str, str], Callable[[], Any]] = {("auto", AUTO): run}
        for entry in SCHEDULES.values():
            found[str(entry.make()), OURS] = partial(run, schedule=entry.make())
        if self.target.place == "cpu":
            found["SciPy", LIBRARY] = partial(peer, PEERS[name], matrix, start, name == "bfs")
        return found


def graph_of(matrix: Any) -> Any:
    """Return a square csr_array of float64 whose weights are the absolute values of its entries."""
    if matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise InputError("matrix", expected="a square one with rows", given=f"shape {matrix.shape}")
    weights = np.nan_to_num(abs(matrix.data.astype(np.float64)))
    return scipy.sparse.csr_array((weights, matrix.indices, matrix.indptr), shape=matrix.shape)


def peer(run: Callable[..., Any], matrix: Any, start: int, levels: bool) -> Any:
    """Run SciPy's search. Its lengths become levels as ours are: -1 where no path leads."""
    found = run(matrix, indices=start)
    return np.where(np.isinf(found), -1, found).astype(np.int32) if levels else found


def waiting(call: Callable[[], Any]) -> Callable[[], None]:
    return lambda: wait_for(call())


# ---- what is said of a run -----------------------------------------------------------------------------
def of_algorithm(rows: Iterable[Any], name: str) -> list[Any]:
    return [row for row in rows if row.algorithm == name]


def speedups(rows: list[Any]) -> dict[str, list[Ratio]]:
    """Return how many times as fast each schedule is as the library, or as a thread for each vertex without one."""
    library = any(row.family == LIBRARY for row in rows)
    theirs = family(LIBRARY) if library else contender(BASE)
    names = dict.fromkeys(row.contender for row in rows if row.family in (AUTO, OURS))
    found = {name: ratios(rows, Sides("", contender(name), theirs)) for name in names}
    return {name: each for name, each in found.items() if each}


def lines(rows: list[Any]) -> Iterator[str]:
    """Yield a table for each algorithm: a line for each schedule."""
    for name in ALGORITHMS:
        here = of_algorithm(rows, name)
        if not here:
            continue
        best: dict[str, Row] = {}
        for row in here:
            if row.family in (AUTO, OURS) and not row.wrong:
                best[row.matrix] = min(best.get(row.matrix, row), row, key=lambda r: r.us)
        first = [row.contender for row in best.values()]
        libraries = dict.fromkeys(row.contender for row in here if row.family == LIBRARY)
        yield ""
        graphs = "1 graph" if len(best) == 1 else f"{len(best)} graphs"
        yield (
            f"{name}: times as fast as {' or '.join(libraries) or BASE}, geometric mean of {graphs}"
        )
        found = speedups(here)
        wide = max(map(len, found), default=0)
        for who, each in found.items():
            values = [ratio.value for ratio in each]
            least = min(each, key=lambda ratio: ratio.value)
            mean = geomean(values) if values else math.nan
            yield (
                f"  {who:{wide}} {mean:8.2f}   least {least.value:.2f} {least.ours.matrix}"
                f"   the fastest on {first.count(who)}"
            )
