"""What is said of the paper's conclusions, and how tables and figures show rows."""

from __future__ import annotations

import dataclasses

import pytest

from evenly.reproduce import curves, tables
from evenly.reproduce.experiment import Site
from evenly.reproduce.flexible_batched import EXPERIMENT

from .conftest import row


class Gpu:
    target = "cuda"


FULL = Site(Gpu())
FIGURES = {figure.number: figure for figure in EXPERIMENT.figures}
DENSE = "a few dense rows"


def verdicts(rows, site=FULL):
    return {c.published: (c.holds, c.here) for c in EXPERIMENT.conclusions(site, rows)}


def test_loops():
    rows = [row(3, "G2", 10, "loop", 3.0), row(3, "G2", 1000, "loop", 4.0)]
    rows += [row(3, "G2", 1000, "ELL", 101.0), row(3, "G2", 1000, "auto", 900.0)]
    found = verdicts(rows)
    assert found["loops of library calls reach at most 5 GFLOP/s"] == (
        True,
        "at most 4.0 GFLOP/s (G2, 1,000 matrices)",
    )
    assert found["batched kernels are up to 25 times as fast as loops"] == (
        True,
        "up to 25.2 times (ELL, G2, 1,000 matrices)",
    )
    assert found["ELL reaches 80 GFLOP/s"] == (True, "up to 101.0 GFLOP/s (G2, 1,000 matrices)")
    rows.append(row(3, "G45", 1, "loop", 6.0))
    assert verdicts(rows)["loops of library calls reach at most 5 GFLOP/s"] == (
        False,
        "at most 6.0 GFLOP/s (G45, 1 matrix)",
    )


def test_csr_i_among_the_six():
    rows = [row(4, DENSE, x, "CSR-I", 9.0) for x in (2, 4, 8)]
    rows += [row(4, DENSE, 8, "COO", 10.0), row(4, DENSE, 2, "auto", 99.0)]
    name = "CSR-I is ahead where a few rows are dense"
    assert verdicts(rows)[name] == (
        True,
        "the fastest of the six at 2 of 3 mean row lengths; at the others COO",
    )
    rows += [row(4, DENSE, 4, "ELL", 10.0)]
    assert verdicts(rows)[name][0] is False


def test_coo_on_mixes():
    rows = [row(6, "mix of the 12", 10, "COO", 54.0), row(5, "G2", 10, "COO", 100.0)]
    name = "COO is above 55 GFLOP/s on mixes"
    assert verdicts(rows)[name] == (False, "up to 54.0 GFLOP/s (mix of the 12, 10 matrices)")


def test_what_a_run_cannot_tell(site):
    assert set(verdicts([]).values()) == {(None, "not measured")}
    rows = [row(3, "G2", 10, "ELL", 99.0)]
    for other in site, dataclasses.replace(FULL, quick=True):
        holds, here = verdicts(rows, other)["ELL reaches 80 GFLOP/s"]
        assert holds is None and here.startswith("up to 99.0")
    wrong = [dataclasses.replace(rows[0], wrong=1)]
    assert verdicts(wrong)["ELL reaches 80 GFLOP/s"] == (None, "not measured")


ROWS = [
    row(6, "mix of the 12", 10, "COO", 12.34),
    row(6, "mix of the 12", 10, "diagonal", 5.0, contender="cuSPARSE CSR ALG1"),
    row(6, "mix of the 12", 10, "diagonal", 7.5, contender="cuSPARSE COO ALG2"),
    row(6, "mix of the 12", 100, "COO", 1.0, wrong=3),
    row(6, "mix of the 12", 100, "ELL", 1.0, rounds=0, note="too large"),
]


def test_tables_have_the_best_of_a_curve_and_no_wrong_result():
    lines = list(tables.table(EXPERIMENT, FIGURES[6], ROWS))
    assert [line for line in lines if line.startswith("Figure")] == [
        "Figure 6, GFLOP/s: random mixes of the twelve matrices of order 800 to 1,024",
        "Figure 6, GB/s: random mixes of the twelve matrices of order 800 to 1,024",
    ]
    heads, ten, hundred = (line.split()[-4:] for line in lines[2:5])
    assert heads == ["batch", "COO", "ELL", "diagonal"]  # no column for what was not tried
    assert ten == ["10", "12.3", "-", "7.50"]
    assert hundred == ["100", "-", "-", "-"]
    assert "  left out: ELL, mix of the 12 (100): too large" in lines
    assert "  WRONG: COO, mix of the 12, 100: 3 entries of y" in lines


def test_figures_have_a_curve_a_contender():
    pytest.importorskip("matplotlib")
    found = {FIGURES[6]: ROWS, FIGURES[3]: [row(3, f"m{i}", 10, "COO", 1.0) for i in range(3)]}
    drawn = dict(curves.drawn(EXPERIMENT, found))
    assert list(drawn) == ["figure-6-gflop", "figure-6-gb", "figure-3"]
    lines = {
        line.get_label(): line.get_xydata().tolist()
        for line in drawn["figure-6-gflop"].axes[0].lines
    }
    assert lines["COO"] == [[10, 12.34]] and lines["diagonal"] == [[10, 7.5]] and "ELL" not in lines
    shown = [ax for ax in drawn["figure-3"].axes if ax.get_visible()]
    assert [ax.get_title(loc="left") for ax in shown] == ["m0", "m1", "m2"]
