"""Fits the model of costs that `auto` chooses by (tuning/model.py) to measured times.

    evenly bench spmv FOLDER --csv results.csv
    python benchmarks/fit_auto.py results.csv FOLDER

Prints the tables [groups] and [split] for the data file of the architecture, and what choosing
by them costs beside the fastest schedule that was tried.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict

import numpy as np
from scipy.optimize import minimize

import evenly as ev
from evenly.bench.matrices import sources
from evenly.tuning.model import LANES, group_time, owned, predicted, split, split_time
from evenly.tuning.numbers import numbers
from evenly.tuning.statistics import Statistics, statistics

Times = dict[str, dict[str, float]]  # by matrix and schedule, microseconds


def measured(path: str) -> Times:
    found: Times = defaultdict(dict)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["family"] == "ours" and row["clock"] == "kernels" and row["cache"] == "warm":
                found[row["matrix"]][row["contender"]] = float(row["us"])
    return found


def shapes(folder: str, names: Times) -> dict[str, Statistics]:
    return {
        source.name: statistics(ev.csr(source.make()))
        for source in sources(folder)
        if source.name in names
    }


def fitted(loss, start: dict[str, float]) -> dict[str, float]:
    """The numbers, all positive, that make the loss least; from several starts."""

    def named(logs):
        return dict(zip(start, np.exp(logs), strict=True))

    first = np.log(list(start.values()))
    tries = [
        minimize(
            lambda logs: loss(named(logs)),
            first + np.random.default_rng(seed).normal(0, 0.3 * (seed > 0), len(first)),
            method="Nelder-Mead",
            options={"maxiter": 8000, "maxfev": 8000},
        )
        for seed in range(5)
    ]
    return named(min(tries, key=lambda t: t.fun).x)


def main() -> None:
    times = measured(sys.argv[1])
    st = shapes(sys.argv[2], times)

    def groups_loss(n):
        """Of the logarithms; what nobody would choose counts little."""
        losses = []
        for m in st:
            least = min(times[m].values())
            for lanes in LANES:
                t = times[m].get(str(owned(lanes)))
                if t is not None:
                    weight = 1.0 if t < 4 * least else 0.15
                    losses.append(weight * abs(math.log(group_time(st[m], lanes, n) / t)))
        return np.mean(losses)

    def split_loss(n):
        pairs = [(st[m], times[m].get(str(split(st[m], numbers())))) for m in st]
        return np.mean([abs(math.log(split_time(s, n) / t)) for s, t in pairs if t])

    tables = {
        "groups": fitted(groups_loss, dict(numbers()["groups"])),
        "split": fitted(split_loss, dict(numbers()["split"])),
    }
    for name, table in tables.items():
        print(f"[{name}]")
        print("".join(f"{key} = {value:.4g}\n" for key, value in table.items()))
    lost = []
    for m in st:
        chances = predicted(st[m], {**numbers(), **tables}, whole_tiles=False)
        chosen = str(min(chances, key=lambda schedule: chances[schedule]))
        lost.append(math.log(times[m][chosen] / min(times[m].values())))
    print(
        f"chosen over fastest: geomean {math.exp(np.mean(lost)):.3f}, worst {math.exp(max(lost)):.2f}"
    )


if __name__ == "__main__":
    main()
