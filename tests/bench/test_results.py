"""The files in benchmarks/results have all that the summary, the figures and the performance marks need."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from evenly.bench import plots, record, summary

from .conftest import row

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
RUNS = sorted((BENCHMARKS / "results").glob("spmv-*.csv"))


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reduced = script("reduce_results").reduced
OWN = "ThreadMapped(block=256, items=5)"
BLOCK = "BlockMapped(block=256, items=4, run=1)"
FULL = [
    made
    for i, cache in enumerate(("warm", "flushed"))
    for made in (
        row("m", "auto", "auto", 2.0, cache=cache, detail="ThreadMapped(block=128, items=3)"),
        row("m", "cuSPARSE CSR ALG1", "csr", 3.0 + i, cache=cache),
        row("m", OWN, "ours", 2.5, cache=cache),
        row("m", BLOCK, "ours", 4.5, cache=cache),
        row("m", "ThreadMapped(block=128, items=3)", "ours", 1.9 + i / 5, cache=cache),
        row("m", "ThreadMapped(block=128, items=5)", "ours", 2.0, cache=cache),
        row("m", f"hand: {OWN}", "hand", 2.0, cache=cache),
    )
]


def test_what_nothing_reads_is_left_out():
    kept = reduced(FULL)
    assert [(k.contender, k.cache) for k in kept if k.family == "ours"] == [
        (OWN, "warm"),
        (BLOCK, "warm"),
        ("ThreadMapped(block=128, items=3)", "warm"),
        (OWN, "flushed"),
        ("ThreadMapped(block=128, items=5)", "flushed"),
    ]
    assert [k.versions for k in kept] == ["1"] + [""] * (len(kept) - 1)


def test_the_summary_and_the_figures_are_those_of_the_full_run():
    pytest.importorskip("matplotlib")
    assert list(summary.lines(reduced(FULL))) == list(summary.lines(FULL))
    ours, theirs = (dict(plots.figures(rows)) for rows in (reduced(FULL), FULL))
    assert ours.keys() == theirs.keys()
    for name, figure in ours.items():
        for mine, other in zip(figure.axes, theirs[name].axes, strict=True):
            for a, b in zip(mine.collections, other.collections, strict=True):
                assert a.get_offsets().tolist() == b.get_offsets().tolist()


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_what_is_kept_is_what_something_reads(path):
    rows = record.read(str(path))
    assert reduced(rows) == rows


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_it_meets_the_marks(path):
    marks = script("marks")
    dtype, run = marks.read(str(path))
    missed = [m.what for m in marks.MARKS[dtype] if not m.least <= m.value(run) <= m.most]
    assert missed == []
