"""benchmarks/fit_auto.py: its vector and its tables, the derivatives, and that it finds numbers that it should find."""

from __future__ import annotations

import csv
import gzip
import importlib
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from evenly.choosing.model import Work, predicted
from evenly.choosing.reuse import Reuse
from evenly.choosing.statistics import Statistics
from evenly.choosing.task import Task
from evenly.choosing.walks import of_lengths
from evenly.gpus.numbers import numbers

from .test_results import BENCHMARKS


@pytest.fixture(autouse=True)
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)


def script(name: str) -> Any:
    return importlib.import_module(f"fit_{name}")


def work(mean: float, tiles: int, spread: float, near: float) -> Work:
    """Tiles whose lengths are drawn, with columns of which this share lies far from earlier ones."""
    lengths = np.random.default_rng(tiles).gamma(1 / spread, mean * spread, tiles).astype(np.int64)
    shape = float(lengths.std()), float((lengths == 0).mean())
    found = tiles, int(lengths.sum()), float(lengths.mean()), int(lengths.max()), *shape, 0.0
    return Work(Statistics(*found, of_lengths(lengths)), Task(), Reuse(near, near), tiles)


WORKS = [
    work(mean, tiles, spread, near)
    for mean, tiles in ((3, 200_000), (12, 30_000), (300, 20_000))
    for spread, near in ((0.05, 0.9), (2.0, 0.3))
]


def times(numbers: Any) -> list[Any]:
    """Cases whose times are those that the model predicts by these numbers."""
    cases = script("cases")
    found = []
    for at, one in enumerate(WORKS):
        us = {str(s): cost.total for s, cost in predicted(one, numbers).items()}
        case = cases.Case(str(at), ("spmv", "float32"), "drawn", "any", (0, 0), us, work=one)
        found.append(cases.remembering(case))
    return found


# ---- numbers ---------------------------------------------------------------------------------------
def test_the_text_is_that_of_the_data_file() -> None:
    assert script("numbers").as_text(numbers()) == script("numbers").committed()


def test_numbers_to_logarithms_to_text() -> None:
    fit = script("numbers")
    moved = fit.with_logs(numbers(), fit.logs(numbers()) + np.log(2))
    written = tomllib.loads(fit.as_text(moved))
    for at, row in fit.rows(written).items():
        for key, value in row.items():
            before = fit.rows(numbers())[at][key]
            expected = before if key in fit.GIVEN else pytest.approx(2 * before, rel=1e-3)
            assert value == expected, (at, key)


def test_plain_numbers_tell_no_shares_apart() -> None:
    costs = predicted(WORKS[0], script("numbers").plain(numbers()))
    shares = {c.total for s, c in costs.items() if "Split" in str(s) and "run=1" in str(s)}
    assert len(shares) == 1


# ---- derivatives -----------------------------------------------------------------------------------
def test_slopes_are_those_of_each_number_by_itself() -> None:
    fit, model = script("numbers"), script("model")
    case = times(numbers())[3]
    (near,) = model.near([case], numbers())
    vector, where = fit.logs(numbers()), fit.places(numbers())
    for at, place in enumerate(where):
        alone = vector + model.STEP * (np.arange(len(vector)) == at)
        there = model.predictions(case, fit.with_logs(numbers(), alone))
        expected = (np.log(list(there.values())) - near.at) / model.STEP
        slopes = np.where(near.index == at, near.slopes, 0.0).sum(1)
        np.testing.assert_allclose(slopes, expected, atol=1e-9, err_msg=str(place))


def test_gradient() -> None:
    fit, model = script("numbers"), script("model")
    found = model.near(times(numbers())[:3], numbers())
    rng = np.random.default_rng(0)
    for one in found:
        one.lost = rng.random(len(one.lost))
    size = len(fit.places(numbers()))
    linear = model.Linear(found, np.array([1.0, 2.0, 1.0]), size)
    here, way = rng.normal(0, 0.05, size), rng.normal(size=size)
    gradient = linear.loss(here, 0.05)[1]
    ahead, behind = (linear.loss(here + step * way, 0.05)[0] for step in (1e-6, -1e-6))
    assert gradient @ way == pytest.approx((ahead - behind) / 2e-6, rel=1e-4)


# ---- the fit ---------------------------------------------------------------------------------------
def lost(cases: list[Any], by: Any) -> float:
    """The greatest loss of a choice by these numbers, in logarithms."""
    chosen = script("auto").chosen
    return max(math.log(case.us[chosen(case, by)] / case.best) for case in cases)


