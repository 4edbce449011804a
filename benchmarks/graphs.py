"""Whole calls of `ev.graph` on a GPU: searches, shortest paths, PageRank, components, triangles, cores.

    python benchmarks/graphs.py [--scale 22] [--small 20] [--grid 2048] [--only bfs,sssp] [--seconds 40]

Needs a GPU and CuPy. The graphs are made on the GPU, and stay there: R-MAT, symmetrised, without self loops and
duplicates; a grid of side x side vertices; and a road-like graph, which is a grid that keeps each edge with the chance
0.55, so that paths wind. Edges are the stored edges of the source's component. A line has the median of whole calls by
the host's clock, and in brackets the GPU's part of it: events around a call behind a kernel that keeps the GPU busy
until the host has launched everything. The difference is the host's share.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import cupy as cp
import cupyx.scipy.sparse
import numpy as np

import evenly as ev
from evenly import kit
from evenly.algorithms.graph.pagerank import iterate
from evenly.algorithms.graph.sssp import relax, spread
from evenly.timing.graphs import GraphClock

SOURCES, REPEATS = 16, 5
QUADRANTS = (0.57, 0.19, 0.19)  # Graph500's
KEPT = 0.55  # of a road-like graph; below 0.5 nothing hangs together
SPIN = 20_000  # microseconds: longer than the host needs to launch a call
SPINNING = cp.RawKernel(
    r"""
extern "C" __global__ void spin(long long us) {
  unsigned long long from, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(from));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - from < us * 1000);
}
""",
    "spin",
)


# ---- graphs ----------------------------------------------------------------------------------------
def of_edges(src: Any, dst: Any, n: int) -> Any:
    """A symmetric graph: each edge in both directions, once; weights are whole numbers of 1 to 63, float32."""
    keep = src != dst
    src, dst = src[keep].astype(cp.int64), dst[keep].astype(cp.int64)
    keys = cp.unique(cp.concatenate([src * n + dst, dst * n + src]))
    src, dst = keys // n, (keys % n).astype(cp.int32)
    offsets = cp.searchsorted(src, cp.arange(n + 1)).astype(cp.int32)
    low, high = cp.minimum(src, dst), cp.maximum(src, dst)
    weights = ((low * 2654435761 + high * 40503) % 1000003 % 63 + 1).astype(cp.float32)
    matrix = cupyx.scipy.sparse.csr_matrix((weights, dst, offsets), shape=(n, n))
    return ev.csr(matrix)


def rmat(scale: int) -> Any:
    rng = cp.random.default_rng(1)
    count = 16 << scale
    src, dst = cp.zeros(count, cp.int32), cp.zeros(count, cp.int32)
    a, b, c = np.cumsum(QUADRANTS)
    for _ in range(scale):
        x = rng.random(count, dtype=cp.float32)
        src = src * 2 + (x >= b)
        dst = dst * 2 + (((x >= a) & (x < b)) | (x >= c))
    return of_edges(src, dst, 1 << scale)


def grid(side: int, kept: float = 1.0) -> Any:
    ids = cp.arange(side * side, dtype=cp.int64).reshape(side, side)
    ends = [(ids[:, :-1], ids[:, 1:]), (ids[:-1], ids[1:])]
    src, dst = (cp.concatenate([e[i].ravel() for e in ends]) for i in range(2))
    if kept < 1:
        there = cp.random.default_rng(2).random(len(src)) < kept
        src, dst = src[there], dst[there]
    return of_edges(src, dst, side * side)


def giant(G: Any) -> tuple[Any, int]:
    """The vertices of the largest component, and its stored edges."""
    label = ev.graph.connected_components(G)
    inside = label == cp.bincount(label).argmax()
    return cp.flatnonzero(inside), int(cp.diff(G.offsets)[inside].sum())


# ---- clocks ----------------------------------------------------------------------------------------
def whole(call: Callable[[], Any]) -> float:
    """Microseconds of a call, by the host's clock."""
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    call()
    cp.cuda.Device().synchronize()
    return (time.perf_counter() - start) * 1e6


