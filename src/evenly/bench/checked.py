"""Those who take part in a comparison. Each is checked once, before any is timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from evenly.timing.rounds import Clock, Sample

from .contender import Contender, LeftOut
from .place import Bench


class Checked:
    """The contenders that ran, and those that could not.

    errors: runs a contender, and counts the entries of its result that are wrong. clocks: what to measure, by name.
    """

    def __init__(
        self,
        place: Bench,
        contenders: Iterable[Contender | LeftOut],
        errors: Callable[[Contender], int],
    ) -> None:
        self.clocks: dict[str, Clock] = {}
        self._taking: dict[str, tuple[Contender, int]] = {}
        self._left: list[LeftOut] = []
        for found in contenders:
            if isinstance(found, LeftOut):
                self._left.append(found)
                continue
            try:
                wrong = errors(found)
                self.clocks[found.name] = place.clock_of(found)
                self._taking[found.name] = found, wrong
            except Exception as error:  # a library may refuse its arguments only when it is called
                self._left.append(LeftOut.by(found.name, error))

    def timed(self, name: str, sample: Sample, floor_us: float) -> dict[str, Any]:
        """Return the columns of a row that say how long a contender took. They are the same in all files."""
        (who, wrong), us, times = self._taking[name], sample.median, sample.times
        return {
            "contender": name,
            "family": who.family,
            "detail": who.detail,
            "clock": who.clock,
            "us": us,
            "us_min": min(times),
            "us_max": max(times),
            "rounds": len(times),
            "floor_us": floor_us,
            "share": floor_us / us,
            "wrong": wrong,
        }

    def absent(self, floor_us: float) -> Iterator[dict[str, Any]]:
        """Yield the columns of those that were left out: they have no times, and a note why."""
        for who in self._left:
            note = " ".join(who.why.split())[:200]
            yield {"contender": who.name, "floor_us": floor_us, "note": note}
