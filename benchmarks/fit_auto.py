"""Fits the model of costs that `auto` chooses by (choosing/model.py) to measured times.

    python benchmarks/schedule_times.py FOLDER times.csv
    python benchmarks/fit_auto.py FOLDER times.csv
    python benchmarks/fit_auto.py FOLDER times.csv --streaming
    python benchmarks/fit_auto.py FOLDER times.csv --runs [--streaming]

Prints the tables [groups], [runs], [split] and [bins] for the data file of the architecture, or those in [streaming],
and what choosing by them costs beside the fastest schedule that was tried. --runs: of runs alone, on the large regular
matrices that they are for, whose few choices count little among all others.
"""

from __future__ import annotations

import csv
import math
import sys
from collections import defaultdict

import numpy as np
from fit_matrices import matrices
from scipy.optimize import minimize

import evenly as ev
from evenly.choosing.model import bound_by_bytes, predicted
from evenly.choosing.statistics import Statistics, statistics
from evenly.choosing.task import SPMV, Task
from evenly.gpus.numbers import numbers

Times = dict[
    tuple[str, str], dict[str, float]
]  # by matrix and type or kernel, by schedule: microseconds
Tables = dict[str, dict[str, float]]
SPMVS = ("groups", "runs", "split", "bins")
STREAMS = ("groups", "runs", "split", "bins", "heavier")
TASKS = {
    "float64": Task(width=8),
    "row_argmax": Task(streams=True, value_bytes=16),
    "weighted": Task(streams=True),
}
NEAR = 1.6  # times the fastest: what is slower need not be predicted well
WEIGHT = 0.1  # of an error in the prediction, beside what a wrong choice loses
STARTS = 8


def measured(path: str, streams: bool) -> Times:
    found: Times = defaultdict(dict)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            ours = not row["schedule"].startswith("cuSPARSE")
            if ours and streams != (row["kernel"] == "spmv"):
                kernel = row["kernel"] if streams else row["dtype"]
                found[row["matrix"], kernel][row["schedule"]] = float(row["us"])
    return found


def shapes(folder: str, names: set[str]) -> dict[str, Statistics]:
    return {m.name: statistics(ev.csr(m.make())) for m in matrices(folder) if m.name in names}


class Model:
    """The tables that are fitted, and all of the others. streams: those of kernels that gather nothing.

    runs: what they say of runs, and no more.
    """

    def __init__(self, streams: bool, runs: bool) -> None:
        self.streams = streams
        held = numbers()["streaming"] if streams else numbers()
        self.held: Tables = {name: held[name] for name in (STREAMS if streams else SPMVS)}
        self.start = self.held
        if runs:
            heavier = {
                k: v for k, v in self.held.get("heavier", {}).items() if k.startswith("runs_")
            }
            self.start = {"runs": self.held["runs"]} | ({"heavier": heavier} if heavier else {})

    def tables(self, logs: np.ndarray) -> Tables:
        """From the logarithms of all their numbers: all are positive."""
        values = iter(np.exp(logs))
        return {
            table: {key: float(next(values)) for key in self.start[table]} for table in self.start
        }

    def predicted(self, found: Tables, st: Statistics, kernel: str) -> dict[str, float]:
        new = {name: {**table, **found.get(name, {})} for name, table in self.held.items()}
        held = {"streaming": {**numbers()["streaming"], **new}} if self.streams else new
        task = TASKS.get(kernel, SPMV)
        chances = predicted(st, {**numbers(), **held}, task)
        return {str(schedule): us for schedule, us in chances.items()}

    def losses(
        self, found: Tables, times: Times, st: dict[str, Statistics]
    ) -> tuple[list[float], list[float]]:
        """What each choice loses, and how far off the near predictions are, in logarithms."""
        lost, errors = [], []
        for (matrix, kernel), here in times.items():
            least = min(here.values())
            chances = self.predicted(found, st[matrix], kernel)
            chosen = min((s for s in chances if s in here), key=lambda s: chances[s])
            lost.append(math.log(here[chosen] / least))
            for schedule, guess in chances.items():
                if here.get(schedule, math.inf) < NEAR * least:
                    errors.append(abs(math.log(guess / here[schedule])))
        return lost, errors


def main() -> None:
    streams, runs = ("--streaming" in sys.argv), ("--runs" in sys.argv)
    folder, path = [word for word in sys.argv[1:] if not word.startswith("--")]
    model, times = Model(streams, runs), measured(path, streams)
    st = shapes(folder, {matrix for matrix, _ in times})
    if runs:
        times = {
            case: here for case, here in times.items() if bound_by_bytes(st[case[0]], numbers())
        }

    def loss(logs: np.ndarray) -> float:
        lost, errors = model.losses(model.tables(logs), times, st)
        return float(np.mean(lost) + WEIGHT * np.mean(errors))

    first = np.log([value for table in model.start.values() for value in table.values()])
    tries = [
        minimize(
            loss,
            first + np.random.default_rng(seed).normal(0, 0.25 * (seed > 0), len(first)),
            method="Nelder-Mead",
            options={"maxiter": 1500, "maxfev": 1500},
        )
        for seed in range(STARTS)
    ]
    found = model.tables(min(tries, key=lambda t: t.fun).x)
    for name, table in found.items():
        print(f"[streaming.{name}]" if model.streams else f"[{name}]")
        print("".join(f"{key} = {value:.4g}\n" for key, value in table.items()))
    lost, _ = model.losses(found, times, st)
    print(
        f"chosen over fastest: geomean {math.exp(np.mean(lost)):.3f}, worst {math.exp(max(lost)):.2f}"
    )


if __name__ == "__main__":
    main()