def on_gpu(call: Callable[[], Any]) -> float:
    """Microseconds of the GPU for a call that is launched while the GPU is busy."""
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    SPINNING((1,), (1,), (np.int64(SPIN),))
    start.record()
    call()
    stop.record()
    stop.synchronize()
    return float(cp.cuda.get_elapsed_time(start, stop)) * 1e3


def measured(calls: list[Callable[[], Any]], repeats: int = 1) -> tuple[float, float]:
    """Medians over calls and repeats: whole, and of the GPU. The first call compiles, and does not count."""
    calls[0]()
    return (
        statistics.median(whole(call) for call in calls * repeats),
        statistics.median(on_gpu(call) for call in calls * repeats),
    )


BEGAN = time.monotonic()


def say(what: str, found: tuple[float, float], note: str = "") -> None:
    took = time.monotonic() - BEGAN
    print(f"{what:44} {found[0]:10.1f} us ({found[1]:10.1f})  {note}  [{took:.1f} s]", flush=True)


# ---- what is measured --------------------------------------------------------------------------------
class Bench:
    """The graphs, each made when it is first asked for."""

    def __init__(self, given: Any) -> None:
        self.makers = {
            "grid": lambda: grid(given.grid),
            "road": lambda: grid(given.grid, KEPT),
            "large": lambda: rmat(given.scale),
            "small": lambda: rmat(given.small),
        }
        self.made: dict[str, tuple[Any, list[int], int]] = {}
        self.names = {
            "grid": f"grid {given.grid}^2", "road": f"road {given.grid}^2",
            "large": f"R-MAT {given.scale}", "small": f"R-MAT {given.small}",
        }  # fmt: skip

    def __getitem__(self, key: str) -> tuple[Any, list[int], int]:
        """A graph, sources in its largest component, and the edges of that."""
        if key not in self.made:
            G = self.makers[key]()
            inside, edges = giant(G)
            at = np.random.default_rng(3).integers(0, len(inside), SOURCES)
            self.made[key] = G, [int(v) for v in inside[cp.asarray(at)]], edges
        return self.made[key]

    # ---- searches ------------------------------------------------------------------------------------
    def bfs_deep(self) -> None:
        for key in ("grid", "road"):
            G, sources, _ = self[key]
            sources = [0] if key == "grid" else sources[:2]
            for name, how in (("auto", {}), ("GroupMapped(8)", {"schedule": ev.GroupMapped(8)})):
                calls = [partial(ev.graph.bfs, G, s, **how) for s in sources]
                levels = statistics.median(int(call().max()) for call in calls)
                found = measured(calls, 2)
                note = f"{found[0] / levels:.2f} us a level of {levels:,.0f}"
                say(f"bfs {self.names[key]} {name}", found, note)

    def bfs_wide(self) -> None:
        for key in ("large",):
            G, sources, edges = self[key]
            for parents in (False, True):
                for name, csc in (("push", None), ("both ways", G.transpose())):
                    how = {"csc": csc, "return_parents": parents}
                    calls = [partial(ev.graph.bfs, G, s, **how) for s in sources]
                    found = measured(calls)
                    what = "levels, parents" if parents else "levels"
                    gteps = f"{edges / found[0] / 1e3:.1f} GTEPS, {edges / found[1] / 1e3:.1f} of the GPU"
                    say(f"bfs {self.names[key]} {name}, {what}", found, gteps)
        levels = [int(ev.graph.bfs(G, s).max()) for s in sources]
        print(f"levels of {self.names[key]}: {levels}; {G.num_atoms:,} edges", flush=True)

    def sssp(self) -> None:
        for key in ("large", "road"):
            G, sources, edges = self[key]
            calls = [partial(ev.graph.sssp, G, s) for s in sources[:4]]
            found = measured(calls)
            rounds, relaxed = np.median([relaxations(G, s) for s in sources[:4]], axis=0)
            say(
                f"sssp {self.names[key]}",
                found,
                f"{edges / found[0] / 1e3:.2f} G edges a second; {rounds:,.0f} rounds of {found[0] / rounds:.2f} us; "
                f"{relaxed / edges:.2f} times Dijkstra's relaxations",
            )

    # ---- sums and counts -------------------------------------------------------------------------------
    def pagerank(self) -> None:
        G, _, _ = self["large"]
        R, n = G.transpose().transpose(), G.num_tiles
        arrays = [cp.empty(n, np.float32) for _ in range(4)]
        report = cp.zeros(1, np.int32)

        def rounds(most: int) -> Callable[[], Any]:
            given = (G, R, kit.each(n), None, None, None, None, *arrays, report, 0.85, 0.0, most)
            return lambda: iterate["auto"](*given)

        few, many = (measured([rounds(k)], REPEATS) for k in (10, 30))
        step = (many[0] - few[0]) / 20, (many[1] - few[1]) / 20
        x, y = cp.ones(n, np.float32), cp.empty(n, np.float32)
        clock = GraphClock(ranked.plan(G, x, y).launches)
        product = statistics.median(clock.warm() for _ in range(REPEATS))
        copied = measured([lambda: cp.copyto(y, x)], REPEATS)[1]
        say(f"pagerank {self.names['large']}, a step", step, f"{step[1] / product:.2f} products")
        say("its product A x, all weights 1", (product, product), f"copy of x: {copied:.1f} us")
        calls = [lambda: ev.graph.pagerank(G, csc=G.transpose(), weighted=False)]
        say(f"pagerank {self.names['large']}, a call", measured(calls, 2))

    def counts(self) -> None:
        G, _, edges = self["small"]
        U = ev.graph.undirected(G)
        for name, call in {
            "components": lambda: ev.graph.connected_components(G),
            "triangles": lambda: ev.graph.triangles(U, check=False),
            "cores": lambda: ev.graph.core_numbers(U, check=False),
            "undirected": lambda: ev.graph.undirected(G),
            "coloring": lambda: ev.graph.greedy_coloring(U, check=False),
            "independent": lambda: ev.graph.maximal_independent_set(U, check=False),
        }.items():
            say(f"{name} {self.names['small']}", measured([call], REPEATS), f"{edges:,} edges")

    def host(self) -> None:
        """A graph so small that the GPU hardly counts."""
        G = rmat(6)
        for name, call in {
            "bfs": lambda: ev.graph.bfs(G, 0),
            "sssp": lambda: ev.graph.sssp(G, 0),
            "pagerank": lambda: ev.graph.pagerank(G, csc=G.transpose()),
            "components": lambda: ev.graph.connected_components(G),
            "triangles": lambda: ev.graph.triangles(G, check=False),
            "cores": lambda: ev.graph.core_numbers(G, check=False),
        }.items():
            say(f"{name} R-MAT 6", measured([call], 20))


