"""The numbers as a vector and as a file, the derivatives, and that a fit finds numbers that it should find."""

from __future__ import annotations

import math
import os
import signal
import tomllib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenly.fitting.batch import STEP, Batch, near
from evenly.fitting.cases import Case
from evenly.fitting.fit import Fit, Linear, limits
from evenly.fitting.report import family_of, fold_of, judged, kernel_of, mean, table, unseen
from evenly.fitting.tasks import TASKS
from evenly.fitting.vector import GIVEN, as_text, logs, places, rows, with_logs
from evenly.fitting.workers import workers
from evenly.gpus.gpu import Gpu
from evenly.gpus.numbers import DEFAULT, measured, numbers, read, text_of

from .synthetic import times


def silent(text: str) -> None:
    """Say nothing."""


# ---- numbers ---------------------------------------------------------------------------------------
def test_the_text_is_that_of_the_data_file() -> None:
    assert as_text(numbers(), measured()) == text_of(DEFAULT)


def test_numbers_to_logarithms_to_text() -> None:
    gpu = Gpu(7, 1536, 16, 102_400, 'A "GPU"', 4_000_000, 300_001, 1_999)
    moved = with_logs(numbers(), logs(numbers()) + np.log(2))
    written = read(as_text(moved, gpu))
    assert written.gpu == gpu
    for at, row in rows(written.costs).items():
        for key, value in row.items():
            before = rows(numbers())[at][key]
            expected = before if key in GIVEN else pytest.approx(2 * before, rel=1e-3)
            assert value == expected, (at, key)


def test_the_file_of_a_gpu_keeps_the_comments() -> None:
    lines = as_text(numbers(), replace(measured(), l2=1)).splitlines()
    assert "l2 = 1  # bytes" in lines
    assert [x for x in lines if x[:1] == "#"] == [
        x for x in text_of(DEFAULT).splitlines() if x[:1] == "#"
    ]
    assert tomllib.loads("\n".join(lines))["gpu"]["l2"] == 1


# ---- derivatives -----------------------------------------------------------------------------------
def test_slopes_are_those_of_each_number_by_itself() -> None:
    case = times(numbers())[3]
    batch = Batch([case], numbers())
    found = near(batch, numbers())
    vector, where = logs(numbers()), places(numbers())
    before = case.predictions(numbers())
    for at, place in enumerate(where):
        alone = vector + STEP * (np.arange(len(vector)) == at)
        there = case.predictions(with_logs(numbers(), alone))
        slopes = np.where(found.index == at, found.slopes[0], 0.0).sum(1)
        for schedule, us in there.items():
            expected = math.log(us / before[schedule]) / STEP
            slope = slopes[batch.schedules.index(schedule)]
            assert slope == pytest.approx(expected, abs=1e-9), place


def test_all_cases_are_predicted_at_once_as_one_by_one() -> None:
    cases = times(numbers())
    cases[2].us.pop("MergePath(block=256, items=3, min_blocks=0, carveout=-1)")
    batch = Batch(cases, numbers())
    totals = batch.totals(numbers())
    for case, there, row in zip(cases, batch.there, totals, strict=True):
        known = {s: us for s, us, here in zip(batch.schedules, row, there, strict=True) if here}
        assert known == pytest.approx(case.predictions(numbers()), rel=1e-12)


def test_gradient() -> None:
    batch = Batch(times(numbers())[:3], numbers())
    rng = np.random.default_rng(0)
    size = len(places(numbers()))
    linear = Linear(batch, near(batch, numbers()), np.array([1.0, 2.0, 1.0]), size)
    linear.lost = np.where(batch.there, rng.random(batch.there.shape), 0.0)
    here, way = rng.normal(0, 0.05, size), rng.normal(size=size)
    gradient = linear.loss(here, 0.05)[1]
    ahead, behind = (linear.loss(here + step * way, 0.05)[0] for step in (1e-6, -1e-6))
    assert gradient @ way == pytest.approx((ahead - behind) / 2e-6, rel=1e-4)


# ---- the fit ---------------------------------------------------------------------------------------
def lost(cases: list[Case], by: Any) -> float:
    """The greatest loss of a choice by these numbers, in logarithms."""
    return max(-math.log(case.lost(by)) for case in cases)


