"""One point of a figure: a batch, its contenders, and the rows that they give."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import evenly as ev
from evenly.bench import batched_atomics
from evenly.bench.contender import Contender, LeftOut, prepared
from evenly.bench.floors import stored
from evenly.bench.loops import loop
from evenly.bench.ours import by_rule, often
from evenly.bench.peers import SciPy, cusparse_peers, library
from evenly.bench.place import Live

from ..experiment import Row, Site
from ..measured import Measured, measured
from .ell_batch import ell_batch, slots
from .kernels import ELL, KERNELS, Named, product

AUTO, BY_ITEMS, DIAGONAL, LOOP = "auto", "by items", "diagonal", "loop"
PUBLISHED = {"COO atomic": batched_atomics.coo, "CSR-I atomic": batched_atomics.csr_i}
CURVES = (*(k.name for k in KERNELS), AUTO, BY_ITEMS, *PUBLISHED, DIAGONAL, LOOP)
MOST_PADDED = 16 << 30, 2 << 30  # bytes of padded arrays, on a GPU and on a CPU
PADDED = next(k.name for k in KERNELS if k.layout == ELL)
MOST_LOOPED = 1000  # calls of a loop; a longer one has the same rate, and takes long to capture
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Problem:
    """A batch at a place. longest: (items,), the longest row of each, in CPU memory. case, at, stand_ins: see Row."""

    site: Site
    case: str
    at: float
    B: Any
    x: Any
    y: Any
    longest: Any
    stand_ins: int = 0

    # ---- contenders ----------------------------------------------------------------------------------
    def contenders(self, loops: bool) -> Iterator[tuple[str, int, Contender | LeftOut]]:
        """Yield (curve, bytes, contender) of all. loops: also a loop of a library's calls."""
        csr = stored(self.B, self.x, self.y)
        E = self.padded()
        for kernel in KERNELS:
            layout = E if kernel.layout == ELL else self.B
            size = 0 if isinstance(layout, str) else stored(layout, self.x, self.y)
            yield kernel.name, size, self.kernel(kernel, layout)
        place = self.site.place
        given = self.B, self.x, self.y, place.target, place.clock
        yield AUTO, csr, prepared(AUTO, partial(by_rule, *given))
        yield (
            BY_ITEMS,
            csr,
            prepared(BY_ITEMS, partial(self.planned, BY_ITEMS, self.B, lambda: "auto")),
        )
        for name, make in PUBLISHED.items() if self.site.on_gpu else ():
            yield name, csr, prepared(name, partial(make, self.B, self.x, self.y))
        for peer in self.peers():
            yield DIAGONAL, csr, peer
        if loops and self.B.num_items <= MOST_LOOPED:
            yield LOOP, csr, loop(self.B, self.x, self.y, place.target)

    def kernel(self, kernel: Named, layout: Any) -> Contender | LeftOut:
        """Return one of the paper's kernels. layout: a text that says why there is none."""
        if isinstance(layout, str):
            return LeftOut(kernel.name, layout)
        make = partial(self.planned, kernel.name, layout, kernel.schedule)
        return prepared(kernel.name, make)

    def planned(self, name: str, layout: Any, schedule: Callable[[], Any]) -> Contender:
        place = self.site.place
        plan = product[schedule()].on(place.target).plan(layout, self.x, self.y)
        launch = often(plan, layout, self.x, self.y, place.clock)
        return Contender(name, name, place.clock, launch, str(plan.schedule))

    def padded(self) -> Any:
        """Return the batch as an `EllBatch`, or why it is left out."""
        count = slots(self.B, self.longest)
        size = count * (self.B.values.itemsize + self.B.indices.itemsize)
        most = MOST_PADDED[not self.site.on_gpu]
        if size > most:
            return f"padded rows take {size / 2**30:.1f} GiB, and at most {most >> 30} are taken"
        return ell_batch(self.B, self.longest, self.site.xp)

    def peers(self) -> Iterator[Contender | LeftOut]:
        """Yield the libraries' products of the block-diagonal matrix."""
        B = self.B
        live = Live(B, B.offsets, B.indices, B.values, self.x, self.y, ())
        if self.site.on_gpu:
            yield from cusparse_peers(live)
        else:
            yield library(SciPy, live)

    # ---- rows ------------------------------------------------------------------------------------
    def measure(self, figure: int, loops: bool = False) -> list[Row]:
        """Check and time all contenders; return a row for each."""
        taking: dict[str, tuple[str, int]] = {}
        every: list[Contender | LeftOut] = []
        for curve, size, found in self.contenders(loops):
            taking[found.name] = curve, size
            every.append(found)
        wanted = self.wanted(next(x for x in every if taking[x.name][0] == DIAGONAL))
        relative = 2 * (int(self.longest.max(initial=0)) + 1) * EPSILON
        return [
            self.row(figure, *taking[one.who.name], one)
            for one in measured(self.site, every, wanted, relative)
        ]

    def wanted(self, peer: Contender | LeftOut) -> Any:
        """Return the right product: a library's of the block-diagonal matrix."""
        if isinstance(peer, LeftOut):
            raise ev.UnavailableError(
                peer.name, peer.why, "install it: results are checked with it"
            )
        found = self.site.xp.array(peer.launch())
        self.y.fill(float("nan"))
        return found

    def row(self, figure: int, curve: str, size: int, found: Measured) -> Row:
        who = found.who
        machine, versions = self.site.once("machine", self.site.place.machine)
        nonzeros = int(self.B.num_atoms)
        about: dict[str, Any] = {
            "machine": machine, "versions": versions, "target": self.site.place.target, "figure": figure,
            "case": self.case, "x": self.at, "items": int(self.B.num_items), "stand_ins": self.stand_ins,
            "rows": int(self.B.num_tiles), "nonzeros": nonzeros, "curve": curve, "contender": who.name,
        }  # fmt: skip
        if isinstance(who, LeftOut):
            return Row(**about, note=" ".join(who.why.split())[:200])
        us = found.sample.median
        entries = slots(self.B, self.longest) if curve == PADDED else nonzeros
        return Row(
            **about, detail=who.detail, clock=who.clock, stored=entries, bytes=size, us=us,
            us_min=min(found.sample.times), us_max=max(found.sample.times), rounds=len(found.sample.times),
            gflop_per_s=2 * nonzeros / us / 1e3, gb_per_s=size / us / 1e3, wrong=found.wrong,
        )  # fmt: skip


def problem(
    site: Site, case: str, at: float, items: list[Any], longest: Any, stand_ins: int = 0
) -> Problem:
    """Make a problem of CSR layouts, with random values and x of 0 .. 1. longest: of each, its longest row."""
    rng = site.xp.random.default_rng(0)
    B = ev.batch(items, narrow=False)  # as in the paper
    B = B.with_values(rng.random(int(B.num_atoms)))
    x, y = rng.random(int(B.num_columns)), site.xp.empty(int(B.num_tiles))
    return Problem(site, case, at, B, x, y, np.asarray(longest, np.int64), stand_ins)


def freed(site: Site) -> None:
    """Give memory back that the last problem has used."""
    gc.collect()
    if site.on_gpu:
        site.xp.get_default_memory_pool().free_all_blocks()