def relaxations(G: Any, source: int) -> tuple[int, int]:
    """How many rounds relax edges, and how many edges they relax."""
    n = G.num_tiles
    F, far = (ev.frontier(G, unique=True) for _ in range(2))
    report, distance = cp.empty(3, np.int64), cp.empty(n, np.float32)
    tiles = kit.each(n), kit.each(1)
    start = cp.full(1, source, np.int32)
    relax(F, far, G, *tiles, None, distance, None, None, report, start, spread(G.num_atoms / n))
    return int(report[1]), int(report[2])


@ev.kernel
def ranked(A, x, y):
    for row in A.tiles():
        y[row] = sum(x[A.column(k)] for k in A.atoms(row))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--small", type=int, default=20)
    parser.add_argument("--grid", type=int, default=2048)
    parser.add_argument("--only", default="bfs_wide,bfs_deep,sssp,counts,pagerank,host")
    parser.add_argument("--seconds", type=float, default=40)
    given = parser.parse_args()
    print(cp.cuda.runtime.getDeviceProperties(0)["name"].decode())
    bench = Bench(given)
    for name in given.only.split(","):
        if time.monotonic() - BEGAN > given.seconds:
            print(f"no time for {name}")
            continue
        getattr(bench, name)()


if __name__ == "__main__":
    main()
