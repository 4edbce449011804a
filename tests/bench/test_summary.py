"""Ratios and geometric means, by hand."""

from __future__ import annotations

import math

import pytest

from evenly.bench import summary

from .conftest import row

ROWS = [
    row("small", "auto", "auto", 2.0),
    row("small", "cuSPARSE CSR ALG1", "csr", 8.0),
    row("small", "cuSPARSE CSR ALG2", "csr", 4.0),
    row("small", "cuSPARSE COO ALG1", "coo", 1.0),
    row("small", "ThreadMapped(block=256, items=5)", "ours", 1.5),
    row("small", "hand: ThreadMapped(block=256, items=5)", "hand", 1.0),
    row("large", "auto", "auto", 10.0, nnz=2_000_000),
    row("large", "cuSPARSE CSR ALG1", "csr", 80.0, nnz=2_000_000),
    row("large", "cuSPARSE CSR ALG2", "csr", 5.0, nnz=2_000_000, wrong=3),
    row("large", "auto", "auto", 12.0, nnz=2_000_000, cache="flushed"),
    row("large", "cuSPARSE CSR ALG1", "csr", 0.0, nnz=2_000_000, rounds=0, note="refused"),
    row("alone", "auto", "auto", 1.0),
]


def test_geomean():
    assert summary.geomean([2.0, 8.0]) == pytest.approx(4.0)
    assert math.isnan(summary.geomean([]))


def test_the_best_of_each_side_without_wrong_and_missing_ones():
    csr, both = summary.COMPARISONS[:2]
    found = {r.ours.matrix: r.value for r in summary.ratios(ROWS, csr)}
    assert found == {"small": 2.0, "large": 8.0}
    assert {r.ours.matrix: r.value for r in summary.ratios(ROWS, both)} == {
        "small": 0.5,
        "large": 8.0,
    }
    assert summary.ratios(ROWS, csr, "flushed") == []


def test_against_the_oracle():
    rows = [*ROWS, row("large", "MergePath(block=256, items=3)", "ours", 11.0, nnz=2_000_000)]
    found = {r.ours.matrix: r.value for r in summary.ratios(rows, summary.TRIED)}
    assert found == {"small": 0.75, "large": 1.0}  # "alone" has auto alone


def test_overheads_are_generated_over_hand_written():
    (comparison,) = summary.overheads(ROWS)
    (ratio,) = summary.ratios(ROWS, comparison)
    assert (ratio.ours.matrix, ratio.value) == ("small", 1.5)
    assert ratio.spread == pytest.approx(0.25)


def test_losses_are_beyond_the_spread():
    rows = [
        made
        for matrix, us in (("clear", 2.0), ("within", 1.2), ("worst", 4.0), ("win", 0.5))
        for made in (row(matrix, "auto", "auto", us), row(matrix, "cuSPARSE CSR ALG1", "csr", 1.0))
    ]
    found = summary.losses(rows)
    assert [ratio.ours.matrix for ratio in found] == ["worst", "clear"]
    text = list(summary.lines(rows))
    assert text[-3] == "auto is slower than the best of the others, beyond the spread, on 2:"
    assert text[-2].split()[:4] == ["0.25", "(spread", "25%)", "worst"]


def test_shares_of_the_floor_are_those_of_large_matrices():
    rows = [
        row("a", "auto", "auto", 2.0, share=0.9),
        row("b", "auto", "auto", 2.0, nnz=2_000_000, share=0.8),
    ]
    assert list(summary.lines(rows))[-1] == "Share of the floor, 1 M and more: b 80%"


def test_rivals_are_libraries_where_there_are_no_kernels():
    rows = [row("m", "auto", "auto", 4.0), row("m", "SciPy", "library", 1.0)]
    assert [ratio.theirs.contender for ratio in summary.losses(rows)] == ["SciPy"]


def test_lines():
    text = "\n".join(summary.lines(ROWS))
    csr = next(line for line in text.splitlines() if line.endswith("2.00 small (spread 25%)"))
    assert csr.split()[-12:-4] == ["4.00", "(2)", "2.00", "(1)", "-", "-", "8.00", "(1)"]
    assert "Generated matrices" not in text
    assert "1.50 small (spread 25%)" in text  # of an overhead the worst is the largest
