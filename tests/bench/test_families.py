"""Matrices drawn by families: which take part, what their rows say, and the summary by families."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest

import evenly as ev
from evenly.bench import by_family, plots, record, summary
from evenly.bench.families import of_families
from evenly.bench.record import FamilyRow, Recorder, Row

from .conftest import row
from .test_results import script


def drawn(
    name: str, auto: float, others: float, best: float, stream: int = 0, **more: Any
) -> list[Row]:
    """The rows of one matrix; its name is LENGTHS/COLUMNS."""
    lengths, columns = name.split("/")
    families = {"lengths": lengths, "columns": columns, "stream": stream, "origin": "family"}
    given = families | {"nnz": 200_000} | more
    made = (
        row(name, "auto", "auto", auto, detail="ThreadMapped()", **given),
        row(name, "cuSPARSE COO ALG1", "coo", others, **given),
        row(name, "cuSPARSE CSR ALG1", "csr", others * 2, **given),
        row(name, "MergePath()", "ours", best, **given),
    )
    return list(made)


ROWS = [
    *drawn("pareto/near", 2.0, 4.0, 2.0, 1),
    *drawn("pareto/uniform", 2.0, 1.0, 1.6),
    *drawn("equal/near", 1.0, 4.0, 1.0, 1, nnz=1000),
    *drawn("equal/uniform", 1.0, 9.0, 1.0),
]


def test_only_names_matrices_or_families() -> None:
    found = of_families(2, 10_000)
    assert len(found) == 60
    assert {source.origin for source in found} == {"family"}
    one = of_families(2, 10_000, [found[5].name])
    assert [source.name for source in one] == [found[5].name]
    several = of_families(2, 10_000, ["pareto", "near"])
    assert {(s.lengths == "pareto") or (s.columns == "near") for s in several} == {True}
    assert 9 < len(several) < 20
    with pytest.raises(ev.InputError, match=r"--only: expected one of .*got 'paretto'; .*'pareto'"):
        of_families(2, 10_000, ["near", "paretto"])


def test_rows_there_and_back(tmp_path: Any) -> None:
    path = str(tmp_path / "run.csv")
    Recorder(path, FamilyRow).add(ROWS)
    assert record.read(path) == ROWS
    assert (
        (tmp_path / "run.csv")
        .read_text()
        .partition("\n")[0]
        .endswith("note,lengths,columns,stream")
    )


def table(rows: list[Row]) -> dict[str, list[str]]:
    """The words of each line of the summary behind its name."""
    names = (
        "all",
        "over 100 k nonzeros",
        "over 100 k, streams",
        "over 100 k, others",
        "pareto",
        "equal",
        "near",
        "uniform",
    )
    return {
        name: line.strip().removeprefix(name).split()
        for line in by_family.lines(rows)
        for name in names
        if line.strip().startswith(name + "  ")
    }


def test_by_family() -> None:
    found = table(ROWS)
    # the mean of 2, 0.5, 4 and 9 and their least; the mean of 1, 0.8, 1 and 1 and their least
    assert found["all"][:6] == ["2.45", "(4)", "0.50", "0.95", "(4)", "0.80"]
    assert found["over 100 k nonzeros"][:3] == ["2.08", "(3)", "0.50"]
    assert found["over 100 k, streams"][:3] == ["2.00", "(1)", "2.00"]
    assert found["over 100 k, others"][:3] == ["2.12", "(2)", "0.50"]
    worst = "pareto/uniform: ThreadMapped() 2.0 us, cuSPARSE COO ALG1 1.0 us"
    assert " ".join(found["pareto"]) == f"1.00 (2) 0.50 0.89 (2) 0.80 {worst}"
    assert list(found)[-4:] == ["pareto", "equal", "uniform", "near"]  # the worst case first
    assert "of cuSPARSE's CSR and COO (others)" in "\n".join(by_family.lines(ROWS))


def test_marks_are_of_the_same_parts(tmp_path: Any) -> None:
    path = str(tmp_path / "run.csv")
    Recorder(path, FamilyRow).add(ROWS)
    marks = script("marks")
    kind, run = marks.read(path)
    values = [mark.value(run) for mark in marks.MARKS[kind]]
    assert values == pytest.approx([36 ** (1 / 4), 2.0, 4.5**0.5, 0.5, 0.8 ** (1 / 4), 0.8])
    assert math.isnan(marks.MARKS[kind][3].value({}))


def test_a_reduced_run_says_the_same(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slower = row("pareto/near", "MergePath(2)", "ours", 9.0, **FAMILIES, nnz=200_000)
    full, out = str(tmp_path / "full.csv"), str(tmp_path / "out.csv")
    Recorder(full, FamilyRow).add([*ROWS, slower])
    monkeypatch.setattr(sys, "argv", ["reduce_results.py", full, out])
    assert script("reduce_results").main() == 0
    kept = record.read(out)
    assert len(kept) == len(ROWS)
    assert list(by_family.lines(kept)) == list(by_family.lines(record.read(full)))


def test_without_kernels_of_others() -> None:
    rows = [r for r in ROWS if r.family in ("auto", "ours")]
    assert table(rows)["all"][:4] == ["-", "0.95", "(4)", "0.80"]
    rows += [row("pareto/near", "SciPy", "library", 8.0, **FAMILIES)]
    assert table(rows)["all"][:3] == ["4.00", "(1)", "4.00"]
    assert "of the libraries (others)" in "\n".join(by_family.lines(rows))


FAMILIES = {"lengths": "pareto", "columns": "near", "stream": 1, "origin": "family"}


def test_nothing_was_drawn_by_families() -> None:
    assert list(by_family.lines([row("m", "auto", "auto", 1.0)])) == []
    title = "Matrices drawn by families: times as fast, geometric mean (of so many)"
    assert title in list(summary.lines(ROWS))


def test_figures_have_them() -> None:
    pytest.importorskip("matplotlib")
    figure = dict(plots.figures(ROWS))["speedup"]
    assert [len(points.get_offsets()) for points in figure.axes[0].collections] == [4]


def test_from_a_seed_to_a_summary(evenly: Any, tmp_path: Any) -> None:
    csv = tmp_path / "run.csv"
    line = ("bench", "spmv", "--families", "--seed", 3, "--largest", 3000, "--target", "cpu")
    ran = evenly(*line, "--only", "bimodal", "--only", "sorted", "--csv", csv)
    assert (ran.status, ran.err) == (0, "")
    rows = record.read(str(csv))
    assert {r.lengths for r in rows if isinstance(r, FamilyRow)} == {"bimodal", "sorted"}
    assert len({row.matrix for row in rows}) == 10
    assert {row.matrix.split("/")[0] for row in rows} == {"3"}
    assert all(0 < row.nnz < 4500 for row in rows)
    assert "By row lengths, the worst case first" in ran.out
    again = evenly("bench", "replot", csv, tmp_path / "figures")
    assert [x for x in ran.lines if "bimodal  " in x] == [
        x for x in again.lines if "bimodal  " in x
    ]


def test_schedules_are_left_out_when_there_is_no_time(
    evenly: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    from evenly.cli import corpus

    monkeypatch.setattr(corpus, "deadline", lambda end, left: 0.0)
    csv = tmp_path / "run.csv"
    line = (
        "bench",
        "spmv",
        "--families",
        "--largest",
        3000,
        "--only",
        "0/equal/near",
        "--target",
        "cpu",
    )
    ran = evenly(*line, "--csv", csv, "--seconds", 100)
    assert ran.status == 0
    rows = record.read(str(csv))
    assert {r.family for r in rows if r.rounds} == {"auto", "one call", "library"}
    assert {r.note for r in rows if r.contender.startswith("GroupMapped")} == {"out of time"}


ERRORS = {
    "--seed 3": "--seed: expected --families beside it, got 3",
    "--largest 3000": "--largest: expected --families beside it, got 3000",
    "--families --seed -1": "--seed: expected 0 to 4294967295, got -1",
    "--families --largest 10": "--largest: expected 1000 to 1000000000, got 10",
    "examples --families": "FOLDER: expected none beside --families, got examples",
}


@pytest.mark.parametrize("line", ERRORS)
def test_errors(evenly: Any, line: str) -> None:
    ran = evenly("bench", "spmv", *line.split())
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"evenly: {ERRORS[line]}\n"
