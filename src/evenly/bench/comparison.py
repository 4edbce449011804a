"""Make, check and time all contenders on one matrix."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

from evenly.interop.transfer import to_numpy
from evenly.timing.rounds import FEWEST, ROUNDS, measure

from . import ours
from .case import Case, case_of
from .checked import Checked
from .contender import Contender, LeftOut
from .floors import floor, moved
from .matrices import Source
from .place import Bench, Live, Rates
from .record import FamilyRow, Row, size_of


class Comparison:
    """A comparison at one place (with its measured rates), in one dtype.

    brief: leaves out a flushed cache, kernels by hand, and schedules that cannot be the fastest on a matrix.
    """

    rounds, fewest = ROUNDS, FEWEST

    def __init__(self, place: Bench, dtype: str, rates: Rates, brief: bool = False) -> None:
        self.place, self.dtype, self.rates, self.brief = place, dtype, rates, brief
        self.name, self.versions = place.machine()

    def described(self) -> str:
        """Describe the machine and its measured rates."""
        gather = self.rates.gather
        l2 = f", gathers from L2 {gather / 1e9:,.0f} GB/s" if gather else ""
        return (
            f"{self.name}: copies {self.rates.copy / 1e9:,.0f} GB/s{l2}; "
            f"{self.dtype}; {self.versions}"
        )

    def on(self, source: Source, deadline: float | None) -> list[Row]:
        """Run all contenders on one matrix. Returns a row for each and each state of the cache.

        deadline: of time.monotonic(), by which it should be done; half of the time until then may go into preparing.
        """
        now = time.monotonic()
        end = math.inf if deadline is None or not self.brief else (now + deadline) / 2
        case = case_of(source, self.dtype)
        least = floor(case.matrix, self.rates)
        reference = case.reference()
        live = self.place.load(case)
        taking = Checked(
            self.place,
            self.contenders(live, end),
            lambda who: reference.errors(self.result(live, who)),
        )
        samples = measure(
            taking.clocks,
            lambda turn: self.place.rewrite(live, turn),
            deadline,
            self.fewest,
            rounds=self.rounds,
            flushed=not self.brief,
        )
        each = moved(case.matrix) / 1e3
        rows = [
            self.made(
                case,
                **taking.timed(name, sample, least),
                cache=cache,
                gb_per_s=each / sample.median,
            )
            for (name, cache), sample in samples.items()
        ]
        return rows + [self.made(case, **columns) for columns in taking.absent(least)]

    def contenders(self, live: Live, end: float) -> Iterator[Contender | LeftOut]:
        """Yield the other libraries first, since there may be no time for all schedules."""
        place = self.place
        yield from place.peers(live, by_hand=not self.brief)
        arrays = live.A, live.x, live.y
        yield from ours.contenders(*arrays, place.target, place.clock, self.brief, end)

    def result(self, live: Live, found: Contender) -> Any:
        """Compute y for the last set, in CPU memory. The contender was made while the arrays held another set."""
        self.place.rewrite(live, -1)
        live.y.fill(float("nan"))
        return to_numpy(found.launch())

    def made(self, case: Case, **others: Any) -> Row:
        """Make a row of a matrix. others: the columns in which its rows differ."""
        source = case.source
        columns = {
            "machine": self.name,
            "versions": self.versions,
            "target": self.place.target,
            "dtype": self.dtype,
            "matrix": source.name,
            "origin": source.origin,
            "rows": case.matrix.shape[0],
            "cols": case.matrix.shape[1],
            "nnz": case.nnz,
            "size": size_of(case.nnz),
        }
        if not source.lengths:
            return Row(**columns, **others)
        columns |= {"lengths": source.lengths, "columns": source.columns}
        return FamilyRow(**columns, **others, stream=int(source.stream))
