"""Fits the model of costs that `auto` chooses by (choosing/model.py) to measured times.

    python benchmarks/schedule_times.py --families 1,2 --largest 40000000 families.csv
    python benchmarks/schedule_times.py FOLDER files.csv
    python benchmarks/fit_auto.py families.csv files.csv --matrices FOLDER --largest 1:40000000 --largest 2:40000000

Makes the matrices again, takes what `auto` looks at of them, and fits all numbers of the data file from [rates] on,
from the committed ones on. Prints these tables, and what choosing by them loses: the time of the best schedule over the
time of the chosen one, in the geometric mean and at worst, and cuSPARSE's best time over that of the chosen one.

--largest SEED:NNZ: what schedule_times.py was given for that seed. --start: only shows what the committed numbers lose.
--plain: fits from medians of the committed numbers, which tell no schedule from its like. --leave-out: for each family
of lengths, fits so without it, and shows what is lost on it. --steps N: of each fit. A step predicts every case about
25 times: some 10 seconds of one core for 330 cases.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable

import numpy as np
from fit_cases import Case, pool, prepared
from fit_model import Fit, predictions
from fit_numbers import Numbers, as_text, plain

from evenly.gpus.numbers import numbers

STEPS = 40
HEAD = f"{'':36}{'cases':>6}{'mean':>7}{'worst':>7}{'cuSPARSE':>10}{'worst':>7}   the worst"


def chosen(case: Case, by: Numbers) -> str:
    """Return the schedule of the least predicted time among those that were measured."""
    found = predictions(case, by)
    return min(found, key=lambda schedule: found[schedule])


def line(name: str, cases: list[Case], by: Numbers) -> str:
    """Return what choosing loses on some cases."""
    took = [case.us[chosen(case, by)] for case in cases]
    lost = np.log([case.best / us for case, us in zip(cases, took, strict=True)])
    peers = np.log([case.peer / us for case, us in zip(cases, took, strict=True)])
    peers = peers[~np.isnan(peers)]
    ahead = (math.exp(peers.mean()), math.exp(peers.min())) if len(peers) else (math.nan,) * 2
    worst = cases[int(lost.argmin())]
    numbers = (
        f"{math.exp(lost.mean()):7.3f}{math.exp(lost.min()):7.2f}{ahead[0]:10.3f}{ahead[1]:7.2f}"
    )
    return f"{name:36}{len(cases):6}{numbers}   {worst.matrix} {' '.join(worst.task)}"


def report(cases: list[Case], by: Numbers) -> str:
    """Return what choosing loses, by kernel, by family of lengths and by family of columns."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        kind = "families" if case.lengths else "files, generated"
        names = [f"{kind}, {' '.join(case.task)}"]
        names += [case.lengths, f"columns: {case.columns}"] if case.lengths else []
        for name in names:
            groups.setdefault(name, []).append(case)
    order = sorted(groups, key=lambda name: (", " not in name, ": " in name, name))
    return "\n".join([HEAD, *(line(name, groups[name], by) for name in order)])


def left_out(fit: Fit, start: Numbers, steps: int) -> Iterable[str]:
    """Yield what is lost on each family of lengths by numbers that were fitted without it, and on all."""
    yield HEAD
    for name in dict.fromkeys(case.lengths for case in fit.cases if case.lengths):
        others = [at for at, case in enumerate(fit.cases) if case.lengths != name]
        found = fit.fitted(start, others, steps)
        yield line(name, [case for case in fit.cases if case.lengths == name], found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", nargs="+", help="files of schedule_times.py")
    parser.add_argument("--matrices", metavar="FOLDER", help="where the files of matrices are")
    parser.add_argument("--largest", action="append", default=[], metavar="SEED:NNZ")
    parser.add_argument("--start", action="store_true", help="only judge the committed numbers")
    parser.add_argument("--plain", action="store_true", help="start from medians")
    parser.add_argument("--leave-out", action="store_true", help="judge each family unseen")
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args()
    largest = dict(map(int, word.split(":")) for word in given.largest)
    cases = prepared(given.times, given.matrices, largest)
    if given.start:
        print(report(cases, numbers()))
        return
    with pool(cases) as processes:
        fit = Fit(cases, processes, lambda text: print(text, flush=True))
        if given.leave_out:
            print(*left_out(fit, plain(numbers()), given.steps), sep="\n", flush=True)
            return
        first = plain(numbers()) if given.plain else numbers()
        found = fit.fitted(first, list(range(len(cases))), given.steps)
    print(as_text(found), report(cases, found), sep="\n")


if __name__ == "__main__":
    main()