def test_a_fit_finds_the_choices_of_other_numbers() -> None:
    fit, model, cases = script("numbers"), script("model"), script("cases")
    vector = fit.logs(numbers())
    rng = np.random.default_rng(1)
    truth = fit.with_logs(numbers(), vector + rng.normal(0, 0.4, len(vector)))
    measured = times(truth)[:4]
    with cases.pool(measured) as processes:
        made = model.Fit(measured, processes, lambda text: None)
        found = made.fitted(numbers(), list(range(len(measured))), 3)
    assert lost(measured, numbers()) > 0.05
    assert lost(measured, found) < lost(measured, numbers()) / 3


def test_each_family_is_judged_by_a_fit_without_it() -> None:
    measured = times(numbers())[:4]
    for case in measured[2:]:
        case.lengths = "other"
    fits: list[list[int]] = []

    class Recorded(script("model").Fit):  # type: ignore[misc]
        def fitted(self, start: Any, chosen: list[int], steps: int) -> Any:
            fits.append(chosen)
            return start

    found = Recorded(measured, None, lambda text: None)
    lines = list(script("auto").left_out(found, numbers(), 1))
    assert [line.split()[:3] for line in lines[1:]] == [
        ["drawn", "2", "1.000"],
        ["other", "2", "1.000"],
    ]
    assert fits == [[2, 3], [0, 1]]


def test_a_fit_stays_within_its_limits() -> None:
    fit, model = script("numbers"), script("model")
    start = numbers() | {"groups": numbers()["groups"] | {"empty": 0.9}}
    lower, upper = (fit.with_logs(start, logs) for logs in model.limits(start))
    assert upper["groups"]["empty"] == pytest.approx(0.95)
    assert lower["rates"]["overlap"] >= 1
    assert upper["rates"]["memory"] / lower["rates"]["memory"] < 1.5
    assert upper["groups"]["warp"] / lower["groups"]["warp"] > 10


# ---- cases -----------------------------------------------------------------------------------------
HEAD = "matrix,lengths,columns,rows,nnz,kernel,dtype,schedule,us"


def written(folder: Path, nnz: int, name: str = "times.csv") -> Path:
    """Write a file of times on a matrix in the same folder, which has 6 nonzeros."""
    scipy.io.mmwrite(folder / "small.mtx", scipy.sparse.coo_array(np.tri(3)))
    path = folder / name
    opened = gzip.open if name.endswith(".gz") else open
    about = ["small", "", "", 3, nnz]
    first = str(next(iter(predicted(WORKS[0], numbers()))))
    with opened(path, "wt", newline="") as file:
        write = csv.writer(file).writerow
        write(HEAD.split(","))
        write([*about, "spmv", "float32", first, 2.5])
        write([*about, "spmv", "float32", "cuSPARSE CSR", 4.5])
        write([*about, "spmv", "float32", "cuSPARSE COO", 3.5])
        write([*about, "row_argmax", "float32", first, 1.5])
    return path


@pytest.mark.parametrize("name", ["times.csv", "times.csv.gz"])
def test_cases_are_made_again(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, nnz=6, name=name)
    product, argmax = script("cases").prepared([str(path)], str(tmp_path), {})
    assert (product.best, product.peer) == (2.5, 3.5)
    assert (product.work.st.tiles, product.work.st.atoms, product.work.columns) == (3, 6, 3)
    assert (argmax.best, argmax.work.task.streams) == (1.5, True)
    assert math.isnan(argmax.peer)


def test_cases_without_their_matrix_are_named(tmp_path: Path, capsys: Any) -> None:
    path = written(tmp_path, nnz=6)
    assert script("cases").prepared([str(path)], None, {}) == []
    assert "no such file: small" in capsys.readouterr().out


def test_a_matrix_of_another_size_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, nnz=7)
    with pytest.raises(SystemExit, match=r"small: .*\(3, 7\) were measured, .*hint: --largest"):
        script("cases").prepared([str(path)], str(tmp_path), {})


def test_a_report() -> None:
    cases = times(numbers())
    for case in cases:
        case.peer = 2 * case.best
    text = script("auto").report(cases, numbers())
    for name in ("families, spmv float32", "drawn", "columns: any"):
        assert f"{name:36}     6  1.000   1.00     2.000   2.00" in text