def test_a_fit_finds_the_choices_of_other_numbers() -> None:
    vector = logs(numbers())
    rng = np.random.default_rng(2)
    truth = with_logs(numbers(), vector + rng.normal(0, 0.4, len(vector)))
    measured = times(truth)[:4]
    found = Fit(silent).fitted(numbers(), measured, 3)
    assert lost(measured, numbers()) > 0.05
    assert lost(measured, found) < lost(measured, numbers()) / 3


def test_a_fit_stays_within_its_limits() -> None:
    lower, upper = (with_logs(numbers(), found) for found in limits(numbers()))
    assert lower["rates"]["overlap"] >= 1
    assert upper["rates"]["memory"] / lower["rates"]["memory"] < 1.5
    assert upper["groups"]["warp"] / lower["groups"]["warp"] > 10


# ---- what it loses ---------------------------------------------------------------------------------
class Recorded(Fit):
    """Fits nothing, and keeps the cases that it was given."""

    def __init__(self) -> None:
        super().__init__(silent)
        self.given: list[list[Case]] = []

    def fitted(self, start: Any, cases: list[Case], steps: int) -> Any:
        self.given.append(cases)
        return start


def test_each_family_is_judged_by_a_fit_without_it() -> None:
    cases = times(numbers())[:4]
    for case in cases[2:]:
        case.lengths = "other"
    cases[3].lengths = ""  # of files
    fit = Recorded()
    assert list(dict(unseen(fit, numbers(), cases, family_of))) == ["drawn", "other", ""]
    assert fit.given == [cases[2:], [*cases[:2], cases[3]], cases[:3]]


def test_each_fourth_of_the_matrices_is_judged_by_a_fit_without_it() -> None:
    cases = times(numbers())
    cases.append(replace(cases[1], task=TASKS[1]))  # the same matrix
    fit = Recorded()
    assert list(dict(unseen(fit, numbers(), cases, fold_of(cases)))) == [0, 1, 2, 3]
    left = [[case for case in cases if case not in given] for given in fit.given]
    assert left == [[cases[0], cases[4]], [cases[1], cases[5], cases[6]], [cases[2]], [cases[3]]]


def test_each_kernel_is_judged_by_a_fit_without_it() -> None:
    cases = [replace(case, task=task) for case, task in zip(times(numbers()), TASKS, strict=False)]
    fit = Recorded()
    parts = [part for part, _ in unseen(fit, numbers(), cases[:3], kernel_of)]
    assert parts == ["kernel spmv", "kernel row_argmax"]
    assert fit.given == [cases[2:3], cases[:2]]
    found = judged(cases[:3], numbers(), numbers(), {"kernel row_argmax": numbers()})
    assert [math.isnan(one.kernels) for one in found] == [True, True, False]


def test_one_part_is_not_judged_without_itself() -> None:
    assert list(unseen(Recorded(), numbers(), times(numbers())[:2], family_of)) == []


def test_a_table_of_what_is_lost() -> None:
    cases = times(numbers())
    cases[5].lengths, cases[5].task = "", TASKS[2]
    found = judged(cases, numbers(), numbers(), {"drawn": numbers()})
    found[0] = replace(found[0], before=0.25, families=0.5)
    cells = {name: rest for name, *rest in table(found)}
    means = [f"{0.25 ** (1 / 5):.3f}", f"{0.5 ** (1 / 5):.3f}"]
    assert list(cells) == ["spmv float32, families", "row_argmax float32, files", "drawn", "all"]
    assert cells["drawn"] == ["5", means[0], "0.25", *ONE, *NONE, means[1], "0.50", *NONE]
    assert cells["row_argmax float32, files"] == ["1", *ONE, *ONE, *NONE, *NONE, *NONE]
    assert cells["all"][0] == "6"
    assert mean(found, "matrices") == 1.0
    assert mean(found[:1], "before") == pytest.approx(0.25)


ONE, NONE = ["1.000", "1.00"], ["-", "-"]


# ---- processes -------------------------------------------------------------------------------------
def test_workers_map_in_order_and_leave_ctrl_c_to_the_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    before = signal.getsignal(signal.SIGINT)
    with workers() as mapped:
        assert list(mapped(math.sqrt, [9.0, 4.0])) == [3.0, 2.0]
        assert list(mapped(signal.getsignal, [signal.SIGINT])) == [signal.SIG_IGN]
        assert signal.getsignal(signal.SIGINT) is before
