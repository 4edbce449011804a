"""Fits the model of costs that `auto` chooses by (tuning/model.py) to measured times.

    evenly bench spmv FOLDER --csv float32.csv
    evenly bench spmv FOLDER --csv float64.csv --dtype float64
    python benchmarks/fit_auto.py FOLDER float32.csv float64.csv

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
from evenly.tuning.model import predicted
from evenly.tuning.numbers import numbers
from evenly.tuning.statistics import Statistics, statistics

Times = dict[tuple[str, str], dict[str, float]]  # by matrix and type, by schedule: microseconds
START = {name: numbers()[name] for name in ("groups", "split")}
NEAR = 1.6  # times the fastest: what is slower need not be predicted well
WEIGHT = 0.06  # of an error in the prediction, beside what a wrong choice loses
STARTS = 14


def measured(paths: list[str]) -> Times:
    found: Times = defaultdict(dict)
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                if row["family"] == "ours" and row["clock"] == "kernels" and row["cache"] == "warm":
                    found[row["matrix"], row["dtype"]][row["contender"]] = float(row["us"])
    return found


def shapes(folder: str, names: set[str]) -> dict[str, Statistics]:
    return {
        source.name: statistics(ev.csr(source.make()))
        for source in sources(folder)
        if source.name in names
    }


def tables(logs: np.ndarray) -> dict[str, dict[str, float]]:
    """The tables, from the logarithms of all their numbers: all are positive."""
    values = iter(np.exp(logs))
    return {table: {key: float(next(values)) for key in START[table]} for table in START}


def losses(found: dict, times: Times, st: dict[str, Statistics]) -> tuple[list[float], list[float]]:
    """What each choice loses, and how far off the near predictions are, in logarithms."""
    lost, errors = [], []
    for (matrix, _), measured_here in times.items():
        least = min(measured_here.values())
        chances = predicted(st[matrix], {**numbers(), **found})
        chosen = str(min(chances, key=lambda schedule: chances[schedule]))
        lost.append(math.log(measured_here[chosen] / least))
        for schedule, guess in chances.items():
            t = measured_here.get(str(schedule))
            if t is not None and t < NEAR * least:
                errors.append(abs(math.log(guess / t)))
    return lost, errors


def main() -> None:
    folder, *paths = sys.argv[1:]
    times = measured(paths)
    st = shapes(folder, {matrix for matrix, _ in times})

    def loss(logs: np.ndarray) -> float:
        lost, errors = losses(tables(logs), times, st)
        return float(np.mean(lost) + WEIGHT * np.mean(errors))

    first = np.log([value for table in START.values() for value in table.values()])
    tries = [
        minimize(
            loss,
            first + np.random.default_rng(seed).normal(0, 0.25 * (seed > 0), len(first)),
            method="Nelder-Mead",
            options={"maxiter": 900, "maxfev": 900},
        )
        for seed in range(STARTS)
    ]
    found = tables(min(tries, key=lambda t: t.fun).x)
    for name, table in found.items():
        print(f"[{name}]")
        print("".join(f"{key} = {value:.4g}\n" for key, value in table.items()))
    lost, _ = losses(found, times, st)
    print(
        f"chosen over fastest: geomean {math.exp(np.mean(lost)):.3f}, worst {math.exp(max(lost)):.2f}"
    )


if __name__ == "__main__":
    main()
