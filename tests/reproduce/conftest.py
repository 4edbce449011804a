"""Places to run at, and rows of a run on a GPU."""

from __future__ import annotations

import pytest

from evenly.bench.cpu import CpuBench
from evenly.reproduce.experiment import Row, Site
from tests.cli.conftest import evenly  # noqa: F401  (a fixture)


@pytest.fixture
def site():
    return Site(CpuBench(), quick=True)


def row(figure: int, case: str, x: float, curve: str, gflop_per_s: float, **others) -> Row:
    """Make a row of a run on a GPU. others: columns that differ from the defaults."""
    nonzeros = 1000 * int(x)
    us = 2 * nonzeros / gflop_per_s / 1e3
    usual = {
        "machine": "a GPU", "versions": "1", "target": "cuda", "figure": figure, "case": case, "x": x,
        "items": int(x), "stand_ins": 0, "rows": 100 * int(x), "nonzeros": nonzeros, "curve": curve,
        "contender": curve, "us": us, "us_min": us, "us_max": us, "rounds": 7, "gflop_per_s": gflop_per_s,
        "gb_per_s": 6 * gflop_per_s,
    }  # fmt: skip
    return Row(**(usual | others))
