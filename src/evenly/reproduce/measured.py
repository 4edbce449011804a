"""Check and time contenders: on a GPU kernels in replayed graphs, on a CPU whole calls; in interleaved rounds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from evenly.bench.contender import Contender, LeftOut
from evenly.timing.rounds import WARM, Clock, Sample, measure

from .experiment import Site

ROUNDS, QUICK_ROUNDS, FEWEST = 7, 1, 3
SECONDS = 2.0  # for the rounds of one point; fewer rounds begin after that


class Measured(NamedTuple):
    """A contender, the times of its rounds and how many entries of its y are wrong. LeftOut has neither."""

    who: Contender | LeftOut
    sample: Sample = Sample(())
    wrong: int = 0


class WarmClock:
    """A clock of launches that follow one another; the caches are not emptied."""

    def __init__(self, clock: Clock) -> None:
        self.warm, self.estimate = clock.warm, clock.estimate

    def flushed(self) -> None:
        """Return None: not measured."""
        return


def measured(
    site: Site, contenders: Iterable[Contender | LeftOut], wanted: Any, relative: float
) -> Iterator[Measured]:
    """Check and time the contenders.

    wanted: (rows,), the product, of numbers that are not negative. relative: how far from it, relative to it, an entry
    may be.
    """
    clocks: dict[str, Clock] = {}
    taking: dict[str, tuple[Contender, int]] = {}
    for found in contenders:
        if isinstance(found, Contender):
            try:
                taking[found.name] = found, wrong(site, found, wanted, relative)
                clocks[found.name] = WarmClock(site.place.clock_of(found))
                continue
            except Exception as error:  # a library may refuse a matrix only when it is called
                found = LeftOut(found.name, f"{type(error).__name__}: {error}")
        yield Measured(found)
    rounds, fewest = (QUICK_ROUNDS, QUICK_ROUNDS) if site.quick else (ROUNDS, FEWEST)
    until = time.monotonic() + SECONDS
    samples = measure(clocks, deadline=until, rounds=rounds, fewest=fewest)
    for (name, cache), sample in samples.items():
        if cache == WARM:
            yield Measured(taking[name][0], sample, taking[name][1])


def wrong(site: Site, found: Contender, wanted: Any, relative: float) -> int:
    """Run a contender once; return how many entries of its y are wrong."""
    y = found.launch()
    result = site.xp.array(y)
    y.fill(float("nan"))  # so that the next one cannot pass with this one's
    return int(site.xp.count_nonzero(~(abs(result - wanted) <= relative * wanted)))
