"""What wrong choices cost, and which prediction misled, on times that differ from predictions in a known way."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import evenly as ev
from evenly.bench.record import FamilyRow, columns_of
from evenly.fitting import cases
from evenly.fitting.losses import NO_COSTS, causes, choices, worst
from evenly.gpus.numbers import measured, numbers

from .synthetic import times


def test_the_prediction_that_is_further_off_misled() -> None:
    (case, other, *_) = times(numbers())
    first, second, *_ = sorted(case.us, key=lambda name: case.us[name])
    case.us[first] *= 1.5  # the chosen one takes longer than was predicted
    *_, last = (name for name in other.us if other.us[name] < 1.4 * other.best)
    other.us[last] = 0.5 * other.best
    found = choices([case, other], numbers())
    assert (found[0].chosen, found[0].best) == (first, second)
    assert found[0].of_best == pytest.approx(case.us[second] / case.us[first])
    assert " longer than predicted: " in found[0].cause
    assert found[0].rank > 1
    assert (found[1].best, found[1].of_best) == (last, pytest.approx(0.5))
    assert " shorter than predicted: " in found[1].cause


def test_the_best_may_be_no_candidate() -> None:
    (case, *_) = times(numbers())
    case.us[str(ev.NonzeroSplit(256, 4))] = case.best / 2
    (found,) = choices([case], numbers())
    assert found.cause == f"{NO_COSTS} nonzero"
    case.us = {str(ev.NonzeroSplit(256, 4)): 1.0}
    assert choices([case], numbers()) == []  # nothing can be chosen


def test_tables_have_the_greatest_loss_first() -> None:
    some = times(numbers())
    for case, factor in zip(some, (1.0, 4.0, 1.2), strict=False):
        chosen = case.chosen(numbers())
        case.us[chosen] *= factor
    found = choices(some, numbers())
    lines = list(causes(found))
    assert lines[0][1] == "1" and lines[0][4] > lines[1][4]
    assert lines[-1][:2] == ("all 6 choices", "2")
    (bad, _) = worst(found, 2)
    assert bad[0].startswith("1 spmv float32") and float(bad[2]) == pytest.approx(
        found[1].of_best, abs=0.005
    )


def row(**given: Any) -> FamilyRow:
    about = "cuda", "float32", "3/equal/bands", "family", 10, 10, 90, "small", "any"
    made = {"clock": "kernels", "cache": "warm", "us": 4.0, "us_min": 3.5, "family": "ours"}
    said = made | {"lengths": "equal", "columns": "bands"} | given
    return FamilyRow(said.pop("machine", measured().name), "v", *about, **said)


def file_of(path: Path, *rows: FamilyRow) -> str:
    names = columns_of(FamilyRow)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *([getattr(one, n) for n in names] for one in rows)])
    return str(path)


def test_times_of_a_bench(tmp_path: Path) -> None:
    merge, split = str(ev.MergePath(256, 3)), str(ev.NonzeroSplit(128, 8))
    path = file_of(
        tmp_path / "families.csv",
        row(family="auto", detail=merge),
        row(detail=merge, us_min=3.0),
        row(detail=split, us_min=5.0),
        row(family="csr", detail="", us_min=1.0),
        row(clock="call", detail=split, us_min=1.0),
        row(detail=split, us=0.0, us_min=0.0),  # left out
    )
    (case,) = cases.of_bench(path, 1000)
    assert case.us == {merge: 3.0, split: 5.0}
    assert (case.size, case.largest, case.gpu) == ((10, 90), 1000, measured())
    path = file_of(tmp_path / "other.csv", row(machine="Another GPU", detail=merge))
    with pytest.raises(ev.InputError, match="expected times of a GPU that has a data file"):
        cases.of_bench(path, 1000)
