"""The predictions of many cases at once, and how they change with each number: arrays of (cases, schedules)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenly.choosing.model import (
    LANES,
    About,
    Rates,
    about,
    groups_of,
    of_bins,
    of_groups,
    of_shares,
    walked_in_bins,
)
from evenly.choosing.rows import Tables

from .cases import Case
from .vector import RATES, Logs, Numbers, logs, owner, owners, places, with_logs

STEP = 1e-3  # of a logarithm, for derivatives


class Batch:
    """Cases, and what their predictions take that no number changes.

    schedules: the text of each. there: which are candidates of the model that were measured. us: what was measured, nan
    elsewhere.
    """

    def __init__(self, cases: Sequence[Case], numbers: Numbers) -> None:
        works, tables = [case.work for case in cases], Tables(numbers)
        self.about = About(
            *(np.array(column, float)[:, None] for column in zip(*map(about, works), strict=True))
        )
        self.groups, shares, bins = groups_of(LANES, runs=True), tables.shares(), tables.bins
        self.rounds = np.stack([self.groups.rounds(work.walks) for work in works])
        self.heaviest = np.stack([self.groups.heaviest(work.walks) for work in works])
        self.crowd = np.stack([shares.crowd(work.walks, work.st.tiles) for work in works])
        walked = [walked_in_bins(bins, work.walks, work.st.greatest) for work in works]
        self.walked = [np.stack(one) for one in zip(*walked, strict=True)]
        every = (*self.groups.schedules, *shares.schedules, *bins.schedules)
        self.schedules = tuple(map(str, every))
        able = [case.predictions(numbers) for case in cases]
        self.there = np.array([[name in some for name in self.schedules] for some in able])
        nan = float("nan")
        us = [[case.us.get(name, nan) for name in self.schedules] for case in cases]
        self.us = np.where(self.there, us, nan)
        self.best = np.array([case.best for case in cases])

    def totals(self, numbers: Numbers) -> Logs:
        """Return the predicted microseconds, (cases, schedules), also of what is not there."""
        tables = Tables(numbers)
        rates = Rates(self.about, tables)
        found = (
            of_groups(self.groups, rates, self.rounds, self.heaviest),
            of_shares(tables.shares(), rates, self.crowd),
            of_bins(tables.bins, rates, *self.walked),
        )
        return np.concatenate([costs.total for costs in found], axis=1)


@dataclass
class Near:
    """The logarithms of predictions, near some numbers.

    at: (cases, schedules). slopes: (cases, schedules, colours), each by the number `index` of the vector, (schedules,
    colours); an index that is the vector's length stands for none.
    """

    at: Logs
    slopes: Logs
    index: np.ndarray


def near(batch: Batch, numbers: Numbers) -> Near:
    """Predict near these numbers. One prediction, with all numbers of a colour moved, gives a slope of each."""
    vector, where = logs(numbers), places(numbers)
    colours = list(dict.fromkeys(place.colour for place in where))
    at = np.log(batch.totals(numbers))
    slopes = np.empty((*at.shape, len(colours)))
    for n, colour in enumerate(colours):
        moved = STEP * np.array([place.colour == colour for place in where])
        slopes[..., n] = (np.log(batch.totals(with_logs(numbers, vector + moved))) - at) / STEP
    own, numbered = owners(numbers), {place: n for n, place in enumerate(where)}
    of_rates = {place.colour: n for place, n in numbered.items() if place.row == RATES}
    of_rows = {(place.row, place.colour): n for place, n in numbered.items()}
    index = [
        [of_rates.get(c, of_rows.get((owner(s, own), c), len(where))) for c in colours]
        for s in batch.schedules
    ]
    return Near(at, slopes, np.array(index))
