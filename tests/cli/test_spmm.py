"""`evenly spmm FILE`."""

from __future__ import annotations

from typing import Any

import pytest


def test_it_multiplies_and_checks(evenly: Any, small: Any) -> None:
    ran = evenly("spmm", small, "--columns", "5", "--validate")
    assert ran.status == 0
    assert "Columns: 5\nErrors: 0\n" in ran.out
    assert ran.err.startswith("evenly: auto chose ")
    assert "(block=" not in ran.err  # it says why, and not again what


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_types(evenly: Any, small: Any, dtype: str) -> None:
    ran = evenly("spmm", small, "--dtype", dtype, "--columns", "3", "--validate", "--layout", "ell")
    assert ran.status == 0
    assert "Errors: 0" in ran.out


def test_every_schedule_and_a_table_of_times(evenly: Any, small: Any, tmp_path: Any) -> None:
    csv = tmp_path / "times.csv"
    ran = evenly("spmm", small, "--schedule", "all", "--columns", "2", "--validate", "--csv", csv)
    assert ran.status == 0
    assert ran.out.count("\n") == len(csv.read_text().splitlines()) + 4  # dimensions and errors


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--columns 0", "--columns: expected 1 or more, got 0"),
        ("--layout coo", "--layout: expected one of"),
    ],
)
def test_mistakes(evenly: Any, small: Any, options: str, said: str) -> None:
    ran = evenly("spmm", small, *options.split())
    assert ran.status == 2
    assert said in ran.err
