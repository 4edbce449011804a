"""All contenders on one matrix: every schedule, the same by hand, `auto`, a library. Each matrix is measured once."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from functools import partial

from evenly import schedules as s
from evenly.bench import hardwired, ours
from evenly.bench.comparison import Comparison
from evenly.bench.contender import CSR, Contender, LeftOut, prepared
from evenly.bench.matrices import Source
from evenly.bench.peers import SciPy, cusparse_peers
from evenly.bench.peers import library as peer
from evenly.bench.place import Live
from evenly.bench.record import Row, size_of
from evenly.errors import InputError

from ..experiment import Site
from ..measured import FEWEST, QUICK_ROUNDS, ROUNDS, SECONDS
from .rule import GROUP, MERGE, THREAD, choices

DTYPE = "float32"
# Group-mapped in the paper's form (section 5.2.3): the lanes of a group share the atoms of its tiles.
PAPERS: dict[str, s.Schedule] = {
    THREAD: s.ThreadMapped(),
    GROUP: s.GroupMapped(flatten=True),
    MERGE: s.MergePath(),
}
NAMES = {name: str(schedule) for name, schedule in PAPERS.items()}
DEFAULTS = [entry.make() for entry in s.TABLE.values()]
SCHEDULES: list[s.Schedule] = [*PAPERS.values(), *(d for d in DEFAULTS if d not in PAPERS.values())]
EVERYTHING = "all of them"


def library(site: Site) -> str:
    """Say what evenly's schedules are compared with."""
    if site.on_gpu:
        return "cuSPARSE: the faster of CSR ALG1 and ALG2, preprocessed"
    return "The library is SciPy"


class Sweep(Comparison):
    """The paper's contenders at a place, timed with warm caches only."""

    def __init__(self, site: Site) -> None:
        super().__init__(site.place, DTYPE, site.place.rates(), brief=True)
        self.rounds, self.fewest = (QUICK_ROUNDS, QUICK_ROUNDS) if site.quick else (ROUNDS, FEWEST)

    def contenders(self, live: Live, end: float) -> Iterator[Contender | LeftOut]:
        """Yield all of them, whatever time it takes."""
        place = self.place
        given = live.A, live.x, live.y, place.target, place.clock
        yield prepared("auto", partial(ours.by_rule, *given))
        yield from ours.under(SCHEDULES, *given)
        if place.target == "cuda":
            yield from hardwired.contenders(live)
            yield from cusparse_peers(live, (CSR,))
        else:
            yield peer(SciPy, live)

    def refused(self, source: Source, why: str) -> Row:
        """Return the row of a matrix that cannot be multiplied."""
        return Row(
            self.name, self.versions, self.place.target, DTYPE, source.name, source.origin, 0, 0, 0, size_of(0),
            EVERYTHING, note=why,
        )  # fmt: skip


def rows_of(site: Site, source: Source) -> list[Row]:
    """Return the rows of all contenders on a matrix, those that choose a schedule among them."""
    found: list[Row] = site.once(("rows", source.name), lambda: _measured(site, source))
    return found


def _measured(site: Site, source: Source) -> list[Row]:
    sweep: Sweep = site.once("sweep", lambda: Sweep(site))
    try:
        rows = sweep.on(source, time.monotonic() + SECONDS)
    except InputError as error:
        return [sweep.refused(source, str(error))]
    except MemoryError:  # CuPy's, too
        return [sweep.refused(source, "not enough memory")]
    gc.collect()
    if site.on_gpu:
        site.xp.get_default_memory_pool().free_all_blocks()
    return [*rows, *choices((row for row in rows if row.rounds and not row.wrong), NAMES)]
